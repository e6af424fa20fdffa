"""Sphinx extension: the map of the chapters, drawn from `_toc.yml` and from what `book/chapters.yml` says they need.

A part of the book is a block of rows. A chapter stands below those of its part that it needs, at most three side by
side; an arrow that passes a row goes through a gap between its boxes. A phone has no room for that: it shows a list.
"""

import html
from collections.abc import Mapping
from typing import NamedTuple

import yaml
from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from attnlib.course.book import BOOK, ROOT
from scripts.notebooks import times

WIDTH, HEIGHT, ACROSS = 560, 44, 3  # of the map, of a box, boxes in a row
GAP, BELOW, CAPTION = 14, 17, 22  # px between boxes, between rows, and for the name of a part
RIM = 14  # px beside the boxes, for arrows that pass all of them

LISTS = (ROOT / "_toc.yml", BOOK / "chapters.yml")


class Chapter(NamedTuple):
    number: int
    file: str  # NN_name
    name: str
    asks: str
    needs: list[int]


class Box(NamedTuple):
    chapter: Chapter
    row: int
    x: float
    y: float
    width: float


# --- the two lists ----------------------------------------------------------------------------------


def parts(toc: Mapping, known: Mapping[str, Mapping]) -> dict[str, list[Chapter]]:
    """The numbered chapters by the caption of their part, in the order of the book.

    Raises:
        ExtensionError: a chapter stands in one list only, or needs one that does not come before it.
    """
    found, number = {}, 0
    for part in toc["parts"]:
        stems = [entry["file"].removeprefix("book/").removesuffix(".ipynb") for entry in part["chapters"]]
        for stem in (stem for stem in stems if stem[0].isdigit()):
            if stem not in known:
                raise ExtensionError(f"book/chapters.yml says nothing of {stem}, which _toc.yml has")
            number += 1
            chapter = Chapter(number, stem, **known[stem])
            if late := [need for need in chapter.needs if not 0 < need < number]:
                raise ExtensionError(f"book/chapters.yml: chapter {number} needs {late}, which do not come before it")
            found.setdefault(part["caption"], []).append(chapter)
    if strangers := set(known) - {chapter.file for chapters in found.values() for chapter in chapters}:
        raise ExtensionError(f"book/chapters.yml has chapters that _toc.yml has not: {', '.join(sorted(strangers))}")
    return found


def rows(chapters: list[Chapter]) -> list[list[Chapter]]:
    """The chapters of a part, each below those it needs, at most `ACROSS` in a row."""
    row_of: dict[int, int] = {}
    filled: list[list[Chapter]] = []
    for chapter in chapters:
        row = max((row_of[need] + 1 for need in chapter.needs if need in row_of), default=0)
        while row < len(filled) and len(filled[row]) == ACROSS:
            row += 1
        filled += [[] for _ in range(row + 1 - len(filled))]
        filled[row].append(chapter)
        row_of[chapter.number] = row
    return [row for row in filled if row]


# --- the drawing ------------------------------------------------------------------------------------


def layout(book: Mapping[str, list[Chapter]]) -> tuple[list[Box], list[tuple[str, float]], float]:
    """Where everything stands: boxes, captions with their base lines, and the height of the whole."""
    boxes, captions, y, n = [], [], 0.0, 0
    for caption, chapters in book.items():
        captions.append((caption, y + CAPTION / 2))
        y += CAPTION
        for row in rows(chapters):
            width = (WIDTH - GAP * (len(row) - 1)) / len(row)
            boxes += [Box(chapter, n, (width + GAP) * i, y, width) for i, chapter in enumerate(row)]
            y, n = y + HEIGHT + BELOW, n + 1
    return boxes, captions, y - BELOW


