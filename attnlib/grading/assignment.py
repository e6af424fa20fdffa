"""The one source of an assignment, `assignments/source/aNN_topic.md`, read as the notebook that nbgrader works on.

The source is a notebook in MyST text, as the chapters are. Four marks say what a cell is; all other cells
are locked:

    ```{code-cell} ipython3          the student's own code, with ### BEGIN SOLUTION … ### END SOLUTION
    :answer: q1

    ```{code-cell} ipython3          its tests, with ### BEGIN HIDDEN TESTS … ### END HIDDEN TESTS
    :test: q1_values
    :points: 1

    +++ {"written": "q4", "points": 3}        a text that a person grades (the model answer stands here)

    ```{code-cell} ipython3          a cell in which the student may try things; nobody grades it
    :free: true

An assignment can be varied. The head of the source may say `vary: {radius: [2, 3, 4]}`; `@radius@` then stands
for one of these values in texts, solutions, tests and known answers: for the first with seed 0, which is the
published version, for one drawn by the seed otherwise. Where several words vary together, a value is a mapping:
of `vary: {axes: [{shape: (B, T, S), keys: -1}, …]}` stand `@axes.shape@` and `@axes.keys@`. `@SEED@` is the seed
itself, for hidden random numbers.

The head may also say what to read again, `read: {q1: "[Masked softmax](../04_masked_softmax.md)"}`.
"""

import copy
import functools
import itertools
import random
import re

import jupytext
import nbformat
import yaml

from attnlib.course.book import BOOK, ROOT, expand_roles, setup_cell

SOURCES = ROOT / "assignments" / "source"
#: Where the student versions lie, which the book shows and Colab opens.
STUDENT = BOOK / "exercises"

#: What stands in place of a solution. The comment is there because a first line added above it changes nothing.
STUB = "# YOUR CODE HERE\nraise NotImplementedError()  # delete this line"

MARKS = {"answer", "test", "points", "written", "free"}
BETWEEN = r"[ \t]*### BEGIN {0}\n(.*?)[ \t]*### END {0}[ \t]*(?:\n|$)"
SOLUTION = re.compile(BETWEEN.format("SOLUTION"), re.S)
HIDDEN = re.compile(BETWEEN.format("HIDDEN TESTS"), re.S)


def names() -> list[str]:
    """`a01_language_models`, …: all assignments, in order."""
    return sorted(path.stem for path in SOURCES.glob("a[0-9][0-9]_*.md"))


def choose(name: str) -> str:
    """The assignment meant by `a04` or `a04_masked_softmax`."""
    found = [known for known in names() if name in (known, known.split("_")[0])]
    if not found:
        raise ValueError(f"There is no assignment {name!r}; there are: {', '.join(names())}.")
    return found[0]


@functools.cache
def options(name: str) -> dict[str, list]:
    """`{mark: what may stand there}` of an assignment, as the head of its source says."""
    return yaml.safe_load((SOURCES / f"{choose(name)}.md").read_text("utf8").split("---\n")[1]).get("vary", {})


@functools.cache
def variants(name: str) -> list[tuple[int, ...]]:
    """The variants of an assignment, as places of its options: two at least are not those of the published one.

    So no answer to the published one is right for another, and little of it can be copied.
    """
    places = itertools.product(*(range(len(each)) for each in options(name).values()))
    return [chosen for chosen in places if sum(map(bool, chosen)) >= min(2, len(chosen)) > 0]


def values(name: str, seed: int = 0) -> dict[str, str]:
    """`{mark: what stands there}` of a variant: of the published one with seed 0, of any other one otherwise."""
    all_options, others = options(name), variants(name)
    chosen = random.Random(f"{choose(name)}/{seed}").choice(others) if seed and others else (0,) * len(all_options)
    marks = {"@SEED@": str(seed)}
    for (key, each), n in zip(all_options.items(), chosen, strict=True):
        parts = {f"@{key}.{part}@": str(text) for part, text in each[n].items()} if isinstance(each[n], dict) else {}
        marks |= parts or {f"@{key}@": str(each[n])}
    return marks


def fill(text: str, marks: dict[str, str]) -> str:
    """Put values in place of marks."""
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text


