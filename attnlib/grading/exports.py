"""Exports of course sites: which file is whose, and which hand-in is the newest.

Each reader knows one layout, and takes what it recognises; no option says which site it was.

canvas
    Files in one folder: `doejane_12345_67890_a04.ipynb`, the numbers of the student and of the file; with `LATE` before
    them when late; `LATE_anon_AbC12_67890_a04.ipynb` while grading is anonymous; `…_12345_text.html` for a text.
    A second upload is called `a04-1.ipynb`. From lib/content_zipper.rb and `infer_comment_context_from_filename` of
    github.com/instructure/canvas-lms.
moodle
    A folder `Jane Doe_123456_assignsubmission_file_` for each student (without the last `_` since Moodle 4.1), beside
    `…_assignsubmission_onlinetext_/onlinetext.html`; or files whose names begin so. The number is that of the
    participant. From mod/assign of github.com/moodle/moodle.
gradescope
    `assignment_1_export/submission_2/…` with `submission_metadata.yml`, which names the students of each folder, and
    when. From programs that read it; Gradescope publishes no description.
blackboard
    `Homework 4_jdoe_attempt_2026-11-02-10-43-11_a04.ipynb`, and a text file for each attempt that ends after the
    time. From plugins/zipcollect.py of github.com/jupyter/nbgrader and programs that read the text files.
brightspace
    `12345-67890 - Jane Doe - Nov 2, 2026 1043 AM - a04.ipynb`, or a folder that ends after the time; `index.html`
    lists them. From programs that read it; D2L publishes no description, also not of the two numbers.
teams
    `Submitted files/Jane Doe/Homework 4/Version 2/a04.ipynb`, beside `Working files`, which are drafts. From
    programs that read the folders of a class in SharePoint.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import yaml

MOODLE = re.compile(r"(?P<student>.+?)_(?P<id>\d+)_assignsubmission_(?P<plugin>[a-z0-9]+)(?:_(?P<name>.*))?")
BLACKBOARD = re.compile(r"(?P<head>.+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<name>.+)|\.txt)")
BRIGHTSPACE = re.compile(r"(?P<a>\d+)-(?P<b>\d+) - (?P<student>.+?) - (?P<when>[^-]*\d{4}[^-]*?)(?: - (?P<name>.+))?")
CANVAS = re.compile(r"(?P<student>.+?)_(?:LATE_)?(?P<id>\d+)_(?:(?P<file>\d+)_(?P<name>.+)|(?:text|link)\.html)")
ANONYMOUS = re.compile(
    r"(?:LATE_)?(?P<student>anon_(?P<id>[0-9A-Za-z]+))_(?:(?:\d+_(?=\d+_))?(?P<file>\d+)_(?P<name>.+)|(?:text|link)\.html)"
)
VERSION = re.compile(r"vers\w*[ _](\d+)", re.I)
SUBMITTED, WORKING = "submitted files", "working files"
#: Brightspace writes a time without its colon.
TIMES = ("%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p", "%d %B, %Y %H%M", "%d %b, %Y %H%M")
#: Stands before a time that cannot be read.
UNREAD = "?"
COPY = re.compile(r"^(?:copy[ _]of[ _])+", re.I)
#: `-2` of Canvas, ` (2)` and `_(2)` of browsers, ` copy 2` of file managers
AGAIN = re.compile(r"(?:[-_ ]*\((\d+)\)|-(\d+)|[-_ ]copy(?:[-_ ](\d+))?)$", re.I)


@dataclass(frozen=True)
class Piece:
    """A file or a folder of an export, and whose it is.

    Attributes:
        path: Where it lies.
        student: The name that the site gives.
        id: What the site knows the student by; "" where it does not say.
        name: What the student called the file; "" for a folder.
        when: Which hand-in it belongs to; those of later ones sort behind.
        number: Of two files of one hand-in with the same name, the later one has the higher number.
        work: The assignment, where the export has several.
        system: The reader that took it.
        origin: The file or the folder as the export calls it.
    """

    path: Path
    student: str
    id: str = ""
    name: str = ""
    when: str = ""
    number: int = 0
    work: str = ""
    system: str = ""
    origin: str = ""


def entries(folder: Path) -> list[Path]:
    """What lies in a folder, without what file managers leave there."""
    return sorted(p for p in folder.iterdir() if not p.name.startswith((".", "__MACOSX")))


def is_folder(path: Path) -> bool:
    """A folder, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def moodle(found: list[Path]) -> dict[Path, list[Piece]]:
    """Files and folders of Moodle."""
    taken = {}
    for path in found:
        if match := MOODLE.fullmatch(path.name):
            taken[path] = [Piece(path, match["student"], match["id"], match["name"] or "")]
    return taken


