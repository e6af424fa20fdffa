"""How much room the cells of a slide need, and which slides are one because each would be mostly empty alone.

A browser knows the heights exactly, and deck.js mends what is a little too large; here they are estimated, because how
many slides a deck has is known before one is drawn. tests/browser/test_slides.py measures what comes of it.
"""

import ast
import re
from math import ceil

from attnlib.figures.page import VIEW

#: In pixels: what a slide has below its heading, between its cells, and between text and picture.
WIDTH, HEIGHT, GAP, GUTTER = 1192, 620, 16, 32
#: Text, and a line of code as small as it may become.
LETTER, LINE, CODE_LETTER, CODE_LINE = 14.4, 39, 10.82, 30
#: A heading, and a line of a formula.
HEADING, FORMULA = 62, 54
#: The letters of a picture have 11 points; on a slide they are no smaller than this many pixels.
SMALLEST_IN_PICTURE = 16
#: A picture beside text is no larger (deck.css); text beside a picture no narrower.
WIDEST_PICTURE, TALLEST_PICTURE, NARROWEST_TEXT = 740, 600, 420
#: A slide that is filled to less than this is joined with its neighbour, where both have room.
ENOUGH = 0.6
#: The heading with which a cell begins, and its labels.
TITLE = re.compile(r"(\s|\([\w-]+\)=)*(#.*)?")


# --- what a cell is ---------------------------------------------------------------------------------


def shows_figure(cell) -> bool:
    return any(VIEW in output.get("data", {}) for output in cell.get("outputs", []))


def picture_of(cell) -> tuple[float, float] | None:
    """The size of the picture that a cell has drawn, in points."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if VIEW in data or "hide-output" in cell.metadata.get("tags", []):
            continue
        if "image/svg+xml" in data:
            width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', data["image/svg+xml"]).groups()
            return float(width), float(height)
        if "image/png" in data:
            return 400, 300  # about: an image of pixels has no letters that say how large it must be
    return None


def builds_table(cell) -> bool:
    """Whether all that the code of a cell makes is a table: nobody learns from it on a slide.

    Example:
        >>> from nbformat.v4 import new_code_cell
        >>> builds_table(new_code_cell('run.table("right", 0)')), builds_table(new_code_cell("e = q @ k"))
        (True, False)
    """
    if cell.cell_type != "code":
        return False
    *_, last = ast.parse(cell.source).body or [None]
    return isinstance(last, ast.Expr) and bool(re.search(r"\.table\(|^Markdown\(|^display\(", ast.unparse(last)))


# --- how much room it needs -------------------------------------------------------------------------


def words_only(text: str) -> str:
    """Markdown as about as many letters as are seen."""
    text = re.sub(r"\{(cite[:\w]*)\}`[^`]*`", "[Somebody et al. 2015]", text)
    text = re.sub(r"\{\w+\}`([^`<]*)(<[^`]*>)?`", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\$([^$]+)\$", lambda formula: "x" * symbols(formula[1]), text).replace("**", "")


def symbols(formula: str) -> int:
    """How many symbols of normal size stand beside one another in TeX."""
    formula = re.sub(
        r"\\(mathrm|operatorname|text|textcolor\{\w+\}|color\{\w+\}|left|right|,|;|quad|!)|[{}&^_\s]", "", formula
    )
    return len(re.sub(r"\\[a-zA-Z]+", "x", formula))


def block_height(block: str, width: float) -> float:
    """Of a paragraph, a list, a formula or a table."""
    if block.startswith(("$$", "\\begin", "```{math}")):
        return FORMULA * (1 + block.count(r"\\")) + 30 * len(re.findall(r"\\(?:frac|sum|prod)", block)[:2])
    if block.startswith("|"):
        return 41 * (block.count("\n") + 1)
    lines = re.split(r"\n(?=(?:[-*]|\d+\.) )", block)
    return sum(ceil(len(words_only(" ".join(line.split()))) * LETTER / width) * LINE for line in lines) + 8 * len(lines)


def prose_height(source: str, width: float) -> float:
    """Of a cell of Markdown without its heading."""
    text = re.sub(r"^(\([\w-]+\)=|#{1,6} .*)\s*", "", source.strip(), flags=re.M)
    text = re.sub(r"^(:::|```).*\n(:\w[\w-]*:.*\n)*|^(:::|```)$", "\n", text, flags=re.M)
    text = re.sub(r"(?<!\n)\n(?=\$\$)|(?<=\$\$)\n(?=[^\n]*\n\$\$)", "\n", text)
    blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
    return sum(block_height(block.strip(), width) + GAP for block in blocks)


def output_height(output, width: float) -> float:
    data = output.get("data", {})
    said = output.get("text") or ("" if {"text/html", "text/markdown"} & data.keys() else data.get("text/plain", ""))
    table = data.get("text/markdown", "").count("\n") + 1 if "text/markdown" in data else 0
    rows = table or data.get("text/html", "").count("<tr")
    said += re.sub(r"<[^>]*>", "", data.get("text/html", "")) if "<pre" in data.get("text/html", "") else ""
    lines = sum(ceil((len(line) or 1) * CODE_LETTER / width) for line in said.splitlines())
    return lines * CODE_LINE + 41 * rows + (24 + GAP if lines or rows else 0)


def height(cells: list, width: float = WIDTH) -> float:
    """Of all that is not a picture; infinite where a line of code or a formula is too long."""
    total = 0.0
    for cell in cells:
        if cell.cell_type == "markdown":
            formulas = re.findall(r"\$\$(.*?)\$\$", cell.source, re.S)
            if any(symbols(row) * 19 > width for formula in formulas for row in formula.split(r"\\")):
                return float("inf")
            if any(row.count("|") > 5 and width < WIDTH for row in cell.source.splitlines() if row.startswith("|")):
                return float("inf")
            total += prose_height(cell.source, width)
            continue
        tags = cell.metadata.get("tags", [])
        if not ("hide-input" in tags or shows_figure(cell) or builds_table(cell)):
            lines = cell.source.splitlines()
            if max(map(len, lines), default=0) * CODE_LETTER + 24 > width:
                return float("inf")
            total += len(lines) * CODE_LINE + 24 + GAP
        if "hide-output" not in tags and not picture_of(cell) and not shows_figure(cell):
            if any("|" in o.get("data", {}).get("text/markdown", "") for o in cell.outputs) and width < 600:
                return float("inf")
            total += sum(output_height(output, width) for output in cell.outputs)
    return total


def split(cells: list) -> int | None:
    """How wide the picture of a slide is that stands beside its text; None where there is no room, or nothing to part.

    Args:
        cells: of the slide.
    """
    pictures = [size for cell in cells if (size := picture_of(cell))]
    if len(pictures) != 1 or any(map(shows_figure, cells)) or height(cells) == 0:
        return None
    width, tall = pictures[0]
    least = SMALLEST_IN_PICTURE / 11 * width
    most = min(TALLEST_PICTURE * width / tall, WIDEST_PICTURE)
    for wide in range(int(most), int(max(least, 1)) - 1, -20):
        beside = WIDTH - GUTTER - wide
        if beside >= NARROWEST_TEXT and height(cells, beside) <= HEIGHT:
            return wide
    return None


def fits(cells: list, more: float = 0) -> bool:
    """Whether cells have room on one slide, and `more` pixels."""
    pictures = [size for cell in cells if (size := picture_of(cell))]
    if any(map(shows_figure, cells)) or len(pictures) > 1:
        return False
    if not pictures or split(cells):
        return split(cells) is not None or height(cells) + more <= HEIGHT
    (width, tall), letters = pictures[0], SMALLEST_IN_PICTURE / 11
    return letters * width <= WIDTH and height(cells) + letters * tall <= HEIGHT


def filled(cells: list) -> float:
    """The share of a slide's height that has something on it."""
    if any(picture_of(cell) or shows_figure(cell) for cell in cells):
        return 1.0
    return (height(cells) + 32 + HEADING) / 720


