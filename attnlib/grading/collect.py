"""Who handed in what: a folder per student, a folder of files as a course site names them, or its zip archive."""

import re
import shutil
import stat
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

#: More than that, unpacked, is no class's homework.
LARGEST, MOST_FILES, DEEPEST = 2_000_000_000, 20_000, 2
#: A notebook compresses to a tenth; what shrinks to less than a hundredth is made to fill a disk.
DENSEST, DENSE_FROM = 100, 20_000_000

CANVAS = re.compile(r"(?P<student>.+?)_(?:LATE_)?(?P<id>\d+)_(?P<file>\d+)_(?P<name>.+)")
MOODLE = re.compile(r"(?P<student>.+?)_(?P<id>\d+)_assignsubmission_file(?:_.*)?")
COPY = re.compile(r"^(?:copy[ _]of[ _])+", re.I)
#: `-2` of Canvas, ` (2)` and `_(2)` of browsers, ` copy 2` of file managers
AGAIN = re.compile(r"(?:[-_ ]*\((\d+)\)|-(\d+)|[-_ ]copy(?:[-_ ](\d+))?)$", re.I)


@dataclass
class Handin:
    """What one student handed in.

    Attributes:
        student: The name under which points are given; also that of the feedback folder.
        id: The number that the course site knows the student by, "" where there is none.
        file: The notebook that is graded; None when there is none.
        name: What the student called it.
        notes: What a person may want to know, in words.
        problem: Why nothing can be graded, in words; "" when something can.
    """

    student: str
    id: str = ""
    file: Path | None = None
    name: str = ""
    notes: list[str] = field(default_factory=list)
    problem: str = ""


class Refused(ValueError):
    """Why an archive is not unpacked, or a folder not graded, in words."""


@dataclass(frozen=True)
class _Found:
    """One file, before it is known which of a student's files counts."""

    student: str
    id: str
    path: Path
    name: str
    order: tuple = ()


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
    """
    if not submissions.exists():
        raise Refused(f"There is no {submissions}.")
    top = submissions
    if submissions.is_file():
        if not zipfile.is_zipfile(submissions):
            raise Refused(f"{submissions.name} is neither a folder nor a zip archive.")
        top = unpack(submissions, scratch / "zip")
    top = _inside(top)
    found: list[_Found] = []
    lost: list[str] = []
    broken: dict[str, str] = {}
    folders: set[str] = set()
    for entry in _entries(top):
        if entry.is_dir() and not entry.is_symlink():
            student, number, _ = who(entry.name, assignment) if MOODLE.fullmatch(entry.name) else (entry.name, "", "")
            while not number and tidy(student).lower() in folders:  # two folders are two people, whatever their names
                student = f"{tidy(student)}_2"
            folders.add(tidy(student).lower())
            _take(entry, student, number, scratch, found, broken)
        else:
            student, number, name = who(entry.name, assignment)
            if not student:
                lost.append(f"{entry.name}: whose is it? Put it into a folder with the student's name.")
            else:
                _take(entry, student, number, scratch, found, broken, name)
    handins = _by_student(found, broken, assignment)
    if not handins and not lost:
        raise Refused(f"Nothing to grade in {submissions}: put each student's notebook into a folder of that name.")
    return handins, lost


def who(name: str, assignment: str) -> tuple[str, str, str]:
    """The student, the student's number and the student's own file name, from a name that a course site made.

    Example:
        >>> who("doe_jane_LATE_12345_678_a04_masked_softmax-1.ipynb", "a04_masked_softmax")
        ('doe_jane', '12345', 'a04_masked_softmax-1.ipynb')
    """
    if moodle := MOODLE.fullmatch(name):
        return tidy(moodle["student"]), moodle["id"], ""
    if canvas := CANVAS.fullmatch(name):
        return tidy(canvas["student"]), canvas["id"], canvas["name"]
    own = re.match(rf"(?P<student>.*\w)[-_ ]+(?P<name>(?:copy[ _]of[ _])*{assignment}\b.*)", name, re.I)
    if own and not COPY.match(name):
        return tidy(own["student"]), "", own["name"]
    return "", "", name


def tidy(student: str) -> str:
    """A name that is also that of a folder, on every system, and not one above it."""
    return re.sub(r"[^\w .@+-]", "_", student).strip(" .") or "_"


def version(name: str) -> tuple[str, int]:
    """A file name without the marks of copies, and which of several it is.

    Example:
        >>> version("Copy of a04_masked_softmax (1).ipynb")
        ('a04_masked_softmax', 1)
    """
    stem, number = COPY.sub("", PurePosixPath(name).stem), 0
    while again := AGAIN.search(stem):
        number = max(number, int(again[1] or again[2] or again[3] or 1))
        stem = stem[: again.start()]
    return stem, number


def unpack(archive: Path, to: Path) -> Path:
    """Unpack a zip archive, unless it would write elsewhere or fill the disk.

    Raises:
        Refused: It would; or it is broken.
    """
    try:
        with zipfile.ZipFile(archive) as z:
            members = [m for m in z.infolist() if not m.is_dir()]
            size, packed = sum(m.file_size for m in members), sum(m.compress_size for m in members)
            if len(members) > MOST_FILES or size > LARGEST or (size > DENSE_FROM and size > DENSEST * packed):
                raise Refused(
                    f"{archive.name} would unpack to {len(members)} files of {size / 1e6:,.0f} MB together, from "
                    f"{packed / 1e6:,.1f} MB: not unpacked."
                )
            for member in members:
                parts = PurePosixPath(member.filename.replace("\\", "/")).parts
                if not parts or parts[0] == "/" or ".." in parts or ":" in parts[0]:
                    raise Refused(
                        f"{archive.name} holds {member.filename!r}, which would be written elsewhere: refused."
                    )
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise Refused(f"{archive.name} holds a link, {member.filename!r}: refused.")
                if member.flag_bits & 1:
                    raise Refused(f"{archive.name} is locked with a password.")
                path = to.joinpath(*parts)
                while path.exists():  # two members of one name: both are kept
                    path = path.with_name(f"{path.stem}-1{path.suffix}")
                path.parent.mkdir(parents=True, exist_ok=True)
                with z.open(member) as packed_file, path.open("wb") as file:
                    shutil.copyfileobj(packed_file, file)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
        raise Refused(f"{archive.name} cannot be unpacked: {error}") from error
    to.mkdir(parents=True, exist_ok=True)
    return to


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, without what file managers leave there."""
    return sorted(p for p in folder.iterdir() if not p.name.startswith((".", "__MACOSX")))


