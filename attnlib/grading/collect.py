"""Who handed in what: the export of a course site, or a folder per student; as a folder or as its zip archive."""

import itertools
import re
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from attnlib.grading import exports
from attnlib.grading.exports import CANVAS, COPY, UNREAD, Piece, version
from attnlib.grading.unpack import DEEPEST, LARGEST_OF_ONE, MOST_FILES_OF_ONE, Budget, Refused, unpack


@dataclass
class Handin:
    """What one student handed in.

    Attributes:
        student: The name under which points are given; also that of the feedback folder.
        id: What the course site knows the student by, "" where it does not say.
        file: The notebook that is graded; None when there is none.
        name: What the student called it.
        notes: What a person may want to know, in words.
        problem: Why nothing can be graded, in words; "" when something can.
        system: The course site that it comes from, as `attnlib.grading.exports` calls it; "" for folders.
        origin: The file or the folder as the course site calls it, which is how feedback finds its way back.
        when: When it was handed in, as ISO writes it, "" where the course site does not say.
    """

    student: str
    id: str = ""
    file: Path | None = None
    name: str = ""
    notes: list[str] = field(default_factory=list)
    problem: str = ""
    system: str = ""
    origin: str = ""
    when: str = ""


def collect(submissions: Path, assignment: str, scratch: Path) -> tuple[list[Handin], list[str]]:
    """Find every student's notebook.

    Args:
        submissions: A folder or a zip archive.
        assignment: Its full name, `a04_masked_softmax`; it may stand in file names.
        scratch: An empty folder, into which archives are unpacked.

    Returns:
        The hand-ins, by name of student; and the files that belong to nobody, in words.

    Raises:
        Refused: There is nothing there, or the archive is dangerous.
        ValueError: The export cannot be read.
    """
    if not submissions.exists():
        raise Refused(f"There is no {submissions}.")
    taken = _Taken(scratch)
    top = submissions
    if submissions.is_file():
        if not zipfile.is_zipfile(submissions):
            raise Refused(f"{submissions.name} is neither a folder nor a zip archive.")
        top = unpack(submissions, scratch / "zip", taken.budget)
    pieces, rest, lost = exports.read(top, assignment)
    folders: set[str] = set()
    for path in rest:
        student, name = path.name, ""
        if exports.is_folder(path):
            while tidy(student).lower() in folders:  # two folders are two people, whatever their names
                student = f"{tidy(student)}_2"
            folders.add(tidy(student).lower())
        else:
            student, name = who(path.name, assignment)
        if student:
            pieces.append(Piece(path, student, name=name))
        else:
            lost.append(f"{path.name}: whose is it? Put it into a folder with the student's name.")
    for piece in pieces:
        taken.take(replace(piece, student=tidy(piece.student)))
    handins = _by_student(taken, assignment)
    if not handins and not lost:
        raise Refused(f"Nothing to grade in {submissions}: put each student's notebook into a folder of that name.")
    return handins, lost


def who(name: str, assignment: str) -> tuple[str, str]:
    """The student and the student's own file name, from a name that a person may have made.

    Example:
        >>> who("Jane Doe - a04_masked_softmax (1).ipynb", "a04_masked_softmax")
        ('Jane Doe', 'a04_masked_softmax (1).ipynb')
        >>> who("a04_masked_softmax.ipynb", "a04_masked_softmax")
        ('', 'a04_masked_softmax.ipynb')
    """
    own = re.match(rf"(?P<student>.*?\w)[-_ ]+(?P<name>(?:copy[ _]of[ _])*{assignment}\b.*)", name, re.I)
    return (own["student"], own["name"]) if own and not COPY.match(name) else ("", name)


def tidy(student: str) -> str:
    """A name that is also that of a folder, on every system, and not one above it.

    Example:
        >>> tidy("O'Neil/Späth, A."), tidy("..")
        ('O_Neil_Späth_ A', '_')
    """
    return re.sub(r"[^\w .@+-]", "_", student).strip(" .") or "_"