def spread(boxes: list[Box]) -> dict[tuple[int, int], tuple[float, float]]:
    """`{(needed, chapter): (x where the arrow leaves, x where it ends)}`: the ends on a side of a box, side by side."""
    at = {box.chapter.number: box for box in boxes}
    arrows = [(need, box.chapter.number) for box in boxes for need in box.chapter.needs]
    ends: dict[tuple[int, int], list[float]] = {arrow: [] for arrow in arrows}
    for mine, other in ((0, 1), (1, 0)):
        for number, box in at.items():
            here = [arrow for arrow in arrows if arrow[mine] == number]
            here.sort(key=lambda arrow: at[arrow[other]].x + at[arrow[other]].width / 2)
            for i, arrow in enumerate(here, 1):
                ends[arrow].append(box.x + box.width * i / (len(here) + 1))
    return {arrow: (x, to) for arrow, (x, to) in ends.items()}


def way(start: Box, end: Box, x: float, to: float, boxes: list[Box]) -> str:
    """The path of an arrow: down, through the nearest gap of each row on the way."""
    points = [(x, start.y + HEIGHT)]
    for row in range(start.row + 1, end.row):
        passed = [box for box in boxes if box.row == row]
        gaps = [-RIM / 2, *(box.x + box.width + GAP / 2 for box in passed[:-1]), WIDTH + RIM / 2]
        straight = x + (to - x) * (row - start.row) / (end.row - start.row)
        gap = min(gaps, key=lambda gap: abs(gap - straight))
        points += [(gap, passed[0].y - 4), (gap, passed[0].y + HEIGHT + 4)]
    points.append((to, end.y - 2))
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def drawing(book: Mapping[str, list[Chapter]], seconds: Mapping[str, int]) -> str:
    """The map as SVG, with what each file runs. Who points at a chapter sees the arrows that lead to it."""
    boxes, captions, height = layout(book)
    at, ends = {box.chapter.number: box for box in boxes}, spread(boxes)
    drawn = [f'<text class="part" x="0" y="{y:.0f}">{html.escape(caption)}</text>' for caption, y in captions]
    for box in boxes:
        number, file, name, asks, needs = box.chapter
        arrows = [way(at[need], box, *ends[need, number], boxes) for need in needs]
        paths = "".join(f'<path d="{arrow}" marker-end="url(#tip)"/>' for arrow in arrows)
        x, y = box.x + box.width / 2, box.y
        drawn.append(
            f'<g>{paths}<a href="{file}.html"><rect x="{box.x:.1f}" y="{y:.0f}" width="{box.width:.1f}" '
            f'height="{HEIGHT}" rx="8"/><text class="title" x="{x:.1f}" y="{y + 18:.0f}">{number} · {html.escape(name)}'
            f'</text><text x="{x:.1f}" y="{y + 35:.0f}">{html.escape(asks)}'
            f'<tspan class="runs"> · {seconds[file]} s</tspan></text></a></g>'
        )
    tip = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker></defs>'
    )
    box = f"{-RIM} 0 {WIDTH + 2 * RIM} {height + 2:.0f}"
    body = "\n".join([tip, *drawn])
    return f'<svg viewBox="{box}">\n{body}\n</svg>'


def listed(book: Mapping[str, list[Chapter]], seconds: Mapping[str, int]) -> str:
    """The same as a list, which says in words where arrows come from."""
    lines = []
    for caption, chapters in book.items():
        lines.append(f"<p>{html.escape(caption)}</p>\n<ul>")
        for number, file, name, asks, needs in chapters:
            after = f" · after {' and '.join(map(str, needs))}" if needs else ""
            title = f'<a href="{file}.html">{number} · {html.escape(name)}</a>'
            lines.append(f"<li>{title}<br>{html.escape(asks)} · {seconds[file]} s{after}</li>")
        lines.append("</ul>")
    return "\n".join(lines)


class ChapterMap(SphinxDirective):
    """`{chapter-map}`."""

    def run(self) -> list[nodes.Node]:
        for path in (*LISTS, BOOK / "times.json"):
            self.env.note_dependency(str(path))
        toc, known = (yaml.safe_load(path.read_text("utf8")) for path in LISTS)
        book, seconds = parts(toc, known), times()["seconds"]
        shown = f"{drawing(book, seconds)}\n{listed(book, seconds)}"
        return [nodes.raw("", f'<nav class="map" aria-label="Map of the chapters">\n{shown}\n</nav>', format="html")]


def setup(app) -> dict[str, bool]:
    app.add_directive("chapter-map", ChapterMap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