def _inside(folder: Path) -> Path:
    """Archives often hold one folder that holds everything; a student's folder holds files alone."""
    while len(only := _entries(folder)) == 1 and only[0].is_dir() and all(p.is_dir() for p in _entries(only[0])):
        if not _entries(only[0]):
            break
        folder = only[0]
    entries = _entries(folder)
    if len(entries) == 1 and entries[0].is_dir() and any(CANVAS.fullmatch(p.name) for p in _entries(entries[0])):
        return entries[0]
    return folder


def _take(
    path: Path, student: str, number: str, scratch: Path, found: list, broken: dict, name: str = "", depth: int = 0
):
    """Note all files of a student, also those in folders and archives."""
    student, name = tidy(student), name or path.name
    if path.is_symlink():  # into somebody else's folder, perhaps
        broken[student] = f"{path.name} is a link, which is not followed"
        found.append(_Found(student, number, path, f"{name} (link)"))
    elif path.is_dir():
        for inner in _entries(path):
            canvas = CANVAS.fullmatch(inner.name)
            _take(inner, student, number, scratch, found, broken, canvas["name"] if canvas else "", depth)
    elif path.suffix.lower() == ".zip" and depth < DEEPEST:
        try:
            folder = unpack(path, scratch / f"inner{sum(1 for _ in scratch.glob('inner*'))}")
            _take(folder, student, number, scratch, found, broken, depth=depth + 1)
        except Refused as refused:
            broken[student] = str(refused)
            found.append(_Found(student, number, path, name))
    else:
        canvas = CANVAS.fullmatch(path.name)
        order = (int(canvas["file"]) if canvas else 0, version(name)[1], path.name)
        found.append(_Found(student, number, path, name, order))


def _by_student(found: list[_Found], broken: dict[str, str], assignment: str) -> list[Handin]:
    """One hand-in for each student, with the file that counts."""
    numbers: dict[str, set] = {}
    for f in found:
        numbers.setdefault(f.student, set()).add(f.id)
    groups: dict[str, list[_Found]] = {}
    for f in found:  # two people of one name are told apart by their numbers
        groups.setdefault(f"{f.student}_{f.id}" if len(numbers[f.student]) > 1 else f.student, []).append(f)
    handins = []
    for student, files in sorted(groups.items()):
        notebooks = [f for f in files if f.path.suffix.lower() == ".ipynb" and not f.path.is_symlink()]
        if not notebooks:
            names = ", ".join(f.name for f in files)
            problem = broken.get(files[0].student) or f"no notebook (.ipynb) among: {names}"
            handins.append(Handin(student, files[0].id, problem=problem))
            continue
        right = [f for f in notebooks if version(f.name)[0].lower() == assignment]
        chosen = max(right or notebooks, key=lambda f: f.order)
        notes = []
        if len(notebooks) > 1:
            others = ", ".join(f.name for f in notebooks if f is not chosen)
            notes.append(f"several notebooks: graded is {chosen.name}, not {others}")
        if files[0].student in broken:
            notes.append(broken[files[0].student])
        handins.append(Handin(student, chosen.id, chosen.path, chosen.name, notes))
    return handins
