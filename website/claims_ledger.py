"""Sphinx extension: the directive `claims-ledger`, a table of what the slides claim and what the runs measured.

The claims stand in book/claims.yml; what was measured, and the bounds it kept, in the stored outputs of the chapters
(`attnlib.course.claims`); what became of them with more training, in attnlib/course/long_runs.json (`make long`). The
build fails when a claim was not measured, when a measurement belongs to no claim, or when a chapter's verdict is not
that of its runs.
"""

import ast
import json
import statistics
from pathlib import Path
from typing import NamedTuple

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from attnlib.course.book import BOOK, ROOT
from attnlib.course.claims import KEY, bounds_in_words
from attnlib.course.long_runs import LONG_RUNS, LongRuns


class Gate(NamedTuple):
    """One measurement of a claim."""

    chapter: str  # name of the notebook, without suffix
    what: str
    values: list[float]
    at_least: float | None
    at_most: float | None
    verdict: str | None = None
    fails_if: str | None = None
    comparison: str | None = None

    def margin(self) -> str:
        """How far the worst value is from its bound, in ranges of the values; without a range, as it is."""
        bounds = [value - self.at_least for value in self.values if self.at_least is not None]
        bounds += [self.at_most - value for value in self.values if self.at_most is not None]
        spread = max(self.values) - min(self.values)
        return f"{min(bounds) / spread:.1f} ranges" if spread else f"{min(bounds):.3g}"

    def measured(self) -> str:
        low, high = min(self.values), max(self.values)
        band = f" ({low:.3g} to {high:.3g})" if low < high else ""
        return f"{statistics.median(self.values):.3g}{band}"

    def held_to(self) -> str:
        return bounds_in_words(self.at_least, self.at_most)


def recorded(notebooks: list[Path]) -> dict[str, list[Gate]]:
    """The gates in the stored outputs, by the name of their claim."""
    found: dict[str, list[Gate]] = {}
    for path in notebooks:
        for cell in json.loads(path.read_text("utf8"))["cells"]:
            for output in cell.get("outputs", []):
                if gate := output.get("metadata", {}).get(KEY):
                    gate = dict(gate)
                    found.setdefault(gate.pop("claim"), []).append(Gate(path.stem, **gate))
    return found


def problems(
    claims: dict[str, dict], gates: dict[str, list[Gate]], root: Path, runs: LongRuns | None = None
) -> list[str]:
    """What keeps the ledger from being whole."""
    runs = runs or LongRuns(LONG_RUNS)
    found = [
        f"the chapters gate {name!r}, which book/claims.yml does not know" for name in gates.keys() - claims.keys()
    ]
    for name, claim in claims.items():
        by_chapter = {gate.chapter.split("_")[0] for gate in gates.get(name, [])}
        found += [
            f"no run of chapter {chapter} has gated {name!r}"
            for chapter in claim["chapters"]
            if f"{chapter:02d}" not in by_chapter
        ]
        found += [f"no such test for {name!r}: {test}" for test in claim["tests"] if not exists(test, root)]
        found += [f"{name!r} names no {key}" for key in ("says", "slides", "chapters", "tests") if not claim[key]]
    stated = {(gate.comparison, gate.what): gate for of in gates.values() for gate in of}
    for judged in runs.claims():
        gate = stated.get((judged.comparison, judged.what))
        if gate is not None and (verdict := runs.verdict(judged)) != gate.verdict:
            found.append(f"{gate.chapter} says {gate.verdict!r} of {gate.what!r}, its runs say {verdict!r}")
    return sorted(found)


def what_became_of_it(gate: Gate, runs: LongRuns) -> str:
    """A claim's verdict in the words of its long runs; without any, that of its chapter, and whose it is."""
    judged = next((j for j in runs.claims() if (j.comparison, j.what) == (gate.comparison, gate.what)), None)
    if judged is not None:
        return runs.words(judged)
    return f"{gate.verdict}, by its chapter" if gate.verdict else "not trained longer"


