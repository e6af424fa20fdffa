"""A hand-in gets the shape of its assignment back, and no word of its student is lost."""

import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from attnlib.grading import assignment, proof
from attnlib.grading.assignment import facts
from attnlib.grading.restore import restored

STUB = "def total(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
DONE = "def total(x):\n    return x.sum()"
LOST = "all cells had lost nbgrader's marks; they are back"


def mark(cell, name, **marks):
    settled = {"grade": False, "locked": True, "solution": False, "task": False, "schema_version": 3}
    cell.metadata["nbgrader"] = {**settled, "grade_id": name, **marks}
    cell["id"] = f"c_{name}"
    return cell


def released():
    cells = [
        mark(new_markdown_cell("# Assignment 7 · Sums\n\nWrite."), "head"),
        mark(new_code_cell("import torch"), "setup"),
        mark(new_markdown_cell("## Question 1 · The sum"), "text_1"),
        mark(new_code_cell(STUB), "q1", locked=False, solution=True),
        mark(
            new_code_cell('"""q1_value: 2 points"""\nassert total(torch.ones(3)) == 3'),
            "q1_value",
            grade=True,
            points=2,
        ),
        mark(new_code_cell('"""q1_type: 1 point"""\nassert total'), "q1_type", grade=True, points=1),
        new_code_cell("# Try things here.", id="c_free"),
        mark(new_markdown_cell("## Question 2 · The size"), "text_2"),
        mark(new_code_cell("size = None  # YOUR NUMBER HERE"), "q2", locked=False, solution=True),
        mark(new_code_cell('"""q2_size: 1 point"""\nassert size'), "q2_size", grade=True, points=1),
        mark(new_markdown_cell("## Question 3 · Why"), "text_3"),
        mark(new_markdown_cell("YOUR ANSWER HERE"), "q3", locked=False, solution=True, grade=True, points=3),
        mark(new_markdown_cell("## End"), "text_4"),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


RELEASE = released()


def at(notebook, name):
    """The number of the cell that is marked so."""
    return next(n for n, c in enumerate(notebook.cells) if facts(c).get("grade_id") == name)


def honest():
    return assignment.filled(RELEASE, {"q1": DONE, "q2": "size = 3", "q3": "Because."})


def bare(notebook):
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()
    return notebook


def names(notebook):
    return [facts(c).get("grade_id") for c in notebook.cells]


def source(notebook, name):
    return notebook.cells[at(notebook, name)].source


def settled(notebook):
    """Everything that the release alone decides."""
    own = {"q1", "q2", "q3"}
    marked = [c for c in notebook.cells if "nbgrader" in c.metadata]
    return [(c.metadata, c.source if facts(c).get("grade_id") not in own else "") for c in marked]


def plain(notebook):
    """Without the ids of cells that no one grades."""
    for cell in notebook.cells:
        if not facts(cell):
            cell["id"] = "x"
    return notebook


def mend(notebook):
    """Restore, and check what always holds."""
    before, release = copy.deepcopy(notebook), copy.deepcopy(RELEASE)
    result, said = restored(notebook, RELEASE)
    assert (notebook, RELEASE) == (before, release), "the input was changed"
    assert settled(result) == settled(RELEASE)
    nbformat.validate(result)
    ids = [c["id"] for c in result.cells]
    assert len(set(ids)) == len(ids)
    everything = "\n".join(c.source for c in result.cells)
    stubs = {c.source for c in RELEASE.cells}
    for cell in notebook.cells:
        assert cell.source in stubs or cell.source.strip() in everything, f"lost: {cell.source}"
    assert restored(result, RELEASE)[0] == result, "twice is not once"
    return result, said


def test_nothing_is_mended_where_nothing_is_broken():
    result, said = mend(honest())
    assert (result, said) == (honest(), [])
    result, said = mend(copy.deepcopy(RELEASE))
    assert (result, said) == (RELEASE, [])


def test_all_marks_lost():
    result, said = mend(bare(honest()))
    assert (result, said) == (honest(), [LOST])


def test_some_marks_lost_and_ids_renumbered():
    notebook = honest()
    for n, cell in enumerate(notebook.cells):
        cell["id"] = f"x{n}"
        if n % 2:
            cell.metadata.pop("nbgrader", None)
    result, said = mend(notebook)
    assert (plain(result), said) == (plain(honest()), ["6 cells had lost nbgrader's marks; they are back"])


def test_a_notebook_of_before_cells_had_ids():
    notebook = bare(honest())
    for cell in notebook.cells:
        del cell["id"]
    notebook.nbformat_minor = 4
    result, said = restored(notebook, RELEASE)
    assert (result, said) == (honest(), [LOST])


def test_ends_of_lines_do_not_matter():
    notebook = bare(honest())
    for cell in notebook.cells:
        cell.source = cell.source.replace("\n", "  \r\n") + "\r\n"
    result, said = restored(notebook, RELEASE)
    assert said == [LOST] and source(result, "q1").split() == DONE.split()


@pytest.mark.parametrize("strip", [False, True])
def test_deleted_cells_come_back(strip):
    notebook = honest()
    notebook.cells = [c for c in notebook.cells if facts(c).get("grade_id") not in {"setup", "q1_value", "q2", "q3"}]
    result, said = mend(bare(notebook) if strip else notebook)
    assert names(result) == names(RELEASE)
    assert said[strip:] == [
        "the given cell setup was missing; it is back",
        "the test cell q1_value was missing; it is back",
        "the answer cell q2 was missing; it is back, empty",
        "the cell for the text q3 was missing; it is back, empty",
    ]
    assert source(result, "q1") == DONE and source(result, "q2") == source(RELEASE, "q2")


@pytest.mark.parametrize("strip", [False, True])
def test_changed_tests_are_as_released_and_kept_to_read(strip):
    notebook = honest()
    notebook.cells[at(notebook, "q1_value")].source = '"""q1_value: 100 points"""\nassert True'
    result, said = mend(bare(notebook) if strip else notebook)
    assert said[strip:] == ["the test cell q1_value was changed; it is as released"]
    [note] = [c for c in result.cells if "assert True" in c.source]
    assert note.cell_type == "markdown"


def test_points_and_locks_are_those_of_the_release():
    notebook = honest()
    notebook.cells[at(notebook, "q1_value")].metadata.nbgrader.points = 100
    notebook.cells[at(notebook, "setup")].metadata.nbgrader.update(locked=False, solution=True)
    result, said = mend(notebook)
    assert (result, said) == (
        honest(),
        ["points or locks had been changed in setup, q1_value; they are as released"],
    )


@pytest.mark.parametrize("strip", [False, True])
def test_a_test_that_was_copied_stays_once(strip):
    notebook = honest()
    notebook.cells.append(copy.deepcopy(notebook.cells[at(notebook, "q1_value")]))
    result, said = mend(bare(notebook) if strip else notebook)
    assert said[strip:] == ["the test cell q1_value was there 2 times; one is left"]
    assert names(result) == names(RELEASE)


@pytest.mark.parametrize("strip", [False, True])
def test_of_copied_answers_the_last_one_written_counts(strip):
    notebook = honest()
    better = "def total(x):\n    return x.float().sum()"
    again = copy.deepcopy(notebook.cells[at(notebook, "q1") : at(notebook, "q1_type") + 1])
    again[0].source = better
    notebook.cells[-1:-1] = again
    result, said = mend(bare(notebook) if strip else notebook)
    assert source(result, "q1") == better
    assert "q1 is answered 2 times; the last answer that is tested counts" in said
    # the other one runs before it, so that it cannot take its place
    assert result.cells[at(result, "q1") - 1].source == DONE


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("empty_first", [False, True])
def test_a_copy_that_was_left_empty_is_no_answer(strip, empty_first):
    notebook = honest()
    copied = copy.deepcopy(notebook.cells[at(notebook, "q1")])
    copied.source = STUB
    notebook.cells.insert(at(notebook, "q1") + (not empty_first), copied)
    result, said = mend(bare(notebook) if strip else notebook)
    assert source(result, "q1") == DONE and names(result) == names(RELEASE)
    assert not any("times" in words for words in said)


@pytest.mark.parametrize("where", ["text_1", "q1_type", "head", "text_4"])
@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("deleted", [False, True])
def test_an_answer_in_a_new_cell_counts(where, strip, deleted):
    notebook = honest()
    notebook.cells.insert(at(notebook, where) + 1, new_code_cell(DONE))
    notebook.cells[at(notebook, "q1")].source = STUB
    if deleted:
        del notebook.cells[at(notebook, "q1")]
    result, said = mend(bare(notebook) if strip else notebook)
    assert source(result, "q1") == DONE
    assert [c.source for c in result.cells].count(DONE) == 1 and names(result) == names(RELEASE)
    if not deleted:
        assert said[strip:] == ["the answer to q1 stands in a new cell; that one counts"]
    else:
        assert said == [LOST if strip else "1 cell had lost nbgrader's marks; they are back"]


@pytest.mark.parametrize("strip", [False, True])
def test_an_experiment_below_the_tests_is_no_answer(strip):
    notebook = honest()
    trial = "def total(x):\n    return 0"
    notebook.cells.append(new_code_cell(trial))
    result, _ = mend(bare(notebook) if strip else notebook)
    assert source(result, "q1") == DONE and result.cells[-1].source == trial
    assert names(result) == [*names(RELEASE), None]


@pytest.mark.parametrize("strip", [False, True])
def test_an_answer_that_does_not_parse_is_still_the_answer(strip):
    notebook = honest()
    notebook.cells[at(notebook, "q1")].source = "def total(x):\n    return ((x"
    result, said = mend(bare(notebook) if strip else notebook)
    assert source(result, "q1").endswith("((x") and said == [LOST][: strip or 0]


def test_an_answer_keeps_its_helpers_and_its_place():
    notebook = honest()
    helper, note, raw = new_code_cell("def helper(): ..."), new_markdown_cell("my note"), new_raw_cell("raw")
    notebook.cells.insert(at(notebook, "q1"), helper)
    notebook.cells.insert(at(notebook, "q1_type"), note)
    notebook.cells.insert(0, raw)
    result, said = mend(bare(notebook))
    assert [c.source for c in result.cells] == [c.source for c in notebook.cells] and said == [LOST]


@pytest.mark.parametrize("strip", [False, True])
def test_an_import_added_to_a_given_cell_still_runs(strip):
    notebook = honest()
    notebook.cells[at(notebook, "setup")].source = "import torch\nimport math"
    result, _ = mend(bare(notebook) if strip else notebook)
    assert source(result, "setup") == "import torch"
    assert "import torch\nimport math" in [c.source for c in result.cells[: at(result, "q1")] if c.cell_type == "code"]


@pytest.mark.parametrize("strip", [False, True])
def test_words_written_into_the_question_stay(strip):
    notebook = honest()
    notebook.cells[at(notebook, "text_3")].source += "\n\nMy answer stands here."
    result, said = mend(bare(notebook) if strip else notebook)
    assert source(result, "text_3") == "## Question 3 · Why"
    assert "the given cell text_3 was changed; the released one stands before it" in said


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_text_in_new_cells_counts(strip, deleted):
    notebook = honest()
    first, second = new_markdown_cell("One."), new_markdown_cell("Two. ![](attachment:a.png)")
    second["attachments"] = {"a.png": {"image/png": "AAAA"}}
    notebook.cells[at(notebook, "q3")].source = "YOUR ANSWER HERE"
    where = at(notebook, "q3") + 1
    notebook.cells[where:where] = [first, second]
    if deleted:
        del notebook.cells[at(notebook, "q3")]
    result, said = restored(bare(notebook) if strip else notebook, RELEASE)
    assert source(result, "q3") == "One.\n\nTwo. ![](attachment:a.png)"
    assert result.cells[at(result, "q3")]["attachments"] == second["attachments"]
    assert "the text q3 stands in 2 cells; they are put together" in said and names(result) == names(RELEASE)


def test_marks_on_wrong_cells_are_not_believed():
    notebook = honest()
    answer, test = notebook.cells[at(notebook, "q1")], notebook.cells[at(notebook, "q1_value")]
    answer.metadata, test.metadata = test.metadata, answer.metadata
    result, _ = restored(notebook, RELEASE)
    assert [c.source for c in result.cells] == [c.source for c in honest().cells]
    assert settled(result) == settled(RELEASE)


def test_a_stray_cell_that_calls_itself_a_test_is_none():
    notebook = honest()
    notebook.cells.append(mark(new_code_cell("x = 1"), "q9", grade=True, points=50))
    notebook.cells.append(new_code_cell('"""q8_own: 9 points"""'))
    result, _ = mend(notebook)
    assert names(result) == [*names(RELEASE), None, None]


@pytest.mark.parametrize(
    "cells,words",
    [
        ([], "no cell of the assignment is in it"),
        ([new_markdown_cell("shopping"), new_code_cell("x = 1")], "no cell of the assignment is in it"),
        ([new_markdown_cell("# Assignment 5 · Context\nx"), *released().cells[1:]], "Assignment 5 · Context"),
    ],
)
def test_another_notebook_is_refused_by_its_name(cells, words):
    with pytest.raises(ValueError, match=words):
        restored(new_notebook(cells=copy.deepcopy(cells)), RELEASE)


@pytest.mark.parametrize("name", assignment.names())
def test_every_assignment_survives_the_loss_of_all_marks(name):
    full = assignment.read(name)
    texts = dict.fromkeys(assignment.written(full), "YOUR ANSWER HERE")
    release = assignment.filled(full, proof.untouched(full) | texts)
    for cell in release.cells:
        cell.source = assignment.HIDDEN.sub("", cell.source)
    done = assignment.filled(release, assignment.model(full))
    stripped = copy.deepcopy(done)
    for cell in stripped.cells:
        cell.metadata.pop("nbgrader", None)
    assert restored(stripped, release) == (done, [LOST])
