"""What the desk gives: the table and the pages of `grade`, written by the same functions."""

import csv
import io
from pathlib import Path

from attnlib.grading import assignment, feedback, give_back, report
from attnlib.grading.desk.kept import write_whole
from attnlib.grading.desk.marks import Marks, Outcome
from attnlib.grading.grade import NOT_GRADED


def export(marks: Marks, folder: Path, table: Path | None = None, column: str = "") -> list[str]:
    """Write `grades.csv`, `written.csv`, `feedback` and `back` into a folder; say what was written, and what was not.

    Args:
        marks: The class, and what people decided.
        folder: Where to write.
        table: The gradebook or the grading worksheet of the course site, as `give_back.sheet` takes it.
        column: What the gradebook calls the assignment.
    """
    out, graded = marks.outcome(), marks.graded
    folder.mkdir(parents=True, exist_ok=True)
    report.write_csv(out.graded, folder / "grades.csv", columns(marks, out))
    write_whole(folder / "written.csv", written_csv(marks, out))
    feedback.write(out.graded, folder / "feedback", out.written)
    said = [str(folder / name) for name in ("grades.csv", "written.csv", "feedback")]
    most = sum(marks.maxima.values())
    try:
        sheet = give_back.sheet(graded.handins, graded.name, feedback.title(graded.release), most, table, column)
    except (ValueError, OSError) as error:
        said.append(f"nothing to upload in bulk: {error}")
    else:
        said += give_back.write(out.graded, sheet, folder / "back", out.written)
    waiting = [s for s, r in out.graded.results.items() if None in r.points.values()]
    if waiting:
        said.append(f"without all points yet: {', '.join(waiting)}")
    stale = [f"{s} ({unit})" for unit in marks.units for s in marks.units[unit].answers if marks.stale(s, unit)]
    if stale:
        said.append(f"handed in anew since a person looked, and to be looked at again: {', '.join(stale)}")
    unknown = [student for student, verdict in out.late.items() if verdict.days is None]
    if unknown:
        said.append(f"nobody knows when they handed in: {', '.join(unknown)}")
    return said


def columns(marks: Marks, out: Outcome) -> dict[str, dict[str, str]]:
    """`{student: {column: value}}` beside those of `grade`: comments, corrections, and what lateness took off."""
    table = {}
    for student, result in out.graded.results.items():
        more = {f"{unit} comment": out.comments.get(student, {}).get(unit, "") for unit in marks.units}
        more["corrected"] = "; ".join(out.corrected.get(student, []))
        verdict = out.late.get(student)
        known = verdict is not None and verdict.days is not None and result.status != NOT_GRADED
        more["days late"] = f"{verdict.days}" if known else ""
        more["taken off"] = f"{verdict.points:g}" if known else ""
        more["late"] = verdict.words if verdict else ""
        table[student] = {name: report.plain(value) for name, value in more.items()}
    return table


def written_csv(marks: Marks, out: Outcome) -> str:
    """The points and comments of texts as `grade --written` reads them."""
    cells = list(assignment.written(marks.graded.release))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", *cells, "comment"])
    for student, given in out.written.items():
        points = [f"{given.points[cell]:g}" if cell in given.points else "" for cell in cells]
        writer.writerow([student, *points, given.comment])
    return text.getvalue()