def blackboard(found: list[Path]) -> dict[Path, list[Piece]]:
    """Files of Blackboard. A user's name may have an underscore, as that of the assignment: the text file says it."""
    files = [path for path in found if path.is_file() and not path.is_symlink()]
    matches = {path: match for path in files if (match := BLACKBOARD.fullmatch(path.name))}
    users = {}
    for path, match in matches.items():
        if match["name"] is None:
            with path.open("rb") as file:
                text = file.read(2000).decode("utf8", "replace")
            if (said := re.search(r"^Name: .*\(([^()\n]+)\)\s*$", text, re.M)) and match["head"].endswith(
                f"_{said[1]}"
            ):
                users[match["head"]] = said[1]
    taken = {}
    for path, match in matches.items():
        user = users.get(match["head"], match["head"].rpartition("_")[2])
        taken[path] = [Piece(path, user, user, match["name"] or path.name, match["when"])]
    return taken


def brightspace(found: list[Path]) -> dict[Path, list[Piece]]:
    """Files and folders of Brightspace.

    One of the two numbers belongs to the assignment and is the same everywhere; the other one belongs to the student.
    Where neither is the same, students are told apart by their names.
    """
    matches = {path: match for path in found if (match := BRIGHTSPACE.fullmatch(path.name))}
    of_all = [number for number in "ab" if len({match[number] for match in matches.values()}) == 1]
    own = {"a": "b", "b": "a"}[of_all[0]] if len(of_all) == 1 else ""
    taken = {}
    for path, match in matches.items():
        number = match[own] if own else ""
        taken[path] = [Piece(path, match["student"], number, match["name"] or "", moment(match["when"]))]
    if taken:
        taken |= {path: [] for path in found if path.name == "index.html"}
    return taken


def moment(words: str) -> str:
    """A time in a file name, so that later ones sort behind; behind `UNREAD` when it is in another language.

    Example:
        >>> moment("Nov 2, 2026 1043 AM"), moment("Nov 2, 2026 142 PM")
        ('2026-11-02T10:43:00', '2026-11-02T13:42:00')
    """
    words = " ".join(words.split())
    padded = re.sub(r"(?<= )(\d{3})(?= [AP]M|$)", r"0\1", words)
    for form in TIMES:
        try:
            return datetime.strptime(padded, form).isoformat()
        except ValueError:
            continue
    return f"{UNREAD} {words}"


def handed_in(piece: Piece) -> str:
    """When a file was handed in, as ISO writes it, with the zone where the site names one; "" where it says nothing.

    Example:
        >>> handed_in(Piece(Path("a"), "jane", when="2026-11-02-10-43-11", system="blackboard"))
        '2026-11-02T10:43:11'
        >>> handed_in(Piece(Path("a"), "jane", when="2026-11-02 10:43:11", system="gradescope"))
        '2026-11-02T10:43:11+00:00'
    """
    forms = {"blackboard": "%Y-%m-%d-%H-%M-%S", "brightspace": "%Y-%m-%dT%H:%M:%S", "gradescope": "%Y-%m-%d %H:%M:%S%z"}
    said = f"{piece.when.split('.')[0]}+0000" if piece.system == "gradescope" else piece.when
    try:
        return datetime.strptime(said, forms[piece.system]).isoformat()
    except (KeyError, ValueError):
        return ""


def canvas(found: list[Path]) -> dict[Path, list[Piece]]:
    """Files of Canvas."""
    taken = {}
    for path in found:
        match = ANONYMOUS.fullmatch(path.name) or CANVAS.fullmatch(path.name)
        if match and not is_folder(path):
            name, number = match["name"] or path.name, int(match["file"] or 0)
            taken[path] = [Piece(path, match["student"], match["id"], name, number=number)]
    return taken


def gradescope(found: list[Path]) -> dict[Path, list[Piece]]:
    """Folders of Gradescope; what two have handed in together belongs to both.

    Raises:
        ValueError: `submission_metadata.yml` cannot be read.
    """
    files = {path.name: path for path in found}
    if not (said := files.get("submission_metadata.yml")):
        return {}
    try:
        known = yaml.load(said.read_text("utf8"), _Plain) or {}
        taken: dict[Path, list[Piece]] = {said: []}
        for key, about in known.items():
            path = files.get(str(key), said)
            name = f"{key}, which is not in the export" if path == said else ""
            for who in about.get(":submitters") or []:
                student, number = who.get(":name") or who.get(":email"), who.get(":sid") or who.get(":email") or ""
                piece = Piece(path, str(student), str(number), name, _sortable(about.get(":created_at")))
                taken.setdefault(path, []).append(piece)
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise ValueError(f"submission_metadata.yml of Gradescope cannot be read: {error}") from error
    return taken


