"""The optional parts of the package: what is missing is said in one sentence, with the extra that brings it."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def extra(name: str) -> Iterator[None]:
    """Import here what an extra brings, one of `data`, `figures`, `course` and `grading` in `pyproject.toml`.

    Raises:
        ModuleNotFoundError: naming the package that is missing, and the extra.

    Example:
        >>> with extra("figures"):
        ...     import no_such_package
        Traceback (most recent call last):
        ModuleNotFoundError: no_such_package is not installed: the extra attnlib[figures] brings it
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "attnlib").split(".")[0]
        if package == "attnlib":  # ours, and no package that pip could bring
            raise
        raise ModuleNotFoundError(
            f"{package} is not installed: the extra attnlib[{name}] brings it", name=error.name
        ) from None
