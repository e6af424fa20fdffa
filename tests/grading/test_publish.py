"""attnlib/grading/publish.py: a tree for students holds the course, and no secret."""

import os
import re
import subprocess

import pytest

from attnlib.grading import __main__ as command
from attnlib.grading import publish
from attnlib.grading.assignment import SOURCES, names
from attnlib.grading.release import TEXTS, book_leaks

WHO = {f"GIT_{role}_{what}": "a@b.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
SECRET = re.compile(r"assignments/")


def git(*arguments, folder) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """A clone of the repository to write branches into; files may be changed and committed."""
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--local", "--no-hardlinks", str(publish.ROOT), str(clone), folder=tmp_path)
    git("switch", "--quiet", "--create", "course", folder=clone)
    monkeypatch.setattr(publish, "ROOT", clone)
    for name, value in WHO.items():
        monkeypatch.setenv(name, value)
    return clone


@pytest.fixture
def course(whole):
    """The same with less in it, which is read sooner."""
    git("rm", "-r", "--quiet", "attnlib", "book/*.ipynb", "tests/*.py", "tests/bugs", "tests/browser", folder=whole)
    git("checkout", "--quiet", "HEAD", "--", *(f"assignments/{n}" for n in ("source", "answers")), folder=whole)
    git("commit", "--quiet", "--message", "Less", folder=whole)
    return whole


def save(course, path, text) -> None:
    (course / path).parent.mkdir(parents=True, exist_ok=True)
    (course / path).write_text(text, "utf8")
    git("add", path, folder=course)
    git("commit", "--quiet", "--message", path, folder=course)


def files(folder) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.thorough  # the whole course is published
def test_the_tree_is_the_course_without_sources_and_secrets(whole, tmp_path):
    folder = tmp_path / "new" / "student"
    publish.write(folder)
    known = set(git("-c", "core.quotePath=false", "ls-files", folder=whole).splitlines())
    assert files(folder) == {name for name in known if not SECRET.match(name)}
    assert len(known) - len(files(folder)) >= 2 * len(names())
    assert book_leaks(folder) == {}
    not_read = {p.suffix for p in folder.rglob("*") if p.is_file()} - TEXTS
    assert not_read == {"", ".bib", ".cff", ".css", ".sh", ".svg", ".toml", ".typed"}, (
        "could a secret stand in such a file?"
    )
    assert [p.name for p in folder.parent.iterdir()] == ["student"]


@pytest.mark.parametrize(
    "where",
    [
        pytest.param("attnlib/grading/notes.py", marks=pytest.mark.thorough),
        pytest.param("book/grading.md", marks=pytest.mark.thorough),
        "book/15_scaling_up.ipynb",
    ],
)
def test_a_secret_that_stands_somewhere_else_stops_it(where, course, tmp_path):
    source = (SOURCES / f"{names()[3]}.md").read_text("utf8")
    save(course, where, source)
    with pytest.raises(ValueError, match=re.escape(where)):
        publish.write(tmp_path / "student")
    assert not (tmp_path / "student").exists()


def test_known_answers_that_are_not_left_behind_stop_it(course, tmp_path):
    save(course, ".gitattributes", "assignments/source export-ignore\n")
    with pytest.raises(ValueError, match=r"assignments/answers/a\d\d_\w+\.py: "):
        publish.write(tmp_path / "student")


def test_a_folder_with_something_in_it_is_left_alone(course, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert command.main(["publish", "--to", str(tmp_path)]) == command.WRONG_USE
    assert "is not empty" in capsys.readouterr().err
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_branch_grows_by_what_has_changed_and_nothing_else_is_touched(course, tmp_path, capsys):
    main = git("rev-parse", "HEAD", folder=course)
    (course / "untracked.txt").write_text("stays out")
    for n in (1, 2):  # nothing new the second time
        assert command.main(["publish", "--to", str(tmp_path / str(n)), "--branch", "student"]) == command.WELL
    assert "student: " in capsys.readouterr().out
    assert git("rev-list", "--count", "student", folder=course) == "1"
    save(course, "NEWS.md", "News.")
    publish.write(tmp_path / "3")
    publish.commit(tmp_path / "3", "student")
    assert git("rev-list", "--count", "student", folder=course) == "2"
    listed = set(
        git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "student", folder=course).splitlines()
    )
    assert listed == files(tmp_path / "3")
    assert "NEWS.md" in listed and not [name for name in listed if SECRET.match(name)]
    assert git("rev-parse", "HEAD~1", folder=course) == main
    assert git("status", "--porcelain", folder=course) == "?? untracked.txt"


def test_a_branch_with_the_sources_is_refused(course, tmp_path):
    before = git("rev-parse", "HEAD", folder=course)
    publish.write(tmp_path / "student")
    with pytest.raises(ValueError, match="The branch course holds assignments/source"):
        publish.commit(tmp_path / "student", "course")
    assert git("rev-parse", "HEAD", folder=course) == before


def test_git_says_why_it_refuses(course, tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "ROOT", tmp_path / "nothing")
    os.mkdir(tmp_path / "nothing")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(ValueError, match=r"git archive: .*not a git repository"):
        publish.write(tmp_path / "student")


@pytest.mark.thorough  # the whole course is published
def test_the_assignments_become_a_repository_of_their_own(course, tmp_path, capsys):
    """Laid into a published copy, which has none, it makes the course whole again; an address in it leads elsewhere."""
    own, public = tmp_path / "own", tmp_path / "public"
    assert command.main(["private", "--to", str(own)]) == command.WELL
    assert git("rev-parse", "HEAD", folder=own) in capsys.readouterr().out
    assert git("log", "-1", "--format=%s", folder=own) == git(
        "log", "-1", "--format=%s", "--", "assignments", folder=course
    )
    assert not git("remote", folder=own)
    publish.write(public)
    git("clone", "--quiet", str(own), str(public / "assignments"), folder=tmp_path)
    listed = set(git("-c", "core.quotePath=false", "ls-files", folder=course).splitlines())
    assert {name for name in files(public) if not name.startswith("assignments/.git/")} == listed
    for name in names():
        assert (public / "assignments/source" / f"{name}.md").read_text("utf8") == (SOURCES / f"{name}.md").read_text(
            "utf8"
        )


def test_assignments_that_are_not_committed_are_not_split_off(course, tmp_path):
    (course / "assignments/source/a99_new.md").write_text("new")
    with pytest.raises(ValueError, match=r"Commit these first.*\n\?\? assignments/source/a99_new\.md"):
        publish.split(tmp_path / "own")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="full is not empty"):
        publish.split(tmp_path / "full")
