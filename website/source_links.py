"""Sphinx extension: every function and class of the reference has a link to its source in the repository.

Links are made by `sphinx.ext.linkcode`, which asks where something is defined.
"""

import importlib
import inspect
from functools import reduce
from pathlib import Path

from attnlib.course.book import ROOT, repository

SOURCES = "{url}/blob/{branch}".format_map(repository())


def address(domain: str, info: dict[str, str]) -> str | None:
    """Where `info["fullname"]` of `info["module"]` stands in the repository; None for what is no class or function."""
    if domain != "py" or not info["module"]:
        return None
    try:
        thing = inspect.unwrap(reduce(getattr, info["fullname"].split("."), importlib.import_module(info["module"])))
        lines, first = inspect.getsourcelines(thing)
    except (AttributeError, TypeError, OSError):  # a field, a number or a table, what is made at run time
        return None
    file = Path(inspect.getsourcefile(thing))
    if not file.is_relative_to(ROOT / "attnlib"):  # inherited from a library
        return None
    return f"{SOURCES}/{file.relative_to(ROOT).as_posix()}#L{first}-L{first + len(lines) - 1}"


def setup(app) -> dict[str, bool]:
    app.config.linkcode_resolve = address
    return {"parallel_read_safe": True, "parallel_write_safe": True}
