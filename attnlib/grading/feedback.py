"""One page for each student: points, what each failing test said, and the student's own code.

The page is written anew, from what was graded; no output of the executed notebook is copied into it. Hidden tests
cannot come along in a traceback or in what a student's function has printed.
"""

import ast
import csv
import html
import io
import re
from pathlib import Path

from attnlib.grading.assignment import HIDDEN, facts, is_answer, is_test, is_text, question
from attnlib.grading.collect import Handin
from attnlib.grading.grade import NOT_GRADED, Class
from attnlib.grading.release import bare
from attnlib.grading.report import Written, maxima, questions, total
from attnlib.grading.work import Result

#: So many characters in a row, taken from hidden code, are no coincidence.
WINDOW = 16
LONGEST = 300
#: Flags of an answer that may have read the tests, and could quote them in any disguise.
PEEKING = {"ast_transformers", "eval", "frames", "get_ipython", "globals", "history", "imports"}

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


def harmless(words: str, source) -> str:
    """What an error said, in one line, and without code of hidden tests.

    The words of a hidden assertion are meant to be read, and are kept. A student's function may raise an error that
    quotes the cell it was called from.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    found, code = bare(line), hidden_code(source)
    if any(found[i : i + WINDOW] in code for i in range(len(found) - WINDOW + 1)):
        return "(its message is not shown: it quotes a hidden test)"
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def said(words: str, graded: Class, result: Result) -> str:
    """What a student may read of an error: of an answer that peeks, only what the tests themselves say."""
    if PEEKING & {flag.split(":")[0] for flag in result.flags} and not words.startswith(test_words(graded.source)):
        return "(its message is not shown: the answer looks at more than its inputs)" if words else ""
    return harmless(words, graded.source)


def test_words(source) -> tuple[str, ...]:
    """The strings that stand in the test cells."""
    code = "\n".join(c.source for c in source.cells if is_test(c))
    nodes = ast.walk(ast.parse(code))
    return tuple({n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value})


def hidden_code(source) -> str:
    """All hidden tests, without white space and without the words they say."""
    lines = [line for c in source.cells for region in HIDDEN.findall(c.source) for line in region.splitlines()]
    visible = "\n".join(HIDDEN.sub("", c.source) for c in source.cells)
    return "\n".join(
        bare(re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', "\n", line))
        for line in lines
        if line.strip() not in visible
    )


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
    if result.notes:
        parts.append(f"<p>{html.escape('; '.join(result.notes))}</p>")
    if written and written.comment:
        parts.append(f"<p><strong>Comment:</strong> {html.escape(written.comment)}</p>")
    named = headings(graded.release)
    own = _answers_of_question(graded.release)
    for name, cells in questions(graded.release).items():
        parts.append(f"<h2>{html.escape(named.get(name, name))}</h2>")
        parts.append("<table><tr><th>Test</th><th>Points</th><th>What it said</th></tr>")
        for cell in cells:
            points = result.points[cell]
            got = "not yet" if points is None else f"{points:g} of {most[cell]:g}"
            lost = points is not None and points < most[cell]
            words = said(result.words.get(cell, ""), graded, result) if lost else ""
            row = f"<td>{html.escape(cell)}</td><td>{got}</td><td>{html.escape(words)}</td>"
            parts.append(f"<tr class='lost'>{row}</tr>" if lost else f"<tr>{row}</tr>")
        parts.append("</table>")
        for answer in own.get(name, []):
            if words := said(result.words.get(answer, ""), graded, result):
                parts.append(f"<p>Your cell <code>{html.escape(answer)}</code> did not run: {html.escape(words)}</p>")
            text = result.code.get(answer, result.texts.get(answer, ""))
            parts.append(f"<pre>{html.escape(text)}</pre>")
    return "\n".join(parts)


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
