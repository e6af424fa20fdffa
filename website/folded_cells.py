"""Sphinx extension: what a reader need not see at first is folded, and the bar that opens it says what it holds.

- A cell of claims folds into one sentence each, with what was measured; code, bound and verdict open below.
- The bar above folded code says what the code does: which figure or table it makes, or what it defines.
- What a check says of a function that is not written yet is left out: a reader cannot write it in the page.
"""

import ast
import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from attnlib.course.checks.verdict import UNWRITTEN
from attnlib.course.claims import HOLDS
from attnlib.figures.page import VIEW

#: myst-nb has one name for all bars, which hides from a screen reader what they say.
SAME_NAME = ' aria-label="Toggle hidden content"'


class FoldedCells(SphinxPostTransform):
    """Names the bars; folds claims; leaves out what a check says before there is an answer."""

    default_priority = 150  # before myst-nb makes the bars, after it has chosen the outputs
    formats = ("html",)

    def run(self, **kwargs) -> None:
        cells = [n for n in self.document.findall(nodes.container) if n.get("nb_element") == "cell_code"]
        for cell in cells:
            code = part(cell, "cell_code_source")
            output = part(cell, "cell_code_output")
            said = output.astext() if output else ""
            if said.startswith(UNWRITTEN):
                cell.remove(output)
            if code is None:
                continue
            if claims := [line for line in said.splitlines() if line.startswith(HOLDS)]:
                cell["hide_mode"] = "all"
                cell["classes"].append("claims")
                cell["prompt_show"] = cell["prompt_hide"] = "\n".join(claims)
            elif cell.get("hide_mode") and "Show code cell" in cell["prompt_show"]:
                figure = next(iter(cell.findall(nodes.figure)), None)
                words = f"Draw {self.number(figure)}" if figure else content(code.astext(), output, cell["hide_mode"])
                cell["prompt_show"] = cell["prompt_hide"] = words

    def number(self, figure: nodes.figure) -> str:
        """A figure as the page calls it."""
        numbers = self.env.toc_fignumbers.get(self.env.docname, {}).get("figure", {})
        found = [numbers[name] for name in figure["ids"] if name in numbers]
        return f"Fig. {'.'.join(map(str, found[0]))}" if found else "the figure"


def part(cell: nodes.container, name: str) -> nodes.Element | None:
    """The code of a cell, or its outputs."""
    return next((child for child in cell.children if child.get("nb_element") == name), None)


def content(code: str, output: nodes.Element | None, mode: str) -> str:
    """What a folded cell does, in a few words.

    Example:
        >>> content("def f(x): return x", None, "input")
        'Code: define f'
    """
    if mode == "output":
        return "What it says"
    words = list(deeds(ast.parse(code)))
    if output is not None and list(output.findall(nodes.table)):
        words = ["make this table"]
    if output is not None and any(VIEW in raw.astext() for raw in output.findall(nodes.raw)):
        words = ["make this live figure"]
    if not words:
        words.append("make what stands below" if output is not None else "prepare what follows")
    return f"Code: {', '.join(dict.fromkeys(words))}"


def deeds(tree: ast.Module) -> Iterator[str]:
    """What the statements of a cell do that a reader may want to find again."""
    for statement in tree.body:
        text = ast.unparse(statement)
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield f"define {statement.name}"
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield "set up"
        elif re.search(r"\b(compare|fit|train\w*|learn)\(", text):
            yield "train"
        elif isinstance(statement, ast.Assert) or text.startswith("assert_close"):
            yield "check"


def name_by_content(app, pagename, templatename, context, doctree) -> None:
    """Let a screen reader say what a bar says."""
    if "body" in context:
        context["body"] = context["body"].replace(SAME_NAME, "")


def setup(app) -> dict[str, bool]:
    app.add_post_transform(FoldedCells)
    app.connect("html-page-context", name_by_content)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
