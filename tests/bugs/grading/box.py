"""Bugs of one line in attnlib/grading/box.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/box.py", "grading/test_sandbox.py::test_any_checkout_and_a_python_around_it",
    ("repository shown with a Python around it", 'for path in ["/usr", *seen]):', 'for path in ["/usr"]):'),
)