class _Taken:
    """Every file, with its student, before it is known which of them counts."""

    def __init__(self, scratch: Path):
        self.scratch, self.count = scratch, itertools.count()
        self.budget = Budget("the class")
        self.budgets: dict[tuple[str, str], Budget] = {}
        self.files: list[Piece] = []
        self.broken: dict[tuple[str, str], str] = {}

    def take(self, piece: Piece, depth: int = 0) -> None:
        """Note all files of a student, also those in folders and archives."""
        path, student = piece.path, (piece.student, piece.id)
        piece = replace(piece, name=piece.name or path.name)
        if path.is_symlink():  # into somebody else's folder, perhaps
            self.leave(replace(piece, name=f"{piece.name} (link)"), f"{path.name} is a link, which is not followed")
        elif depth > DEEPEST:
            self.leave(piece, f"{piece.student} has more than {DEEPEST} folders and archives within each other")
        elif path.is_dir():
            for inner in exports.entries(path):
                canvas = CANVAS.fullmatch(inner.name)
                name = (canvas["name"] or "") if canvas else ""
                self.take(replace(piece, path=inner, name=name), depth + 1)
        elif path.suffix.lower() == ".zip":
            budget = self.budgets.setdefault(
                student, Budget(piece.student, LARGEST_OF_ONE, MOST_FILES_OF_ONE, above=self.budget)
            )
            try:
                folder = unpack(path, self.scratch / f"inner{next(self.count)}", budget)
            except Refused as refused:
                self.leave(piece, str(refused))
            else:
                self.take(replace(piece, path=folder, name=""), depth + 1)
        else:
            self.files.append(piece)

    def leave(self, piece: Piece, why: str) -> None:
        """Note a file that is not looked into, and why."""
        self.broken.setdefault((piece.student, piece.id), why)
        self.files.append(replace(piece, path=Path(f"{piece.path}.left")))


def _by_student(taken: _Taken, assignment: str) -> list[Handin]:
    """One hand-in for each student, with the file that counts."""
    numbers: dict[str, set] = {}
    groups: dict[tuple[str, str], list[Piece]] = {}
    for file in taken.files:
        numbers.setdefault(file.student.lower(), set()).add((file.student, file.id))
        groups.setdefault((file.student, file.id), []).append(file)
    handins: dict[str, Handin] = {}
    for (student, number), files in sorted(groups.items()):
        # two people of one name are told apart by what the site says
        name = tidy(f"{student}_{number}") if len(numbers[student.lower()]) > 1 and number else student
        while name.lower() in handins:
            name = f"{name}_2"
        handins[name.lower()] = Handin(name, number, system=files[0].system, origin=files[0].origin)
        _choose(handins[name.lower()], files, taken.broken.get((student, number), ""), assignment)
    return sorted(handins.values(), key=lambda handin: handin.student)


def _choose(handin: Handin, files: list[Piece], broken: str, assignment: str) -> None:
    """Find the file that counts: of the newest hand-in that has a notebook, with the right name, the latest."""
    times = {file.when for file in files}
    notebooks = [file for file in files if file.path.suffix.lower() == ".ipynb"]
    if not notebooks:
        handin.problem = broken or f"no notebook (.ipynb) among: {_some(files)}"
        return
    if unread := sorted(time.strip(f"{UNREAD} ") for time in times if time.startswith(UNREAD) and len(times) > 1):
        handin.problem = (
            f"handed in {len(times)} times, and which is the newest cannot be read from: {'; '.join(unread)}"
        )
        return
    newest = max(file.when for file in notebooks)
    latest = [file for file in notebooks if file.when == newest]
    right = [file for file in latest if version(file.name)[0].lower() == assignment]
    chosen = max(right or latest, key=lambda file: (file.number, version(file.name)[1], file.path.name))
    handin.file, handin.name, handin.origin = chosen.path, chosen.name, chosen.origin
    handin.when = exports.handed_in(chosen)
    if len(times) > 1:
        which = "the newest" if newest == max(times) else "the newest with a notebook"
        handin.notes.append(f"handed in {len(times)} times: graded is {which}")
    if len(latest) > 1:
        others = _some([file for file in latest if file is not chosen])
        handin.notes.append(f"several notebooks: graded is {chosen.name}, not {others}")
    if broken:
        handin.notes.append(broken)


def _some(files: list[Piece]) -> str:
    """Their names, but no more than a person reads."""
    more = f" and {len(files) - 8} more" if len(files) > 8 else ""
    return ", ".join(file.name for file in files[:8]) + more


__all__ = ["Handin", "Refused", "collect", "tidy", "version", "who"]