# --- slides that are one ----------------------------------------------------------------------------


def joined(slides: list[dict]) -> list[dict]:
    """Two slides become one where one of them would be mostly empty, or is the picture to the text of its section.

    The second comes with the click that would have brought its slide. A sentence or two before a live figure are said
    by the speaker: the figure needs the room.
    """
    made: list[dict] = []
    for slide in slides:
        last = made[-1] if made else None
        if last is None:
            made.append(slide)
            continue
        # Its heading is said once; another comes with it.
        added = slide["cells"][1 if slide["continues"] else 0 :]
        together = [*last["cells"], *added]
        drawn = any(map(picture_of, together))
        emptier = min(filled(last["cells"]), filled(slide["cells"]))
        if fits(together, 0 if slide["continues"] else HEADING) and (
            (emptier < ENOUGH or split(together)) if slide["continues"] else (emptier < ENOUGH and not drawn)
        ):
            made[-1] = {**last, "cells": [*last["cells"], *clicked(added)], "notes": last["notes"] + slide["notes"]}
        elif slide["continues"] and any(map(shows_figure, added)) and only_words(last["cells"]):
            opening = last["cells"][0]
            title = copy(opening, source=TITLE.match(opening.source)[0].strip())
            said = [TITLE.sub("", cell.source, count=1).strip() for cell in last["cells"]]
            notes = [*filter(None, said), *last["notes"], *slide["notes"]]
            made[-1] = {**slide, "cells": [title, *added], "notes": notes, "continues": last["continues"]}
        else:
            made.append(slide)
    return made


def copy(cell, **changes):
    return type(cell)({**cell, **changes})


def clicked(cells: list) -> list:
    """The cells of what was a slide, as they come to another with a click."""
    first, *rest = cells
    tags = set(first.metadata.get("tags", [])) - {"slide", "same-slide"} | {"fragment"}
    return [copy(first, metadata={**first.metadata, "tags": sorted(tags)}), *rest]


def only_words(cells: list) -> bool:
    """Whether a slide is a sentence or two, to be said as well as to be read."""
    return all(cell.cell_type == "markdown" and "$$" not in cell.source for cell in cells) and filled(cells) < ENOUGH
