"""Bugs of one line in attnlib/course/checks/dress.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/dress.py", "course/test_checks_asking.py",
    ("a class of one's own is taken",
     "    if type(x) is Tensor:\n        return x\n",
     "    if isinstance(x, Tensor):\n        return x\n"),
    ("a parameter loses its gradient", "return x.view_as(x)", "return x.data"),
    ("a truth value is a whole number",
     "if kind is float and type(x) is int:", "if kind is float and isinstance(x, int):"),
    ("a tensor with an axis is a number", "np.ndarray) and x.shape == ()) or",
     "np.ndarray) and np.prod(x.shape) == 1) or"),
    ("words of NumPy are no words", "        x = str(x)\n", "        x = None\n"),
    ("lists of several lengths", "and len({part.shape for part in parts}) == 1:", "and len(parts) > 0:"),
    ("an empty list is a tensor",
     "    if type(x) in (list, tuple) and x:",
     "    if x == [] or type(x) in (list, tuple) and x:"),
    ("a tuple is a list", "    if type(x) is not type(like):\n        return None\n", ""),
)
