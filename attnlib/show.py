"""The tested source of the package, shown inside a chapter."""

import ast
import inspect
import textwrap

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


def without_docstrings(text: str) -> str:
    """Python source without its docstrings; comments and layout stay."""
    lines = text.splitlines()
    gone: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            continue
        first = node.body[0]
        if ast.get_docstring(node, clean=False) is not None:
            # a body that is only a docstring would leave nothing behind
            if len(node.body) == 1:
                lines[first.lineno - 1] = " " * first.col_offset + "..."
                gone.update(range(first.lineno + 1, first.end_lineno + 1))
            else:
                gone.update(range(first.lineno, first.end_lineno + 1))
                following = first.end_lineno  # the blank line after a docstring goes with it
                if following < len(lines) and not lines[following].strip():
                    gone.add(following + 1)
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in gone) + "\n"
