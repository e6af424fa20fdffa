"""What a chapter shows besides figures: the tested source of the package, and tables."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np

from attnlib.extras import extra

with extra("course"):
    from IPython.display import Code, Markdown
    from numpy.typing import ArrayLike


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


def span(values: ArrayLike, digits: int = 2) -> str:
    """A number as a table shows it; of several, the lowest and the highest.

    Args:
        values: one number or more, of any shape.
        digits: after the decimal point.

    Example:
        >>> span(-1), span([0.961, 0.97]), span([0.501, 0.502])
        ('−1.00', '0.96–0.97', '0.50')
    """
    of = np.asarray(values, dtype=float)
    low, high = (f"{value:z,.{digits}f}".replace("-", "−") for value in (of.min(), of.max()))
    return low if low == high else f"{low}–{high}"


def table(head: Sequence[str], rows: Iterable[Sequence[str | int | ArrayLike]], text: int = 1) -> Markdown:
    """A table: text on the left, numbers on the right.

    Args:
        head: the names of the columns.
        rows: of cells: text is Markdown, whole numbers get commas, all else is written by `span`.
        text: how many columns, from the left, hold text.

    Raises:
        ValueError: a row has fewer or more cells than the head.

    Example:
        >>> print(table(["decoder", "weights", "right"], [["Luong", 1200, [0.5, 0.75]]]).data)
        | decoder | weights | right |
        |---|--:|--:|
        | Luong | 1,200 | 0.50–0.75 |
    """
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * text + "--:|" * (len(head) - text)]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"a row of {len(row)} cells under a head of {len(head)}: {list(row)}, {list(head)}")
        cells = [one if isinstance(one, str) else f"{one:,}" if isinstance(one, Integral) else span(one) for one in row]
        lines.append(f"| {' | '.join(cells)} |")
    return Markdown("\n".join(lines))
