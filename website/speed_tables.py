"""Sphinx extension: what `make bench` has measured, as tables, sentences and pictures.

The numbers stand in book/speed.json and nowhere else. Directives, whose option `of` names another file of the book:

- `speed-table` and the name of a section (`decoders`), or several: a table of its rows.
- `speed-plot` and `ratios`, `steps` or `growth`: a picture; its content is the caption.
- `speed-says` and `machine` or `missed`: a sentence on what was measured on, or a list of the bounds not kept.
- `speed-figures`: the live figures, from slider to repaint.
"""

import hashlib
import json
import os
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from attnlib.course.book import BOOK, ROOT
from benchmarks import plots
from benchmarks.rows import Row, short
from website import claims_ledger as ledger


class Speed(SphinxDirective):
    """What the directives share: the file."""

    option_spec = {"of": directives.unchanged, "alt": directives.unchanged_required}  # noqa: RUF012

    def record(self) -> dict:
        source = BOOK / self.options.get("of", "speed.json")
        for path in (source, ROOT / "benchmarks" / "plots.py"):
            self.env.note_dependency(str(path))
        return json.loads(source.read_text("utf8"))

    def rows(self) -> list[Row]:
        return [Row(**fields) for fields in self.record()["rows"]]


class SpeedTable(Speed):
    """Rows of one section or several; columns that no row fills are left out."""

    required_arguments, optional_arguments = 1, 9

    def run(self) -> list[nodes.Node]:
        rows = [row for row in self.rows() if row.section in self.arguments]
        if strangers := set(self.arguments) - {row.section for row in rows}:
            raise ExtensionError(
                f"nothing was measured under {', '.join(sorted(strangers))}: "
                "take the table off the page until `make bench`, which needs the book, has run"
            )
        if self.arguments == ["growth"]:
            return [texts(SLOPES, slope_lines(rows))]
        return [texts(*without_empty(HEADS, [cells(row) for row in rows]))]


class SpeedFigures(Speed):
    """Live figures, alone on a page."""

    def run(self) -> list[nodes.Node]:
        record = self.record()
        if "figures" not in record:
            raise ExtensionError("no live figure was measured: run `make bench`, which needs a browser")
        times = record["figures"]["repaint_ms"]
        return [
            texts(
                ("figure", "median, ms", "p95, ms"),
                [(n, short(t["median"]), short(t["p95"])) for n, t in times.items()],
            )
        ]


class SpeedSays(Speed):
    """A sentence or a list."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return {"machine": self.machine, "missed": self.missed}[self.arguments[0]]()

    def machine(self) -> list[nodes.Node]:
        return [nodes.paragraph("", machine(self.record()["machine"]))]

    def missed(self) -> list[nodes.Node]:
        judged = [row for row in self.rows() if row.met is not None]
        missed = [row for row in judged if not row.met]
        said = f"{len(judged) - len(missed)} of {len(judged)} bounds are kept."
        if not missed:
            return [nodes.paragraph("", said)]
        return [
            nodes.paragraph("", f"{said} These are not:"),
            nodes.bullet_list("", *(nodes.list_item("", nodes.paragraph("", complaint(row))) for row in missed)),
        ]


class SpeedPlot(Speed):
    """A picture, drawn while the book is built."""

    required_arguments, has_content = 1, True

    def run(self) -> list[nodes.Node]:
        record, name = self.record(), self.arguments[0]
        folder = Path(self.env.doctreedir) / "speed"
        folder.mkdir(parents=True, exist_ok=True)
        mark = hashlib.sha256(json.dumps(record).encode()).hexdigest()[:12]
        file = folder / f"speed-{name}-{mark}.png"
        plots.write(record, file, name)
        image = nodes.image(uri="/" + Path(os.path.relpath(file, self.env.srcdir)).as_posix(), alt=self.options["alt"])
        figure = nodes.figure("", image)
        caption = nodes.caption("", "")
        parsed, messages = self.parse_inline(" ".join(self.content))
        caption += parsed
        figure += caption
        self.add_name(figure)
        return [figure, *messages]


HEADS = ("measured", "ours", "the other", "ratio", "with a dot product", "held to")


SLOPES = ("measured (counted)", "in B", "in S", "in T", "in d")


def slope_lines(rows: list[Row]) -> list[tuple[str, ...]]:
    """Rows of the section `growth` as text, under `SLOPES`: a line for what was measured, a column for what grows."""
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        name, _, letter = row.name.partition(": ")
        lines.setdefault(f"{name}\n{row.size}", {})[letter] = f"{row.ours:.2f} ({row.other:.2f})"
    return [(name, *(by_letter[letter] for letter in SLOPES[1:])) for name, by_letter in lines.items()]


def cells(row: Row) -> tuple[str, ...]:
    """A row as text, under `HEADS`; a second line of a cell follows a line break."""
    ours, other = (
        f"{short(value)}\N{NO-BREAK SPACE}{row.unit}" if value is not None else "" for value in (row.ours, row.other)
    )
    ratio = f"{short(row.ratio)} {row.means}" if row.ratio is not None else ""
    kept = {True: "kept", False: "not kept", None: ""}[row.met]
    return (
        f"{title(row)}\n{row.size}".strip(),
        ours,
        other,
        ratio,
        short(row.with_dot),
        f"{row.held_to()}\n{kept}".strip(),
    )


def title(row: Row) -> str:
    """What is compared with what."""
    measured, _, beside = row.name.partition(": ")
    return f"{measured}, beside {beside}" if beside else measured


def complaint(row: Row) -> str:
    """What was measured in the place of what was asked."""
    value = f"{short(row.ratio)} {row.means}" if row.judged == "ratio" else f"{short(row.ours)} {row.unit}"
    limit = f" (with a dot product as its score: {short(row.with_dot)})" if row.with_dot else ""
    return f"{', '.join(filter(None, (title(row), row.size)))}: {value}, held to {row.held_to()}{limit}"


def machine(measured_on: dict) -> str:
    """A sentence on the machine."""
    threads = "one thread" if measured_on["threads"] == 1 else f"{measured_on['threads']} threads"
    return (
        f"Measured on {measured_on['device']}, {measured_on['cores']} cores, {threads}, PyTorch {measured_on['torch']}."
    )


def without_empty(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    kept = [n for n in range(len(heads)) if any(row[n] for row in rows)]
    return tuple(heads[n] for n in kept), [tuple(row[n] for n in kept) for row in rows]


def texts(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> nodes.table:
    """Text in rows under heads; the first column is the widest."""
    columns = dict(zip(heads, (40, *[15] * (len(heads) - 1)), strict=True))
    lines = [[[ledger.paragraph(nodes.Text(part)) for part in text.splitlines()] for text in line] for line in rows]
    return ledger.table(columns, [ledger.row(*line) for line in lines])


DIRECTIVES = {
    "speed-table": SpeedTable,
    "speed-plot": SpeedPlot,
    "speed-says": SpeedSays,
    "speed-figures": SpeedFigures,
}


def setup(app) -> dict[str, bool]:
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True}
