"""What is missing is named with the extra that brings it."""

import pytest

from attnlib.extras import extra


def test_a_package_that_is_missing_is_named_with_its_extra():
    sentence = r"^no_such is not installed: the extra attnlib\[data\] brings it$"
    with pytest.raises(ModuleNotFoundError, match=sentence), extra("data"):
        import no_such.module  # noqa: F401


def test_what_no_extra_brings_is_left_as_it_is():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'attnlib\.no_such'$"), extra("data"):
        import attnlib.no_such  # noqa: F401
    with pytest.raises(ZeroDivisionError), extra("data"):
        1 / 0  # noqa: B018
