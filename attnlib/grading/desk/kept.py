"""A graded class as a file of the course folder: `grade` leaves it there, and the desk reads it."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import nbformat

from attnlib.grading.collect import Handin
from attnlib.grading.grade import Class
from attnlib.grading.work import Result

FILE = "class.json"


def keep(graded: Class, folder: Path) -> Path:
    """Write a class, with its notebooks, into `folder/ASSIGNMENT/class.json`; return that path."""
    about = {
        "name": graded.name,
        "source": nbformat.writes(graded.source),
        "release": nbformat.writes(graded.release),
        "handins": [asdict(handin) | {"file": str(handin.file or "")} for handin in graded.handins],
        "results": {student: asdict(result) for student, result in graded.results.items()},
        "lost": graded.lost,
        "seconds": graded.seconds,
    }
    path = folder / graded.name / FILE
    write_whole(path, json.dumps(about))
    return path


def load(name: str, folder: Path) -> Class:
    """Read what `keep` has written for an assignment.

    Raises:
        ValueError: There is no such file, or it cannot be read; in words.
    """
    path = folder / name / FILE
    if not path.exists():
        raise ValueError(
            f"There is no {path}: grade the class first, with "
            f"`grade {name.split('_')[0]} SUBMISSIONS --course {folder}`."
        )
    try:
        about = json.loads(path.read_text("utf8"))
        return Class(
            about["name"],
            nbformat.reads(about["source"], as_version=4),
            nbformat.reads(about["release"], as_version=4),
            [Handin(**{**one, "file": Path(one["file"]) if one["file"] else None}) for one in about["handins"]],
            {student: Result(**one) for student, one in about["results"].items()},
            about["lost"],
            about["seconds"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} cannot be read ({type(error).__name__}: {error}): grade the class again.") from error


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it, also after a power cut, finds the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
