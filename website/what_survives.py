"""Sphinx extension: the directive `what-survives`, every claim against the training that it got, a small picture each.

All of it is read from attnlib/course/long_runs.json, which `make long` writes.
"""

import html
import math
from collections import Counter

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from attnlib.course.book import BOOK
from attnlib.course.claims import VERDICTS, bounds_in_words
from attnlib.course.long_runs import BUDGETS, LONG_RUNS, Judged, LongRuns
from website.claims_ledger import chapter_link, paragraph, recorded, row, table

WIDTH, HEIGHT, MARGIN = 190, 74, 16


def in_words(judged: Judged, steps: int) -> str:
    """What the picture shows: the values at each number of steps, and the bound."""
    parts = []
    for budget, values in judged.values.items():
        low, high = f"{min(values):.2g}", f"{max(values):.2g}"
        parts.append(f"{low if low == high else f'{low} to {high}'} after {budget * steps:,} steps")
    return f"{', '.join(parts)}; held to {bounds_in_words(judged.at_least, judged.at_most)}"


def picture(judged: Judged, steps: int) -> str:
    """An SVG: a dot for each seed over the number of steps, and a dashed line for each bound.

    It takes the colours of the page (assets/book.css): a dot that breaks a bound is drawn as a ring.
    """
    bounds = [bound for bound in (judged.at_least, judged.at_most) if bound is not None]
    shown = [value for values in judged.values.values() for value in values if math.isfinite(value)] + bounds
    low, high = min(shown), max(shown)

    def y(value: float) -> float:
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (value - low) / ((high - low) or 1)

    marks = [f'<line class="bound" x1="8" x2="{WIDTH - 8}" y1="{y(b):.1f}" y2="{y(b):.1f}"/>' for b in bounds]
    for n, (budget, values) in enumerate(judged.values.items()):
        x = WIDTH * (2 * n + 1) / (2 * len(judged.values))
        marks.append(f'<text x="{x:.1f}" y="{HEIGHT - 1}">{budget * steps:,}</text>')
        for k, value in enumerate(value for value in values if math.isfinite(value)):
            aside = 4 * (k - (len(values) - 1) / 2)  # seeds that agree stand beside each other
            kind = "kept" if judged.keeps(value) else "broken"
            marks.append(f'<circle class="{kind}" cx="{x + aside:.1f}" cy="{y(value):.1f}" r="3.2"/>')
    label = html.escape(in_words(judged, steps), quote=True)
    return (
        f'<svg class="survives" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{label}">{"".join(marks)}</svg>'
    )


class WhatSurvives(SphinxDirective):
    """The table, in the order of the book: what was measured, its picture, and what became of it."""

    def run(self) -> list[nodes.Node]:
        notebooks = sorted(BOOK.glob("[0-9]*.ipynb"))
        for path in (LONG_RUNS, *notebooks):
            self.env.note_dependency(str(path))
        chapters = {(gate.comparison, gate.what): gate.chapter for of in recorded(notebooks).values() for gate in of}
        runs = LongRuns(LONG_RUNS)
        content = runs.read()
        judged = [j for j in runs.claims() if (j.comparison, j.what) in chapters]
        rows, ends = [], []
        for claim in sorted(judged, key=lambda j: chapters[j.comparison, j.what]):
            steps = content[claim.comparison]["steps"]
            drawn = nodes.paragraph("", "", nodes.raw("", picture(claim, steps), format="html"))
            ends.append(runs.words(claim))
            rows.append(
                row(
                    paragraph(chapter_link(self.env.docname, chapters[claim.comparison, claim.what])),
                    paragraph(nodes.Text(claim.what)),
                    [drawn, paragraph(nodes.Text(in_words(claim, steps)))],
                    paragraph(nodes.strong("", ends[-1])),
                )
            )
        if not rows:
            return [paragraph(nodes.Text("No comparison has been trained longer yet: make long does it."))]
        hours = sum(
            run["seconds"]
            for comparison in content.values()
            if comparison["claims"]
            for budgets in comparison["arms"].values()
            for trained in budgets.values()
            for run in trained
        )
        became = Counter(end.partition(":")[0] for end in ends)
        said = f"{len(rows)} claims, at {', '.join(f'{b}×' for b in BUDGETS)} the steps of their chapters: "
        said += ", ".join(f"{became[verdict]} {verdict}" for verdict in VERDICTS if became[verdict])
        said = paragraph(nodes.Text(f"{said}. {hours / 3600:.1f} hours of training on one core."))
        return [said, table({"chapter": 9, "what was measured": 27, "against steps": 42, "verdict": 22}, rows)]


def setup(app) -> dict[str, bool]:
    app.add_directive("what-survives", WhatSurvives)
    return {"parallel_read_safe": True}
