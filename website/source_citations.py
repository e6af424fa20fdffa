"""Sphinx extension: the papers that docstrings name as their `Source:` become links to the bibliography."""

import re

KEY = re.compile(r"\b[a-z]+(?:19|20)\d\d[a-z]+\b")


def cite(app, what, name, obj, options, lines: list[str]) -> None:
    """Rewrite the keys in the paragraph that begins with `Source:`, if there is one."""
    inside = False
    for n, line in enumerate(lines):
        inside = line.startswith("Source:") or (inside and bool(line.strip()))
        if inside:
            lines[n] = KEY.sub(lambda key: f":cite:t:`{key[0]}`", line)


def setup(app) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", cite)
    return {"parallel_read_safe": True}
