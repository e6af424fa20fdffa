"""The known answers of one assignment through the real thing: kernels, boxes, points.

Those of the others are tried in the grader's own process only (`test_assignments`).
"""

import collections
import itertools

import nbformat
import pytest

from attnlib.grading import assignment, grade, release, sandbox
from attnlib.grading.answers import answers_to

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]  # twenty hand-ins take a minute of two cores

NAME = "a05_alignment"
KNOWN = answers_to(NAME)


def handins() -> list[list[str]]:
    """Who has handed in which known answers: one to each question, as no test of a question sees another's."""
    of_question = {}
    for key, answer in KNOWN.items():
        (question,) = answer.cells
        assert {assignment.question(test) for test in answer.lost} <= {question}
        of_question.setdefault(question, []).append(key)
    return [[key for key in keys if key] for keys in itertools.zip_longest(*of_question.values())]


#: The first one has the model's answers.
CLASS = [[], *handins()]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What the class gets."""
    if why := sandbox.unavailable():
        pytest.fail(why)
    folder, source = tmp_path_factory.mktemp("class"), assignment.read(NAME)
    given_out = nbformat.reads(release.student_version(NAME), as_version=4)
    for n, keys in enumerate(CLASS):
        cells = assignment.model(source) | dict(collections.ChainMap(*(KNOWN[key].cells for key in keys)))
        (folder / str(n)).mkdir()
        nbformat.write(assignment.filled(given_out, cells), folder / str(n) / f"{NAME}.ipynb")
    return grade.grade(NAME, folder, grade.Options(jobs=2, seconds=60)).results


@pytest.mark.parametrize("n", range(len(CLASS)), ids=["-".join(keys) or "model" for keys in CLASS])
def test_known_answers_lose_exactly_their_points_in_the_box(results, n):
    result, lost = results[str(n)], collections.ChainMap(*(KNOWN[key].lost for key in CLASS[n]))
    wanted = {test: most - lost.get(test, 0) for test, most in assignment.tests(assignment.read(NAME)).items()}
    assert {test: result.points.get(test) for test in wanted} == wanted, result
