"""Student versions: current, without a secret, for every system that takes them."""

import html
import json

import nbformat
import pytest

from attnlib.grading import assignment, release
from tests.grading.handins import NAME, run, source


@pytest.mark.parametrize("name", assignment.names())
def test_student_versions_are_current_and_hold_no_secret(name):
    assert release.problems(name) == []


@pytest.mark.parametrize("name", assignment.names())
def test_student_versions_ask_and_warn(name):
    notebook = nbformat.reads(release.student_version(name), as_version=4)
    assert "visible" in notebook.cells[0].source
    texts = [c.source for c in notebook.cells if assignment.facts(c).get("solution")]
    assert texts and all(("YOUR CODE HERE" in t and "delete this line" in t) or t == "YOUR ANSWER HERE" for t in texts)
    assert release.student_version(name) == release.student_version(name)


def test_the_page_of_assignments_follows_their_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "STUDENT", tmp_path)
    assert "index.md is not what the sources give" in release.index_problems()[0]
    release.write_index()
    assert release.index_problems() == []
    text = (tmp_path / "index.md").read_text("utf8")
    points = f"{sum(assignment.tests(source()).values())} + {sum(assignment.written(source()).values())}"
    row = next(line for line in text.splitlines() if f"({NAME}.ipynb)" in line)
    assert row.endswith(f"| {points} |") and text.count(".ipynb)") == len(assignment.names())
    (tmp_path / "index.md").write_text(text.replace(points, "99 + 9"), "utf8")
    assert release.index_problems()


def test_a_source_for_other_systems_has_everything_in_nbgraders_marks(tmp_path):
    done = run("source", "a04", "--to", tmp_path / "here", "--seed", 3)
    assert done.returncode == 0, done.stderr
    written = nbformat.read(tmp_path / "here" / NAME / f"{NAME}.ipynb", as_version=4)
    assert written == assignment.read(NAME, 3)


def test_a_stale_or_leaking_student_version_is_found(tmp_path):
    path = release.write(NAME, 0, tmp_path)
    assert release.problems(NAME, tmp_path) == []
    line = release.secret_lines(source())[-1]
    path.write_text(path.read_text("utf8").replace("YOUR ANSWER HERE", json.dumps(line)[1:-1]), "utf8")
    stale, leak = release.problems(NAME, tmp_path)
    assert "not what its source gives" in stale and line in leak
    assert "there is no" in release.problems(NAME, tmp_path / "elsewhere")[0]


def test_a_page_with_a_hidden_line_is_found(tmp_path):
    lines = release.secret_lines(source(), answers=False)
    line = max(lines, key=len)  # no other one stands in it
    coloured = "".join(f'<span class="n">{html.escape(c)}</span>' for c in line)
    (tmp_path / "page.html").write_text(f"<p>fine</p><pre>{coloured}</pre>", "utf8")
    (tmp_path / "source.ipynb").write_text(json.dumps({"source": line}), "utf8")
    (tmp_path / "other.html").write_text("<p>fine</p>", "utf8")
    assert release.book_leaks(tmp_path) == {"page.html": [line], "source.ipynb": [line]}


def test_what_all_tests_import_is_no_secret():
    lines = [line for name in assignment.names() for line in release.secret_lines(assignment.read(name), answers=False)]
    assert len(lines) > 200 and not [line for line in lines if "course.asserts" in line]
