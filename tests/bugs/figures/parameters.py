"""Bugs of one line in attnlib/figures/parameters.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "figures/parameters.py", "figures/test_parameters.py",
    ("whole numbers only below the largest", "low <= number <= high", "low <= number < high"),
    ("fraction of a whole number cut off", "number.is_integer() and", "number == number and"),
)
