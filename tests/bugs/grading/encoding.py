"""Bugs of one line in attnlib/grading/encoding.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/encoding.py", "grading/test_crossing.py",
    ("a boolean of any byte", "x = (raw != 0 if dtype is torch.bool else raw.view(dtype))", "x = raw.view(dtype)"),
    ("an assertion of the box passes for one", "OURS = (AssertionError, ", "OURS = ("),
    ("a thing is true", "        if self._peer.outside:  # else", "        if False:  # else"),
    (
        "strides are lost",
        "            x = torch.empty_strided(stored, strides, dtype=dtype).copy_(x)",
        "            pass",
    ),
    ("one tensor given twice is two", "if id(x) not in self.seen:", "if True:"),
)
