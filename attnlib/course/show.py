"""The tested source of the package, shown inside a chapter."""

import ast
import inspect
import re
import textwrap
from typing import NamedTuple

from attnlib.extras import extra

with extra("course"):
    from IPython.display import Code


def source(obj: type | object, docstring: bool = False) -> Code:
    """The source of a class or function, as the tests run it.

    Args:
        obj: a class, function or method.
        docstring: keep its docstrings; a chapter has said it in prose already.

    Raises:
        ValueError: obj has no Python source.
    """
    try:
        text = textwrap.dedent(inspect.getsource(obj))
    except (TypeError, OSError) as error:
        raise ValueError(f"{obj!r} has no Python source to show") from error
    return Code(text if docstring else without_docstrings(text), language="python")


class AboutScore(NamedTuple):
    """What the tables of the book say of a score."""

    formula: str  # of one pair
    sentence: str  # what is special about it
    source: str | None  # key of the bibliography and place; None where nobody is named


def score(kind: type) -> AboutScore:
    """What a class of `attnlib.scores` says of itself.

    Raises:
        ValueError: its docstring does not begin with "name, `formula`: sentence".

    Example:
        >>> score(SCORES["dot"]).formula, score(SCORES["dot"]).source
        ('e = q · k', 'luong2015effective, section 3.1 (dot).')
    """
    text = inspect.getdoc(kind) or ""
    first = re.match(r"[^`]+, `(.+?)`: (.+)", text)
    if first is None:
        raise ValueError(
            f"the docstring of {kind.__name__} must begin with 'name, `formula`: sentence', got {text[:80]!r}"
        )
    source = re.search(r"^Source: (.+)", text, re.M)
    return AboutScore(*first.groups(), source and source[1])


def without_docstrings(text: str) -> str:
    """Python source without its docstrings; comments and layout stay."""
    lines = text.rstrip("\n").split("\n")  # not splitlines, which also breaks at a form feed
    gone: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            continue
        if ast.get_docstring(node, clean=False) is None:
            continue
        first = node.body[0]
        before = lines[first.lineno - 1].encode()[: first.col_offset].decode()
        after = lines[first.end_lineno - 1].encode()[first.end_col_offset :].decode()
        if len(node.body) == 1 or before.strip() or after.lstrip().startswith(";"):
            # alone in its body, or on a line with code: something must stay in its place
            lines[first.lineno - 1] = before + "..." + after
            gone.update(range(first.lineno + 1, first.end_lineno + 1))
        else:
            gone.update(range(first.lineno, first.end_lineno + 1))
            following = first.end_lineno  # the blank line after a docstring goes with it
            if following < len(lines) and not lines[following].strip():
                gone.add(following + 1)
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in gone) + "\n"
