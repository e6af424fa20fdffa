"""Zip archives, unpacked: never outside their folder, and within limits that hold for all archives in sum.

A few kilobytes of archives in archives can fill a disk, and each of them looks harmless. What counts is what they write
together: a student's archives, however they are nested, have one `Budget`, and it spends from that of the class.
"""

import shutil
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: Bytes and files that all archives of a class may write together.
LARGEST, MOST_FILES = 2_000_000_000, 20_000
#: Bytes and files that the archives of one student may write together.
LARGEST_OF_ONE, MOST_FILES_OF_ONE = 200_000_000, 2_000
#: Folders and archives within each other; nobody's homework has more.
DEEPEST = 40


class Refused(ValueError):
    """Why an archive is not unpacked, or a folder not graded, in words."""


@dataclass
class Budget:
    r"""How much the archives of somebody may still write.

    Attributes:
        whose: In words.
        size: Bytes.
        files: Files.
        above: The budget that this one is part of.

    Example:
        >>> everybody = Budget("the class", 3_000_000, 100)
        >>> ann = Budget("ann", 2_000_000, 10, above=everybody)
        >>> ann.spend("a.zip", 1_500_000, 1)
        >>> print(ann.refusal(1_500_000, 1).replace(", ", ",\n"))
        the archives of ann may write no more than 2 MB in 10 files together,
        of which 0.5 MB in 9 files are left.
    """

    whose: str
    size: int = LARGEST
    files: int = MOST_FILES
    above: "Budget | None" = None

    def __post_init__(self):
        self.spent_size = self.spent_files = 0

    def refusal(self, size: int, files: int) -> str:
        """Why so much cannot be written, in words; "" when it can."""
        left_size, left_files = self.size - self.spent_size, self.files - self.spent_files
        if size <= left_size and files <= left_files:
            return self.above.refusal(size, files) if self.above else ""
        return (
            f"the archives of {self.whose} may write no more than {_amount(self.size, self.files)} together, of which "
            f"{_amount(left_size, left_files)} are left."
        )

    def spend(self, archive: str, size: int, files: int) -> None:
        """Take what an archive is about to write.

        Raises:
            Refused: That is more than is left; nothing is taken.
        """
        if why := self.refusal(size, files):
            of = f" of {self.whose}" if self.above else ""
            raise Refused(f"{archive}{of} is not unpacked: it would write {_amount(size, files)}, and {why}")
        budget: Budget | None = self
        while budget:
            budget.spent_size += size
            budget.spent_files += files
            budget = budget.above


def _amount(size: int, files: int) -> str:
    return f"{size / 1e6:,.4g} MB in {files:,} file{'s' * (files != 1)}"


def unpack(archive: Path, to: Path, budget: Budget) -> Path:
    """Unpack a zip archive, unless it would write elsewhere or too much.

    Raises:
        Refused: It would; or it is broken.
    """
    try:
        with zipfile.ZipFile(archive) as z:
            members = [m for m in z.infolist() if not m.is_dir()]
            budget.spend(archive.name, sum(m.file_size for m in members), len(members))
            for member in members:
                path = to.joinpath(*_parts(member, archive.name))
                while path.exists():  # two members of one name: both are kept
                    path = path.with_name(f"{path.stem}-1{path.suffix}")
                path.parent.mkdir(parents=True, exist_ok=True)
                with z.open(member) as packed, path.open("wb") as file:  # it yields no more than `file_size`
                    shutil.copyfileobj(packed, file)
    except Refused:
        raise
    except Exception as error:  # also those of zlib, lzma and struct: no archive may end the command
        raise Refused(f"{archive.name} cannot be unpacked: {error}") from error
    to.mkdir(parents=True, exist_ok=True)
    return to


def _parts(member: zipfile.ZipInfo, archive: str) -> tuple[str, ...]:
    """The folders and the name of a member that may be written."""
    parts = PurePosixPath(member.filename.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or ":" in parts[0]:
        raise Refused(f"{archive} holds {member.filename!r}, which would be written elsewhere: refused.")
    if len(parts) > DEEPEST:
        raise Refused(f"{archive} has more than {DEEPEST} folders within each other: refused.")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise Refused(f"{archive} holds a link, {member.filename!r}: refused.")
    if member.flag_bits & 1:
        raise Refused(f"{archive} is locked with a password.")
    return parts
