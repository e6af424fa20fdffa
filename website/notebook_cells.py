"""The cells of a page as a notebook shows them: whose they are, and what of them a front end can show by itself."""

import re
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from attnlib.figures.page import VIEW
from scripts.to_myst import GATE
from website.plain_markdown import PlainMarkdown

#: Where a cell of prose may be cut.
CUT = re.compile(r"^(?=:::\{exercise\}|## )", re.M)
#: What nbval should know; all other tags are for pages and decks.
KEPT_TAGS = {"nbval-ignore-output"}
#: What a front end shows instead of an image that it could show too, and should not: there is no kernel yet.
DROPPED_FORMS = (VIEW, "text/latex")
#: Metadata of a cell whose code is hidden until somebody asks for it, in JupyterLab and in Colab.
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}


# --- what is the chapter's, what an exercise, what a solution ---------------------------------------


@dataclass(frozen=True)
class Piece:
    """A cell of a page, or a part of one.

    Attributes:
        cell: With MyST in it.
        kind: `chapter`, `exercise` (its text, its hints, the lines to complete) or `solution`.
    """

    cell: NotebookNode
    kind: str


def pieces(notebook: NotebookNode) -> list[Piece]:
    """The cells of a page in order, cut where a solution begins or ends.

    An exercise lasts until the next heading. In the bug museum all that follows a repair needs it: it belongs there.
    """
    found, kind, solved = [], "chapter", False
    for cell in notebook.cells:
        if cell.cell_type == "code":
            solved = solved or "repair" in cell.metadata.get("tags", [])
            found.append(Piece(cell, kind))
            continue
        parts = 0
        texts = GATE.split(cell.source)  # a text, whose solution begins (None: one ends), its options, a text, …
        for n in range(0, len(texts), 3):
            if n:
                kind = "solution" if texts[n - 2] or solved else "exercise"
            for part in filter(str.strip, CUT.split(texts[n])):
                if kind != "solution" and CUT.match(part):
                    kind = "chapter" if part.startswith("#") else "exercise"
                found.append(Piece(NotebookNode({**cell, "id": f"{cell.id}-{parts}", "source": part}), kind))
                parts += 1
    return found


# --- a cell as people see it ------------------------------------------------------------------------


def prose(cell: NotebookNode, plain: PlainMarkdown) -> list[NotebookNode]:
    """A cell of Markdown without MyST; none where nothing is left."""
    text = plain.text(cell.source)
    return [new_markdown_cell(text, id=cell.id)] if text else []


def code(
    cell: NotebookNode, plain: PlainMarkdown, page: str, outputs: bool = True, folded: bool | None = None
) -> list[NotebookNode]:
    """A cell of code with the outputs of the book, and its caption below it.

    Args:
        cell: Of the page.
        plain: For the caption.
        page: Its address.
        outputs: Whether the notebook has them.
        folded: Whether its code is hidden until somebody asks for it; as on the page, if not given.
    """
    tags = set(cell.metadata.get("tags", []))
    metadata: dict = {"tags": sorted(tags & KEPT_TAGS)} if tags & KEPT_TAGS else {}
    # Not `outputs_hidden` for "hide-output": JupyterLab would go on hiding what a student has just run to see.
    if "hide-input" in tags if folded is None else folded:
        metadata |= FOLDED
    options = cell.metadata.get("mystnb", {})
    made = new_code_cell(
        cell.source,
        id=cell.id,
        metadata=metadata,
        outputs=[without_front_end(o, options.get("image", {}).get("alt")) for o in cell.outputs if outputs],
        execution_count=cell.execution_count if outputs else None,
    )
    below = []
    if "caption" in options.get("figure", {}):
        below.append(f"**Figure.** {plain.text(options['figure']['caption'])}")
    if any(VIEW in output.get("data", {}) for output in cell.outputs):
        below.append(
            "A still picture, until you run this cell and those above it; "
            f"on [the page]({page}) the figure is live without running anything."
        )
    return [made, *([new_markdown_cell(" ".join(below), id=f"{cell.id}-caption")] if below else [])]


def without_front_end(output: NotebookNode, alt: str | None) -> NotebookNode:
    """An output that shows itself wherever it is opened: a live figure as its picture, with its alt text."""
    if "data" not in output:
        return output
    data = {form: value for form, value in output.data.items() if form not in DROPPED_FORMS}
    metadata = {"image/png": {"alt": " ".join(alt.split())}} if alt and "image/png" in data else {}
    return NotebookNode({**output, "data": data, "metadata": metadata})
