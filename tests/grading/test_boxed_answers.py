"""The known answers of one assignment through the real thing: kernels, boxes, points.

Those of the others are tried in the grader's own process only (`test_assignments`).
"""

import nbformat
import pytest

from attnlib.grading import assignment, grade, release, sandbox
from attnlib.grading.answers import answers_to

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]  # forty hand-ins take two minutes of two cores

NAME = "a05_alignment"
KNOWN = answers_to(NAME)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The class of all who gave a known answer, and one who gave the model's."""
    if why := sandbox.unavailable():
        pytest.fail(why)
    folder, source = tmp_path_factory.mktemp("class"), assignment.read(NAME)
    given_out = nbformat.reads(release.student_version(NAME), as_version=4)
    for key, cells in {"model": {}, **{key: answer.cells for key, answer in KNOWN.items()}}.items():
        (folder / key).mkdir()
        nbformat.write(assignment.filled(given_out, assignment.model(source) | cells), folder / key / f"{NAME}.ipynb")
    return grade.grade(NAME, folder, grade.Options(jobs=2, seconds=60)).results


@pytest.mark.parametrize("key", ["model", *KNOWN])
def test_a_known_answer_loses_exactly_its_points_in_the_box(results, key):
    full, lost = assignment.tests(assignment.read(NAME)), KNOWN[key].lost if key in KNOWN else {}
    got = {test: results[key].points[test] for test in full}
    assert got == {test: most - lost.get(test, 0) for test, most in full.items()}, results[key].words
