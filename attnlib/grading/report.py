"""Points of a class: the CSV file, the points that a person gives, and what is said at the end."""

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from attnlib.grading import assignment
from attnlib.grading.assignment import facts, question
from attnlib.grading.grade import BY_HAND, GRADED, NOT_GRADED, Class
from attnlib.grading.work import Result


@dataclass
class Written:
    """What a person gave one student.

    Attributes:
        points: `{question: points}`.
        comment: Words for the student.
    """

    points: dict[str, float] = field(default_factory=dict)
    comment: str = ""


def maxima(notebook) -> dict[str, int]:
    """`{graded cell: points}`, in order."""
    return {facts(c)["grade_id"]: facts(c)["points"] for c in notebook.cells if facts(c).get("grade")}


def questions(notebook) -> dict[str, list[str]]:
    """`{question: its graded cells}`, in order."""
    grouped: dict[str, list[str]] = {}
    for cell in maxima(notebook):
        grouped.setdefault(question(cell), []).append(cell)
    return grouped


def read_written(path: Path, notebook, students: dict[str, str]) -> dict[str, Written]:
    """Read `student,q4,comment`: one column for each written question, the comment if you like.

    Args:
        path: The CSV file, of this or of any other order of columns.
        notebook: The assignment.
        students: `{student: id}` of all who handed in; either may stand in the file.

    Raises:
        ValueError: An unknown student or question, or points that cannot be; in words.
    """
    by_hand = assignment.written(notebook)
    names = {student: student for student in students} | {n: s for s, n in students.items() if n}
    text = path.read_text("utf-8-sig")
    rows = csv.DictReader(io.StringIO(text), dialect=dialect(text))
    columns = {column.split("/")[0]: column for column in rows.fieldnames or []}
    if unknown := set(columns) - {"student", "comment", *by_hand}:
        raise ValueError(
            f"{path.name}: no column is called {sorted(unknown)}; there may be {['student', *by_hand, 'comment']}."
        )
    if missing := {"student", *by_hand} - set(columns):
        raise ValueError(f"{path.name}: there is no column {sorted(missing)}; it needs {['student', *by_hand]}.")
    given: dict[str, Written] = {}
    for line, row in enumerate(rows, start=2):
        name = (row[columns["student"]] or "").strip()
        if name not in names:
            raise ValueError(
                f"{path.name}, line {line}: nobody called {name!r} has handed in. Known: {_some(students)}."
            )
        if names[name] in given:
            raise ValueError(f"{path.name}, line {line}: {name!r} has points already, in a line above.")
        entry = given.setdefault(names[name], Written(comment=(row.get(columns.get("comment", ""), "") or "").strip()))
        for cell, most in by_hand.items():
            if value := (row[columns[cell]] or "").strip():
                entry.points[cell] = _points(value, most, f"{path.name}, line {line}, {cell} of {name}")
    return given


def dialect(text: str) -> type[csv.Dialect]:
    """Spreadsheets of some countries write semicolons."""
    first = text.split("\n", 1)[0]

    class Found(csv.excel):
        delimiter = max(",;\t", key=first.count)

    return Found


def _points(value: str, most: float, where: str) -> float:
    try:
        points = float(value.replace(",", "."))
    except ValueError:
        raise ValueError(f"{where}: {value!r} is no number.") from None
    if not 0 <= points <= most:
        raise ValueError(f"{where}: {value} points, but there are 0 to {most}.")
    return points


def _some(names) -> str:
    names = sorted(names)
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def add_written(graded: Class, written: dict[str, Written]) -> None:
    """Put a person's points in place of those that were missing."""
    for student, entry in written.items():
        result = graded.results[student]
        if result.status == NOT_GRADED:
            continue
        result.points |= entry.points
        result.status = BY_HAND if None in result.points.values() else GRADED


def total(result: Result) -> float | None:
    """All points so far; None when not graded."""
    if result.status == NOT_GRADED:
        return None
    return sum(points for points in result.points.values() if points is not None)


def header(notebook) -> list[str]:
    """The names of the columns."""
    most, columns = maxima(notebook), ["student"]
    for name, cells in questions(notebook).items():
        columns.append(f"{name}/{sum(most[cell] for cell in cells):g}")
        columns += [f"{cell}/{most[cell]:g}" for cell in cells if cell != name]
    return [*columns, "total", "out of", "status", "flags", "why", "id"]


def rows(graded: Class) -> list[dict[str, str]]:
    """One row for each student."""
    most, columns, table = maxima(graded.release), header(graded.release), []
    for handin in graded.handins:
        result = graded.results[handin.student]
        values = [plain(handin.student)]
        for name, cells in questions(graded.release).items():
            got = [result.points.get(cell) for cell in cells]
            values.append("" if None in got else f"{sum(got):g}")
            values += ["" if g is None else f"{g:g}" for cell, g in zip(cells, got, strict=True) if cell != name]
        sum_ = total(result)
        why = "; ".join([result.why, *result.notes] if result.why else result.notes)
        values += ["" if sum_ is None else f"{sum_:g}", f"{sum(most.values()):g}", result.status]
        values += [plain(" ".join(result.flags)), plain(why), plain(handin.id)]
        table.append(dict(zip(columns, values, strict=True)))
    return table


def plain(value: str) -> str:
    r"""Text that a spreadsheet does not take for a formula: students choose names and error messages.

    Example:
        >>> plain("=1+1"), plain("two\nlines")
        ("'=1+1", 'two lines')
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    return f"'{line}" if line[:1] in ("=", "+", "-", "@") else line


def write_csv(graded: Class, path: Path, more: dict[str, dict[str, str]] | None = None) -> None:
    """Write the CSV file, whole or not at all.

    Args:
        graded: The class.
        path: The file.
        more: `{student: {column: value}}`, the same columns for all; they stand behind the others.
    """
    behind = list(next(iter(more.values()), {})) if more else []
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*header(graded.release), *behind])
        writer.writeheader()
        for handin, row in zip(graded.handins, rows(graded), strict=True):
            writer.writerow(row | (more[handin.student] if more else {}))
    partial.replace(path)


def spoken(graded: Class) -> str:
    """What an instructor wants to know first."""
    results = graded.results
    count = Counter(result.status for result in results.values())
    n = len(results)
    lines = [f"{n} hand-in{'s' * (n != 1)} in {graded.seconds:.0f} seconds: {count[GRADED]} graded"]
    if count[BY_HAND]:
        lines[0] += f", {count[BY_HAND]} with a text that needs a person"
    lines[0] += f", {count[NOT_GRADED]} NOT GRADED."
    other = sum(any("test cell" in note for note in result.notes) for result in results.values())
    if other > n / 2:
        lines.append(
            f"{other} of {n} hand-ins came with test cells that are not those of {graded.name}: was it handed out with "
            "another --seed, or in another version?"
        )
    for student, result in results.items():
        if result.status == NOT_GRADED:
            lines.append(f"NOT GRADED {plain(student)}: {plain(result.why)}")
    lines += [f"belongs to nobody: {plain(words)}" for words in graded.lost]
    lines += [f"look at {plain(s)}: {plain(' '.join(r.flags))}" for s, r in results.items() if r.flags]
    lines += [f"noted {plain(s)}: {plain('; '.join(r.notes))}" for s, r in results.items() if r.notes]
    return "\n".join(lines)


def everybody_graded(graded: Class) -> bool:
    """Has nobody been left out?"""
    return not graded.lost and all(result.status != NOT_GRADED for result in graded.results.values())