def exists(test: str, root: Path) -> bool:
    """Whether `tests/test_file.py::test_name` is a function of that file."""
    file, _, name = test.partition("::")
    path = root / file
    return path.is_file() and any(
        isinstance(node, ast.FunctionDef) and node.name == name for node in ast.parse(path.read_text("utf8")).body
    )


class ClaimsLedger(SphinxDirective):
    """The table."""

    def run(self) -> list[nodes.Node]:
        source, notebooks = BOOK / "claims.yml", sorted(BOOK.glob("[0-9]*.ipynb"))
        for path in (source, LONG_RUNS, *notebooks):
            self.env.note_dependency(str(path))
        claims, gates = yaml.safe_load(source.read_text("utf8")), recorded(notebooks)
        if found := problems(claims, gates, ROOT):
            raise ExtensionError("the claims ledger is not whole:\n  " + "\n  ".join(found))
        rows, runs = [], LongRuns(LONG_RUNS)
        for name, claim in claims.items():
            tests = [nodes.literal("", test.partition("::")[2]) for test in claim["tests"]]
            said = paragraph(nodes.strong("", claim["says"]), nodes.Text(f" {claim['slides']}"))
            rows.append(row([said, paragraph(nodes.Text("code tested by "), *joined(tests))], across=5))
            rows += [
                row(
                    [paragraph(nodes.Text(gate.what)), *would_fail(gate)],
                    paragraph(chapter_link(self.env.docname, gate.chapter)),
                    paragraph(nodes.Text(with_minus_signs(gate.measured()))),
                    paragraph(nodes.Text(with_minus_signs(f"{gate.held_to()}, {gate.margin()} away"))),
                    paragraph(nodes.Text(what_became_of_it(gate, runs))),
                )
                for gate in gates[name]
            ]
        columns = {"what was measured": 39, "chapter": 9, "median (range)": 18, "held to": 16, "more training": 18}
        return [table(columns, rows)]


def with_minus_signs(numbers: str) -> str:
    """Numbers as they are printed.

    Example:
        >>> with_minus_signs("-0.2 (-1e-10 to 3)")
        '−0.2 (−1e−10 to 3)'
    """
    return numbers.replace("-", "\N{MINUS SIGN}")


def would_fail(gate: Gate) -> list[nodes.paragraph]:
    """What would refute the measurement, where the chapter says it."""
    return [paragraph(nodes.emphasis("", f"Would fail if {gate.fails_if}."))] if gate.fails_if else []


def table(columns: dict[str, int], rows: list[nodes.row]) -> nodes.table:
    """Rows under the heads of the columns, which have these shares of the width."""
    group = nodes.tgroup("", cols=len(columns))
    group += [nodes.colspec(colwidth=width) for width in columns.values()]
    group += [nodes.thead("", row(*(paragraph(nodes.Text(head)) for head in columns))), nodes.tbody("", *rows)]
    return nodes.table("", group, classes=["ledger", "colwidths-given"])


def row(*cells: nodes.Node | list[nodes.Node], across: int = 1) -> nodes.row:
    """A row of cells, each over so many columns."""
    span = {"morecols": across - 1} if across > 1 else {}
    return nodes.row("", *(nodes.entry("", *(c if isinstance(c, list) else [c]), **span) for c in cells))


def joined(parts: list[nodes.Node]) -> list[nodes.Node]:
    """The parts with commas between them."""
    return [node for part in parts for node in (nodes.Text(", "), part)][1:]


def paragraph(*children: nodes.Node) -> nodes.paragraph:
    return nodes.paragraph("", "", *children)


def chapter_link(page: str, chapter: str) -> addnodes.pending_xref:
    text = nodes.inline("", str(int(chapter.split("_")[0])))
    return addnodes.pending_xref(
        "", text, refdomain="std", reftype="doc", reftarget=chapter, refdoc=page, refexplicit=True, refwarn=True
    )


def setup(app) -> dict[str, bool]:
    app.add_directive("claims-ledger", ClaimsLedger)
    return {"parallel_read_safe": True}
