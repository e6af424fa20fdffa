"""A variant of an assignment for each student, and the manifest that says who has which.

A class has one secret word. From it and from what a student is called follows the seed of the student's variant. So
the hand-outs can be made again at any time, and nobody can work out what somebody else was given.
"""

import csv
import hashlib
import io
from pathlib import Path

from attnlib.grading import assignment
from attnlib.grading.assignment import choose, values
from attnlib.grading.collect import tidy
from attnlib.grading.release import write as write_handout
from attnlib.grading.report import dialect

#: The file beside the hand-outs.
MANIFEST = "manifest.csv"


def seed_of(name: str, secret: str, student: str) -> int:
    """The seed of a student's variant: never 0, which is the published one.

    Args:
        name: Full name of the assignment.
        secret: The word of the class.
        student: What the course site calls the student.

    Example:
        >>> seed_of("a04_masked_softmax", "cedar", "Jane Doe") == seed_of("a04_masked_softmax", "cedar", "Jane Doe")
        True
    """
    digest = hashlib.blake2b("\0".join([name, secret, student]).encode(), digest_size=4).digest()
    return 1 + int.from_bytes(digest, "big")


def read_roster(path: Path) -> list[str]:
    """The students of a class: the column `student` of a CSV file, or its first one.

    Raises:
        ValueError: Nobody stands there, a line has no name, or two lines would be one folder.
    """
    text = path.read_text("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text), dialect=dialect(text)))
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    column, first = (head.index("student"), 1) if "student" in head else (0, 0)
    students: dict[str, str] = {}
    for line, row in enumerate(rows[first:], start=first + 1):
        if not any(cell.strip() for cell in row):
            continue
        student = row[column].strip() if column < len(row) else ""
        if not student:
            raise ValueError(f"{path.name}, line {line}: no name stands there.")
        folder = tidy(student).lower()
        if folder in students:
            raise ValueError(f"{path.name}, line {line}: {student!r} and {students[folder]!r} would share a folder.")
        students[folder] = student
    if not students:
        raise ValueError(f"{path.name}: nobody stands there.")
    return list(students.values())


def write(which: str, students: list[str], secret: str, folder: Path) -> list[Path]:
    """Write a hand-out for each student, `FOLDER/student/NAME.ipynb`, and the manifest.

    Raises:
        ValueError: The secret is empty, or the assignment has no variants.
    """
    name = choose(which)
    if not secret:
        raise ValueError("The secret of the class is empty: with it anybody could work out every variant.")
    if not assignment.variants(name):
        raise ValueError(f"{name} has no variants: nothing in its source varies.")
    written, rows = [], []
    for student in students:
        seed = seed_of(name, secret, student)
        written.append(write_handout(name, seed, folder / tidy(student)))
        rows.append([student, name, seed, "; ".join(f"{k.strip('@')} {v}" for k, v in values(name, seed).items())])
    path = folder / MANIFEST
    with path.open("w", encoding="utf8", newline="") as file:
        csv.writer(file).writerows([["student", "assignment", "seed", "variant"], *rows])
    return [*written, path]


def read_manifest(path: Path, which: str) -> dict[str, int]:
    """`{student: seed}` of an assignment.

    Raises:
        ValueError: It is no manifest, or of other assignments; or a seed is none.
    """
    text = path.read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text), dialect=dialect(text)))
    if not rows or not {"student", "assignment", "seed"} <= set(rows[0]):
        raise ValueError(f"{path.name}: a manifest has the columns student, assignment and seed.")
    found: dict[str, int] = {}
    for line, row in enumerate(rows, start=2):
        if row["assignment"] == choose(which):
            if not row["seed"].isdecimal() or not int(row["seed"]):
                raise ValueError(f"{path.name}, line {line}: {row['seed']!r} is no seed of a variant.")
            found[row["student"]] = int(row["seed"])
    if not found:
        names = sorted({row["assignment"] for row in rows})
        raise ValueError(f"{path.name} is a manifest of {', '.join(names)}, not of {choose(which)}.")
    return found
