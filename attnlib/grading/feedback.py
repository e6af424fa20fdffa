"""One page for each student: points, what each failing test said, and the student's own code.

The page is written anew, from what was graded; no output of the executed notebook is copied into it.
"""

import csv
import html
import io
import re
from pathlib import Path

from attnlib.course.book import site
from attnlib.grading.assignment import facts, is_answer, is_text, question, readings
from attnlib.grading.collect import Handin
from attnlib.grading.grade import NOT_GRADED, Class
from attnlib.grading.report import Written, maxima, questions, total
from attnlib.grading.work import Result

#: Characters of a line.
LONGEST = 300

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · {student}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.5rem }} h2 {{ font-size: 1.15rem; margin-top: 2.2rem }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8886 }}
td:nth-child(2) {{ white-space: nowrap }}
pre {{ background: #8881; padding: .8rem; font-size: .85rem; line-height: 1.4; white-space: pre-wrap }}
.lost td {{ font-weight: 600 }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{student}</p>
{body}
</body>
</html>
"""


def write(graded: Class, folder: Path, written: dict[str, Written] | None = None) -> None:
    """Write `folder/STUDENT/ASSIGNMENT.html` for everybody who has handed in."""
    for handin in graded.handins:
        text = page(graded, handin, (written or {}).get(handin.student))
        path = folder / handin.student / f"{graded.name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf8")


def write_texts(graded: Class, folder: Path) -> None:
    """Write all texts on one page, under the model answer, and `written.csv` to put points into.

    Lines of `written.csv` that are there already are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cells = {facts(c)["grade_id"]: c for c in graded.source.cells if is_text(c)}
    read = {s: r for s, r in graded.results.items() if any(r.points.get(cell, 0) is None for cell in cells)}
    parts = []
    for cell, model in cells.items():
        parts.append(f"<h2>{html.escape(headings(graded.release)[question(cell)])}</h2>")
        parts.append(f"<p>Model answer:</p><pre>{html.escape(model.source)}</pre>")
        parts += [f"<h3>{html.escape(s)}</h3><pre>{html.escape(r.texts.get(cell, ''))}</pre>" for s, r in read.items()]
    text = PAGE.format(title=html.escape(title(graded.release)), student="Not for students.", body="\n".join(parts))
    (folder / "texts.html").write_text(text, "utf8")
    sheet = folder / "written.csv"
    before = sheet.read_text("utf-8-sig") if sheet.exists() else ",".join(["student", *cells, "comment"]) + "\n"
    listed = {row[0] for row in csv.reader(io.StringIO(before)) if row}
    with sheet.open("w", encoding="utf8", newline="") as file:
        file.write(before if before.endswith("\n") else before + "\n")
        csv.writer(file, lineterminator="\n").writerows([s, *["" for _ in cells], ""] for s in read if s not in listed)


def page(graded: Class, handin: Handin, written: Written | None = None) -> str:
    """The page of one student."""
    result = graded.results[handin.student]
    return PAGE.format(
        title=html.escape(title(graded.release)),
        student=html.escape(handin.student),
        body=_not_graded(result) if result.status == NOT_GRADED else _graded(graded, result, written),
    )


def title(notebook) -> str:
    """The heading of the assignment."""
    return next(re.findall(r"^# (.+)", c.source, re.M)[0] for c in notebook.cells if c.source.startswith("# "))


def line(words: str) -> str:
    """What an error said, in one line. No test ever enters the kernel of a hand-in, so its words quote none."""
    text = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _not_graded(result: Result) -> str:
    return (
        "<p><strong>This could not be graded.</strong> It does not count as 0 points. Your instructor knows.</p>"
        f"<p>{html.escape(' '.join(result.why.split())[:LONGEST])}</p>"
    )


def _graded(graded: Class, result: Result, written: Written | None) -> str:
    most, parts = maxima(graded.release), []
    missing = sum(most[cell] for cell, points in result.points.items() if points is None)
    parts.append(f"<p><strong>{total(result):g} of {sum(most.values()) - missing:g} points.</strong>")
    if missing:
        parts.append(f" A text worth {missing:g} points has still to be read.")
    parts.append("</p>")
    if result.notes or result.person:
        parts.append(f"<p>{html.escape('; '.join(result.person + result.notes))}</p>")
    if result.person:
        parts.append("<p>A person looks at this; the points above may rise.</p>")
    if written and written.comment:
        parts.append(f"<p><strong>Comment:</strong> {html.escape(written.comment)}</p>")
    named = headings(graded.release)
    own, reading = _answers_of_question(graded.release), _reading(graded.name)
    for name, cells in questions(graded.release).items():
        parts.append(f"<h2>{html.escape(named.get(name, name))}</h2>")
        parts.append("<table><tr><th>Test</th><th>Points</th><th>What it said</th></tr>")
        for cell in cells:
            points = result.points[cell]
            got = "not yet" if points is None else f"{points:g} of {most[cell]:g}"
            lost = points is not None and points < most[cell]
            words = line(result.words.get(cell, "")) if lost else ""
            row = f"<td>{html.escape(cell)}</td><td>{got}</td><td>{html.escape(words)}</td>"
            parts.append(f"<tr class='lost'>{row}</tr>" if lost else f"<tr>{row}</tr>")
        parts.append("</table>")
        parts += _mistakes(result, cells)
        lost = [c for c in cells if result.points[c] is not None and result.points[c] < most[c]]
        parts += [f"<p>To read again: {reading[name]}</p>"] if lost and name in reading else []
        for answer in own.get(name, []):
            if words := line(result.words.get(answer, "")):
                parts.append(f"<p>Your cell <code>{html.escape(answer)}</code> did not run: {html.escape(words)}</p>")
            text = result.code.get(answer, result.texts.get(answer, ""))
            parts.append(f"<pre>{html.escape(text)}</pre>")
    return "\n".join(parts)


def _mistakes(result: Result, cells: list[str]) -> list[str]:
    """A call for each test that failed, and what it most likely was; nothing twice."""
    parts, before = [], []
    for cell in cells:
        shown = result.shown.get(cell)
        if not shown or (shown["call"], shown["gave"]) in before:
            continue
        before.append((shown["call"], shown["gave"]))
        lines = [f"your function gives: {shown['gave']}"] + [f"expected: {shown['wanted']}"] * bool(shown["wanted"])
        parts.append(f"<pre>{html.escape(_clean(shown['call']))}\n{html.escape(_clean(chr(10).join(lines)))}</pre>")
    for likely in dict.fromkeys(result.shown[cell]["likely"] for cell in cells if cell in result.shown):
        parts += [f"<p><strong>Most likely:</strong> {html.escape(likely)}</p>"] if likely else []
    return parts


def _clean(text: str) -> str:
    """Text without characters that no page shows, or that turn it round."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _reading(name: str) -> dict[str, str]:
    """`{q1: a link to a section of the book}`."""
    found = {}
    for asked, link in readings(name).items():
        title, address = re.fullmatch(r"\[(.+)\]\((?:\.\./)*(.+)\)", link).groups()
        page, _, part = address.partition("#")
        address = f"{site()}/{page.removesuffix('.md')}.html" + (f"#{part}" if part else "")
        found[asked] = f'<a href="{html.escape(address)}">{html.escape(title)}</a>'
    return found


def headings(notebook) -> dict[str, str]:
    """`{q1: "Question 1 · …"}`."""
    found, last = {}, ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := re.findall(r"^##+ (.+)", cell.source, re.M)):
            last = heading[-1]
        if facts(cell).get("grade"):
            found.setdefault(question(facts(cell)["grade_id"]), last)
    return found


def _answers_of_question(notebook) -> dict[str, list[str]]:
    """`{question: the cells in which a student writes}`."""
    found: dict[str, list[str]] = {}
    for cell in notebook.cells:
        if is_answer(cell) or is_text(cell):
            found.setdefault(question(facts(cell)["grade_id"]), []).append(facts(cell)["grade_id"])
    return found