def read(name: str, seed: int = 0) -> nbformat.NotebookNode:
    """The source notebook, solutions and hidden tests included, with nbgrader's metadata in every cell.

    Raises:
        ValueError: No such assignment, or a mark that is none, with the cell in which it stands.
    """
    name = choose(name)
    marks = {"@SETUP@": setup_cell(), **values(name, seed)}
    notebook = jupytext.reads(fill((SOURCES / f"{name}.md").read_text("utf8"), marks), fmt="md:myst")
    for number, cell in enumerate(notebook.cells):
        mark = {key: cell.metadata.pop(key) for key in MARKS & set(cell.metadata)}
        if unknown := set(cell.metadata) - {"tags"}:
            raise ValueError(f"{name}, cell {number}: {sorted(unknown)} is no mark; there are {sorted(MARKS)}.")
        cell["id"] = f"c{number:03d}"
        if left := re.search(r"@[\w.]+@", cell.source):
            raise ValueError(f"{name}, cell {number}: nothing is known to put in place of {left[0]}.")
        if cell.cell_type == "markdown":
            cell.source = expand_roles(cell.source)
        else:
            cell.outputs, cell.execution_count = [], None
        if "test" in mark:
            points = mark["points"]
            cell.source = f'"""{mark["test"]}: {points} point{"s" * (points != 1)}"""\n{cell.source}'
        if not mark.get("free"):
            cell.metadata["nbgrader"] = _nbgrader(mark, number)
    for key in ("jupytext", "read", "vary"):
        notebook.metadata.pop(key, None)
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _nbgrader(mark: dict, number: int) -> dict:
    """What nbgrader has to know of a cell."""
    graded = "test" in mark or "written" in mark
    own = "answer" in mark or "written" in mark
    metadata = {
        "grade": graded,
        "grade_id": mark.get("answer") or mark.get("test") or mark.get("written") or f"cell_{number:02d}",
        "locked": not own,
        "schema_version": 3,
        "solution": own,
        "task": False,
    }
    return {**metadata, "points": mark["points"]} if graded else metadata


def facts(cell) -> dict:
    """A cell's nbgrader metadata, `{}` where it has none."""
    return cell.metadata.get("nbgrader", {})


def answers(notebook) -> dict[str, str]:
    """`{id: source}` of the code cells that a student writes."""
    return {facts(c)["grade_id"]: c.source for c in notebook.cells if is_answer(c)}


def model(notebook) -> dict[str, str]:
    """`{id: source}` of the model's answers and texts, as somebody would hand them in."""
    own = [cell for cell in notebook.cells if is_answer(cell) or is_text(cell)]
    return {facts(c)["grade_id"]: SOLUTION.sub(lambda match: match[1], c.source) for c in own}


def filled(notebook, cells: dict[str, str], above: str | None = None) -> nbformat.NotebookNode:
    """A copy of a notebook with some cells filled in, `{id: source}`, and perhaps a cell of code above all others."""
    copied = copy.deepcopy(notebook)
    for cell in copied.cells:
        cell.source = cells.get(facts(cell).get("grade_id"), cell.source)
    if above is not None:
        copied.cells.insert(0, nbformat.v4.new_code_cell(above))
    return copied


def is_answer(cell) -> bool:
    """Is this a code cell that the student writes?"""
    return cell.cell_type == "code" and facts(cell).get("solution", False)


def is_given(cell) -> bool:
    """Is this a code cell that nobody writes and nobody grades?"""
    return cell.cell_type == "code" and bool(facts(cell).get("locked")) and not facts(cell).get("grade")


def is_test(cell) -> bool:
    """Is this a cell whose points the machine gives?"""
    return cell.cell_type == "code" and bool(facts(cell).get("grade"))


def is_text(cell) -> bool:
    """Is this a text that a person grades?"""
    return cell.cell_type == "markdown" and bool(facts(cell).get("grade"))


def tests(notebook) -> dict[str, int]:
    """`{id: points}` of the cells that are graded by machine."""
    return {facts(c)["grade_id"]: facts(c)["points"] for c in notebook.cells if is_test(c)}


def written(notebook) -> dict[str, int]:
    """`{id: points}` of the texts that a person grades."""
    return {facts(c)["grade_id"]: facts(c)["points"] for c in notebook.cells if is_text(c)}


def question(cell_id: str) -> str:
    """The question to which a cell belongs: `q2` for `q2` and for `q2_mask`."""
    return cell_id.split("_")[0]


def secrets(notebook) -> list[str]:
    """Every line that no student may see: of solutions, hidden tests and model answers."""
    hidden = [m for c in notebook.cells for region in (SOLUTION, HIDDEN) for m in region.findall(c.source)]
    hidden += [c.source for c in notebook.cells if c.cell_type == "markdown" and facts(c).get("solution")]
    return [line.strip() for text in hidden for line in text.splitlines() if line.strip()]
