"""Assignments and their grading belong together: every known answer gets exactly the points it deserves."""

import ast
import functools
import sys

import matplotlib
import pytest

from attnlib.course.book import setup_cell, without_magics
from attnlib.grading import assignment, proof
from attnlib.grading.answers import answers_to

# Tracing would double the time; each line is reached by other tests.
pytestmark = [pytest.mark.usefixtures("little_to_collect", "without_shape_checks"), pytest.mark.untraced]
NAMES = assignment.names()
CASES = [pytest.param(name, answer, id=f"{name}-{key}") for name in NAMES for key, answer in answers_to(name).items()]


@pytest.fixture(scope="module")
def notebook():
    """Each source, read once."""
    return functools.cache(assignment.read)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_reference_gets_full_marks(name, seed):
    notebook = assignment.read(name, seed)
    got, why = proof.points(notebook, {})
    assert (got, why) == (assignment.tests(notebook), {})


def test_a_proof_leaves_the_style_of_other_figures_alone():
    before = dict(matplotlib.rcParams)
    proof.points(assignment.read("a01"), {})
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_who_writes_nothing_gets_nothing(name, seed):
    notebook = assignment.read(name, seed)
    got, _ = proof.points(notebook, proof.untouched(notebook))
    assert set(got.values()) == {0}


@pytest.mark.parametrize("name", NAMES)
def test_a_variant_asks_for_something_else(name):
    """A solution of the published version, handed in for a variant, is not right everywhere."""
    published, full = assignment.answers(assignment.read(name)), assignment.tests(assignment.read(name))
    variants = [assignment.read(name, seed) for seed in range(1, 9)]
    assert any(proof.points(v, published)[0] != full for v in variants)


@pytest.mark.parametrize("name,answer", CASES)
def test_a_known_answer_loses_exactly_its_points(name, answer, notebook):
    assert set(answer.lost) <= set(assignment.tests(notebook(name)))
    lost, why = proof.lost(notebook(name), answer.cells)
    assert lost == answer.lost, (answer.why, why)


@pytest.mark.parametrize("name", NAMES)
def test_every_test_cell_is_needed(name, notebook):
    noticed = {test for answer in answers_to(name).values() for test in answer.lost}
    assert noticed == set(assignment.tests(notebook(name)))


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_has_three_or_four_questions_and_one_is_written(name, notebook):
    by_test, by_hand = assignment.tests(notebook(name)), assignment.written(notebook(name))
    questions = {assignment.question(i) for i in [*by_test, *by_hand]}
    assert len(by_hand) == 1 and 3 <= len(questions) <= 4
    assert questions == {f"q{n + 1}" for n in range(len(questions))}


@pytest.mark.parametrize("name", NAMES)
def test_every_graded_cell_hides_something_and_explains_itself(name, notebook):
    for cell in notebook(name).cells:
        if assignment.is_test(cell):
            where = assignment.facts(cell)["grade_id"]
            assert assignment.HIDDEN.search(cell.source), f"{where} shows all its tests"
            for line in cell.source.splitlines():
                if line.strip().startswith("assert"):
                    assert '"' in line, f"{where} asserts without a word: {line}"


@pytest.mark.parametrize("name", NAMES)
def test_wrong_answers_cover_every_question(name, notebook):
    given = answers_to(name).values()
    wrong = [a for a in given if a.lost]
    assert len(given) - len(wrong) >= 2  # right, and written differently
    graded = {assignment.question(t) for t in assignment.tests(notebook(name))}
    each = {q: sum(any(assignment.question(t) == q for t in a.lost) for a in wrong) for q in graded}
    assert min(each.values()) >= 3 and sum(each.values()) / len(each) >= 5, each


@pytest.mark.parametrize("name", NAMES)
def test_students_need_nothing_but_the_course(name, notebook):
    """What Colab ships, the standard library, and the package that the first cell installs."""
    code = [c.source for c in notebook(name).cells if c.cell_type == "code"]
    assert code[0] == setup_cell()
    tree = ast.parse("\n".join(map(without_magics, code)))
    modules = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {m.split(".")[0] for m in modules} <= {"attnlib", "matplotlib", "numpy", "torch"} | sys.stdlib_module_names


def test_the_course_has_been_attacked():
    wrong = [a for name in NAMES for a in answers_to(name).values() if a.lost]
    assert len(NAMES) >= 9 and len(wrong) >= 350  # as the page "Grade a class" says
