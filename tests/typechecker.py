"""What the import hook of conftest.py wraps around every function of attnlib."""

from beartype import BeartypeConf, beartype
from beartype.roar import BeartypeDecorHintPepUnsupportedException

configured = beartype(conf=BeartypeConf(is_pep484_tower=True))  # as in Python, an int will do for a float
UNCHECKED: set[str] = set()  # functions that run without checks


def check(function):
    """Check the arguments and the result of a function against its annotations, at every call."""
    try:
        return configured(function)
    except BeartypeDecorHintPepUnsupportedException:  # Splits[str]: beartype knows no generic NamedTuple
        UNCHECKED.add(function.__qualname__)
        return function
