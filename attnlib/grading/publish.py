"""The course without what gives assignments away, as a folder or as a branch; and that part as a repository of its own.

What stays behind says `.gitattributes` (export-ignore), and `git archive` leaves it out.
"""

import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from attnlib.course.book import ROOT
from attnlib.grading.release import book_leaks

#: Where a tree that is none for students has its sources, and the folder that can be a repository of its own.
SECRET, ASSIGNMENTS = "assignments/source", "assignments"


def git(*command: str, env: dict[str, str] | None = None) -> str:
    """What git answers.

    Raises:
        ValueError: It refuses, in its words.
    """
    done = subprocess.run(
        ["git", *command], cwd=ROOT, env={**os.environ, **(env or {})}, capture_output=True, text=True
    )
    if done.returncode:
        raise ValueError(f"git {command[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def write(folder: Path) -> None:
    """Write the tree of the last commit, as students may have it, into a folder that is new or empty.

    Raises:
        ValueError: The folder holds something, or the tree would give an assignment away: it is then not written.
    """
    _need_empty(folder, "what was published before would stay in it.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        archive, tree = Path(scratch) / "tree.tar", Path(scratch) / "tree"
        git("archive", "--output", str(archive), "HEAD")
        with tarfile.open(archive) as packed:
            packed.extractall(tree, filter="data")
        if found := book_leaks(tree):
            lines = [f"{name}: {line}" for name, hits in found.items() for line in hits[:3]]
            raise ValueError("\n".join(["The tree gives assignments away. Name these in .gitattributes:", *lines]))
        if folder.exists():
            folder.rmdir()
        tree.rename(folder)


def commit(folder: Path, branch: str) -> str:
    """Make a tree the next commit of a branch that has a history of its own, and touch nothing else.

    Returns:
        The commit: the old one when nothing has changed.

    Raises:
        ValueError: The branch holds what students should not have, as `main` does.
    """
    try:
        parent = git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
    except ValueError:
        parent = ""
    if parent and git("ls-tree", parent, SECRET):
        raise ValueError(f"The branch {branch} holds {SECRET}, so it is none for students. Name another.")
    with tempfile.TemporaryDirectory() as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        git("--work-tree", str(folder.resolve()), "add", "--all", "--force", env=index)
        tree = git("write-tree", env=index)
    if parent and git("rev-parse", f"{parent}^{{tree}}") == tree:
        return parent
    source = git("rev-parse", "--short", "HEAD")
    made = git("commit-tree", tree, *(["-p", parent] if parent else []), "-m", f"For students, from {source}")
    git("update-ref", f"refs/heads/{branch}", made, parent)
    return made


def split(folder: Path) -> str:
    """Make the folder of the assignments a repository of its own, with its history.

    Args:
        folder: Where the repository is made; new or empty.

    Returns:
        Its last commit.

    Raises:
        ValueError: The folder holds something, or there are changes in the assignments that are not committed.
    """
    _need_empty(folder, "a repository is made in a folder of its own.")
    if changed := git("status", "--porcelain", "--", ASSIGNMENTS):
        raise ValueError(f"Commit these first, or the new repository lacks them:\n{changed}")
    last = git("subtree", "split", "-q", f"--prefix={ASSIGNMENTS}", "HEAD")
    git("init", "--quiet", "--initial-branch=main", str(folder.resolve()))
    inside = ("-C", str(folder.resolve()))
    git(*inside, "fetch", "--quiet", str(ROOT), last)
    git(*inside, "reset", "--quiet", "--hard", "FETCH_HEAD")
    return git(*inside, "rev-parse", "HEAD")


def _need_empty(folder: Path, why: str) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: {why} Remove it, or name another.")
