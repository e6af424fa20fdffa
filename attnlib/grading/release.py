"""Student versions: what the book shows and Colab opens. And the proof that no secret stands in them."""

import functools
import html
import re
import tempfile
from pathlib import Path

import nbformat

from attnlib.grading.assignment import HIDDEN, SOLUTION, STUDENT, facts, names, read, secrets, tests, written
from attnlib.grading.course import prepare

#: A line that says so little may stand anywhere.
SHORT = 12
#: A line of so many characters stands somewhere else only if it was copied.
LONG = 40
#: Tests of all assignments begin so, and so does other code that draws or compares.
IMPORTS = "from attnlib.course.asserts import"
#: Files in which something could stand that gives an assignment away.
TEXTS = {".html", ".ipynb", ".md", ".txt", ".j2", ".js", ".json", ".py", ".sty", ".yml"}


INDEX = """# Assignments

Nine notebooks to hand in. Write where it says `YOUR CODE HERE` and `YOUR ANSWER HERE`, and run the tests below each
answer. When they say nothing,
what you *see* of them passes; more run when it is graded. Each question counts by itself.

The button with the rocket above an assignment opens it in Colab. It needs nothing but the course, and no GPU.

| assignment | chapter | questions | points, by tests + for the text |
|---|---|---|---|
{rows}

Points for a text are given by a person. For instructors: [Grade a class](../grading.md).
"""


def student_version(name: str, seed: int = 0) -> str:
    """The notebook that students get, as text: the same bytes at each call."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = prepare(name, seed, Path(folder))
    return nbformat.writes(notebook) + "\n"


def target(name: str, folder: Path = STUDENT) -> Path:
    """Where the student version of an assignment lies."""
    return folder / f"{name}.ipynb"


def write(name: str, seed: int, folder: Path) -> Path:
    """Write a student version; a file that is right already is left alone."""
    path, text = target(name, folder), student_version(name, seed)
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf8") != text:
        path.write_text(text, "utf8")
    return path


def problems(name: str, folder: Path = STUDENT, seed: int = 0) -> list[str]:
    """What is wrong with a student version that lies there, in words."""
    path = target(name, folder)
    if not path.exists():
        return [f"{name}: there is no {path.name}. Make it: python -m attnlib.grading release {name}"]
    text, found = path.read_text("utf8"), []
    if text != student_version(name, seed):
        found.append(
            f"{name}: {path.name} is not what its source gives. Again: python -m attnlib.grading release {name}"
        )
    shown = "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)
    found += [
        f"{name}: a secret line stands in {path.name}: {line}" for line in leaks(shown, secret_lines(read(name, seed)))
    ]
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN", "END HIDDEN"):
        if mark in text:
            found.append(f"{name}: {mark!r} stands in {path.name}: a mark that is not closed, or misspelt.")
    return found


def index() -> str:
    """The book's page of assignments: what each asks, and for how many points."""
    rows = []
    for name in names():
        notebook = read(name)
        text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
        title = re.search(r"^# Assignment (\d+ · .+)", text, re.M)[1]
        questions = re.findall(r"^## Question \d · (.+?) \(", text, re.M)
        chapter = re.search(r"^\| Belongs to \| (.+?) \|", text, re.M)[1]
        points = f"{sum(tests(notebook).values())} + {sum(written(notebook).values())}"
        rows.append(f"| [{title}]({name}.ipynb) | {chapter} | {'; '.join(questions)} | {points} |")
    return INDEX.format(rows="\n".join(rows))


def write_index() -> None:
    """Write the page; a page that is right already is left alone."""
    if index_problems():
        (STUDENT / "index.md").write_text(index(), "utf8")


def index_problems() -> list[str]:
    """What is wrong with the page, in words."""
    path = STUDENT / "index.md"
    if path.exists() and path.read_text("utf8") == index():
        return []
    return ["index.md is not what the sources give. Again: python -m attnlib.grading release"]


def secret_lines(notebook, answers: bool = True) -> list[str]:
    """The lines that give something away: secret ones that do not also stand where everybody sees them.

    Args:
        notebook: The source of an assignment.
        answers: Solutions and model answers too, or hidden tests alone?
    """
    visible = set()
    for cell in notebook.cells:
        text = HIDDEN.sub("", SOLUTION.sub("", cell.source))
        if not (cell.cell_type == "markdown" and facts(cell).get("solution")):
            visible |= {bare(line) for line in text.splitlines()}
    if answers:
        lines = secrets(notebook)
    else:
        lines = [line for c in notebook.cells for region in HIDDEN.findall(c.source) for line in region.splitlines()]
    kept = {bare(line): line.strip() for line in lines if not line.startswith(IMPORTS)}
    return [line for text, line in kept.items() if len(text) >= SHORT and text not in visible]


def bare(text: str) -> str:
    """Text without white space, which pages and editors change."""
    return "".join(text.split())


@functools.cache
def key(line: str) -> str:
    """The same for a secret line, which is looked for in every file."""
    return bare(line)


def leaks(text: str, lines: list[str]) -> list[str]:
    """Those of the lines that stand in a text."""
    inside = bare(text)
    return [line for line in lines if key(line) in inside]


def page_leaks(page: str, lines: list[str]) -> list[str]:
    """Those of the lines that stand in an HTML page, in its words or in its code, coloured or not."""
    return leaks(html.unescape(re.sub(r"<[^<>]*>", "", page)), lines)


def book_leaks(folder: Path) -> dict[str, list[str]]:
    """`{page: lines}` that give an assignment away in a built book or a tree, in its own files or others.

    Chapters explain, and share short lines with tests: there only long lines of hidden tests count.
    """
    sources = {name: read(name) for name in names()}
    all_lines = {name: secret_lines(source) for name, source in sources.items()}
    hidden = [line for source in sources.values() for line in secret_lines(source, answers=False)]
    hidden = [line for line in hidden if len(bare(line)) >= LONG]
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.suffix in TEXTS):
        lines = [*hidden, *all_lines.get(path.stem, [])]
        text = path.read_text("utf8", errors="replace")
        if hits := leaks(text.replace("\\n", "\n").replace('\\"', '"'), lines) or page_leaks(text, lines):
            found[str(path.relative_to(folder))] = hits
    return found
