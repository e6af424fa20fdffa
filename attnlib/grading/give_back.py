"""Points and feedback as course sites take them in bulk: a table to import, and an archive of pages to upload.

moodle
    `grading_worksheet.csv` for *Upload grading worksheet* and `feedback.zip` for *Upload multiple feedback files in a
    zip*. From mod/assign/feedback/offline/importgradeslib.php and mod/assign/feedback/file/importziplib.php of
    github.com/moodle/moodle: the first needs `Identifier`, `Grade` and `Last modified (grade)`, the second the names of
    the folders that were downloaded.
canvas
    `gradebook.csv` for *Import* in the gradebook and `feedback.zip` for *Upload Submissions* of the assignment. From
    lib/gradebook_importer.rb and `infer_comment_context_from_filename` of github.com/instructure/canvas-lms: the first
    looks for `Student`, `ID`, `SIS Login ID`, `Section`, in this order, the second for the names of the files that
    were downloaded. Canvas shows such a file under the name of the student's own, so the page of a notebook is a
    notebook.
gradescope
    `gradescope.csv`, with the columns of its own table of grades. We know of nothing in Gradescope that takes it.
"""

import csv
import html
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import nbformat

from attnlib.grading import feedback
from attnlib.grading.collect import Handin
from attnlib.grading.exports import ANONYMOUS, MOODLE
from attnlib.grading.grade import GRADED, Class
from attnlib.grading.report import Written, dialect, plain, total

SYSTEMS = ("canvas", "moodle", "gradescope")
WORKSHEET = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
WORKSHEET += ["Last modified (submission)", "Last modified (grade)", "Feedback comments"]
GRADEBOOK = ["Student", "ID", "SIS Login ID", "Section"]
OF_GRADESCOPE = ["Name", "SID", "Email", "Total Score", "Max Points"]


@dataclass
class Sheet:
    """A table of a course site.

    Attributes:
        system: Which site.
        rows: All lines, the head first.
        ids: Of whom each line is; "" when of nobody.
        grade: The column for points.
        comment: The column for words, None where there is none.
        most: How many points the site says there are, in its own words.
    """

    system: str
    rows: list[list[str]]
    ids: list[str]
    grade: int
    comment: int | None = None
    most: str = ""


def sheet(handins: list[Handin], name: str, title: str, most: float, table: Path | None, column: str = "") -> Sheet:
    """The table that will be filled in: the one that was downloaded, or a new one.

    Args:
        handins: Of one course site.
        name: Full name of the assignment.
        title: Its heading.
        most: How many points there are.
        table: The grading worksheet of Moodle or the gradebook of Canvas, as it was downloaded.
        column: What the gradebook calls the assignment, where that cannot be seen.

    Raises:
        ValueError: There is no such table, or it does not fit; in words.
    """
    systems = sorted({handin.system for handin in handins} & set(SYSTEMS))
    if len(systems) != 1:
        raise ValueError(
            f"Points go back in bulk to one of {', '.join(SYSTEMS)}; these hand-ins come from "
            f"{' and '.join(systems) or 'none of them'}. The table of --out has all points."
        )
    if table and systems == ["moodle"]:
        return _worksheet(table)
    if table and systems == ["canvas"]:
        return _gradebook(table, name, title, column)
    if table:
        raise ValueError("There is no table of Gradescope to fill in.")
    mine = [handin for handin in handins if handin.system == systems[0]]
    ids, most_ = ["", *(handin.id for handin in mine)], f"{most:g}"
    if systems == ["moodle"]:
        rows = [[f"Participant {h.id}", plain(h.student), "", "", "", most_, "Yes", "-", "-", ""] for h in mine]
        return Sheet("moodle", [WORKSHEET, *rows], ids, WORKSHEET.index("Grade"), WORKSHEET.index("Feedback comments"))
    if systems == ["canvas"]:
        rows = [["    Points Possible", "", "", "", most_]] + [[plain(h.student), h.id, "", "", ""] for h in mine]
        return Sheet("canvas", [[*GRADEBOOK, column or title], *rows], ["", *ids], len(GRADEBOOK))
    mail = {handin.id: handin.id if "@" in handin.id else "" for handin in mine}
    rows = [[plain(h.student), "" if mail[h.id] else h.id, mail[h.id], "", most_] for h in mine]
    return Sheet("gradescope", [OF_GRADESCOPE, *rows], ids, OF_GRADESCOPE.index("Total Score"))


def write(graded: Class, filled: Sheet, folder: Path, written: dict[str, Written] | None = None) -> list[str]:
    """Fill in the table and write it, with the archive of pages; say what was written, and what was not.

    Only who is graded gets points: a text that is not read yet is no 0, and a hand-in that cannot be graded is none.
    """
    written = written or {}
    words = _fill(graded, filled, written)
    folder.mkdir(parents=True, exist_ok=True)
    file = {"moodle": "grading_worksheet.csv", "canvas": "gradebook.csv"}.get(filled.system, "gradescope.csv")
    if any(handin.system == "canvas" and ANONYMOUS.fullmatch(handin.origin) for handin in graded.handins):
        words = [
            f"no {file}: Canvas hides the names, and its gradebook has none of these ids. Show the names there and "
            "download again"
        ]
        (folder / file).unlink(missing_ok=True)
    else:
        with (folder / file).open("w", encoding="utf-8", newline="") as opened:
            csv.writer(opened, lineterminator="\n").writerows(filled.rows)
        words.insert(0, f"{folder / file}")
    if filled.system != "gradescope":
        words += _write_pages(graded, filled.system, folder / "feedback.zip", written)
    return words