class _Plain(yaml.SafeLoader):
    """Reads what Ruby writes: its objects count for nothing, and are left out."""


_Plain.add_multi_constructor("!", lambda loader, tag, node: None)


def _sortable(time) -> str:
    if isinstance(time, datetime) and time.tzinfo:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return str(time or "")


def teams(found: list[Path]) -> dict[Path, list[Piece]]:
    """Folders of students in Teams, where each hand-in is a folder `Version 2`."""
    taken = {}
    for folder in filter(is_folder, found):
        works = [work for work in entries(folder) if is_folder(work)]
        if any(is_folder(inner) and VERSION.fullmatch(inner.name) for work in works for inner in entries(work)):
            pieces = []
            for work in entries(folder):
                for inner in entries(work) if is_folder(work) else [work]:
                    version = VERSION.fullmatch(inner.name) if is_folder(inner) else None
                    when = f"version {int(version[1]):05d}" if version else ""
                    pieces.append(Piece(inner, folder.name, when=when, work=work.name if version else ""))
            taken[folder] = pieces
    return taken


#: In the order in which they are asked: names of one may look like those of another that comes later.
READERS: dict[str, Callable[[list[Path]], dict[Path, list[Piece]]]] = {
    "gradescope": gradescope,
    "moodle": moodle,
    "blackboard": blackboard,
    "brightspace": brightspace,
    "canvas": canvas,
    "teams": teams,
}


def read(folder: Path, assignment: str) -> tuple[list[Piece], list[Path], list[str]]:
    """Find the export in a folder.

    Args:
        folder: It, or one that holds it alone, as archives do.
        assignment: The full name of the assignment, where the export holds several.

    Returns:
        What the readers know; what they do not know; and what is nobody's, in words.

    Raises:
        ValueError: It cannot be read, in words.
    """
    lone, lost = folder, []
    while True:
        inside = entries(lone)
        names = {path.name.lower(): path for path in inside if is_folder(path)}
        if submitted := names.get(SUBMITTED):
            inside = entries(submitted)
            lost = _drafts(names.get(WORKING), {path.name for path in inside})
        pieces, rest = _asked(inside)
        if pieces or submitted:
            return _of(assignment, pieces), *_left(rest, pieces, lost)
        if len(inside) != 1 or not is_folder(inside[0]):
            break
        lone = inside[0]
    while len(only := entries(folder)) == 1 and is_folder(only[0]) and (inside := entries(only[0])):
        if not all(map(is_folder, inside)):
            break
        folder = only[0]
    return [], entries(folder), []


def _asked(found: list[Path]) -> tuple[list[Piece], list[Path]]:
    """What the readers take, in turn, and what none of them does."""
    pieces, rest = [], found
    for system, reader in READERS.items():
        taken = reader(rest)
        for path, mine in taken.items():
            pieces += [replace(piece, system=system, origin=path.name) for piece in mine]
        rest = [path for path in rest if path not in taken]
    return pieces, rest


def _of(assignment: str, pieces: list[Piece]) -> list[Piece]:
    """Of several assignments the one of which somebody has handed in the notebook, under its name."""
    works = sorted({piece.work for piece in pieces} - {""})
    if len(works) < 2:
        return pieces
    named = {
        p.work for p in pieces if is_folder(p.path) and assignment in {version(f.name)[0] for f in entries(p.path)}
    }
    if len(named) != 1:
        raise ValueError(
            f"There are several assignments: {', '.join(works)}. Which one is {assignment}? Give a folder that holds "
            "it alone."
        )
    return [piece for piece in pieces if piece.work in named]


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


def _left(rest: list[Path], pieces: list[Piece], lost: list[str]) -> tuple[list[Path], list[str]]:
    """Beside Gradescope's folders nothing is a student's; elsewhere a folder may be."""
    if any(piece.system == "gradescope" for piece in pieces):
        return [], [*lost, *(f"{path.name}: submission_metadata.yml does not name it" for path in rest)]
    return rest, lost


def _drafts(working: Path | None, handed_in: set[str]) -> list[str]:
    """Students of Teams who have a notebook among their drafts, and have handed in nothing."""
    folders = [path for path in (entries(working) if working else []) if is_folder(path) and path.name not in handed_in]
    return [
        f"{working.name}/{path.name}: a draft that was not handed in" for path in folders if any(path.rglob("*.ipynb"))
    ]