def _fill(graded: Class, filled: Sheet, written: dict[str, Written]) -> list[str]:
    """Put points and comments into the table; say whose do not go there."""
    lines = {id_: row for id_, row in zip(filled.ids, filled.rows, strict=True) if id_}
    waiting, absent = [], []
    for handin in graded.handins:
        result, row = graded.results[handin.student], lines.get(handin.id)
        if row is None or handin.system != filled.system:
            absent.append(handin.student)
        elif result.status != GRADED:
            waiting.append(handin.student)
        else:
            row[filled.grade] = f"{total(result):g}"
            if filled.comment is not None and (comment := written.get(handin.student, Written()).comment):
                row[filled.comment] = html.escape(comment, quote=False)  # Moodle takes it for HTML
    words = []
    most = f"{sum(feedback.maxima(graded.release).values()):g}"
    if filled.most and filled.most != most:
        words.append(f"look at the maximum: the table says {filled.most} points, the assignment has {most}")
    if waiting:
        words.append(f"without points yet: {', '.join(waiting)}")
    if absent:
        words.append(f"not in the table: {', '.join(absent)}")
    return words


def _write_pages(graded: Class, system: str, path: Path, written: dict[str, Written]) -> list[str]:
    """Write the archive of pages; say whose page cannot go there."""
    absent = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for handin in graded.handins:
            page = feedback.page(graded, handin, written.get(handin.student))
            own = PurePosixPath(handin.origin).suffix.lower()
            if handin.system == system == "moodle":
                match = MOODLE.fullmatch(handin.origin)
                to = f"{match['student']}_{match['id']}_assignsubmission_file_/{graded.name}.html"
                archive.writestr(to, page)
            elif handin.system == system and own in (".ipynb", ".zip"):
                archive.writestr(handin.origin, _notebook(page) if own == ".ipynb" else _zip(graded.name, page))
            else:
                absent.append(handin.student)
    return [str(path), *([f"without a page in it: {', '.join(absent)}"] if absent else [])]


def _notebook(page: str) -> str:
    """A page as a notebook with one cell."""
    body = re.search(r"<body>\n(.*)</body>", page, re.S)[1]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(body, id="feedback")])
    return nbformat.writes(notebook)


def _zip(name: str, page: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.html", page)
    return buffer.getvalue()


def _read(table: Path) -> list[list[str]]:
    """The lines of a table, all equally long."""
    try:
        text = table.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{table.name} is no table in UTF-8.") from None
    rows = [row for row in csv.reader(io.StringIO(text), dialect=dialect(text)) if row]
    if not rows:
        raise ValueError(f"{table.name} is empty.")
    return [row + [""] * (len(rows[0]) - len(row)) for row in rows]


def _worksheet(table: Path) -> Sheet:
    """The grading worksheet that Moodle gives."""
    rows = _read(table)
    head = rows[0]
    needed = ["Identifier", "Grade", "Last modified (grade)"]
    if missing := [name for name in needed if name not in head]:
        raise ValueError(
            f"{table.name} is no grading worksheet of Moodle: there is no column {', '.join(missing)}. Download it "
            "with Moodle in English."
        )
    numbers = [re.search(r"\d+$", row[head.index("Identifier")].strip()) for row in rows]
    most = (
        {row[head.index("Maximum Grade")].replace(",", ".") for row in rows[1:]} if "Maximum Grade" in head else set()
    )
    comment = head.index("Feedback comments") if "Feedback comments" in head else None
    return Sheet(
        "moodle", rows, [n[0] if n else "" for n in numbers], head.index("Grade"), comment, _number(most - {"", "-"})
    )


def _gradebook(table: Path, name: str, title: str, column: str) -> Sheet:
    """The gradebook that Canvas gives, with the one column that is to change."""
    rows = _read(table)
    head = rows[0]
    if "Student" not in head[0] or not {"ID", "Section"} <= set(head):
        raise ValueError(
            f"{table.name} is no gradebook of Canvas: there are no columns Student, ID and Section. It comes from "
            "Export in the gradebook."
        )
    first = head.index("Section") + 1
    possible = next((row for row in rows if "Points Possible" in row[0]), [""] * len(head))
    works = [n for n in range(first, len(head)) if "read only" not in possible[n]]
    named = [n for n in works if column in (head[n], re.sub(r" \(\d+\)$", "", head[n]))] if column else []
    named = named or ([n for n in works if _means(head[n], name, title)] if not column else [])
    if len(named) != 1:
        known = ", ".join(repr(head[n]) for n in works) or "none"
        raise ValueError(f"Which column of {table.name} is {name}? Add --column NAME; there are: {known}.")
    kept = [*range(first), named[0]]
    ids = [row[head.index("ID")].strip() for row in rows]
    ids = [id_ if id_.isdigit() else "" for id_ in ids]
    return Sheet(
        "canvas", [[row[n] for n in kept] for row in rows], ids, first, None, _number({possible[named[0]]} - {""})
    )


def _means(heading: str, name: str, title: str) -> bool:
    """Does the heading of a column say this assignment?"""
    words = [re.sub(r"\W+|_", " ", text).lower().strip() for text in (heading, name, title)]
    short = name.split("_")[0]
    return words[1] in words[0] or words[2] in words[0] or short in words[0].split()


def _number(found: set[str]) -> str:
    """The one number among them, written shortly."""
    try:
        return f"{float(found.pop().strip()):g}" if len(found) == 1 else ""
    except ValueError:
        return ""
