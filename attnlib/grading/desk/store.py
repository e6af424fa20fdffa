"""What people decide at the desk: entries with revisions, in one file that is written after every change.

An entry is one cell of data, such as the grade of one student in one question. A change names the revision that its
author has seen. If the entry has moved on, the change is a conflict: nothing is overwritten, and both values go back
to the page. So two browsers can work at once, and what they change in different entries is merged.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from attnlib.grading.desk.kept import write_whole

FORMAT = 1


@dataclass(frozen=True)
class Entry:
    """The present value of one cell of data.

    Attributes:
        revision: How often it was changed; 0 stands for an entry that was never written.
        at: The number of the change, counted over the whole file, that made it what it is.
        value: What was decided.
    """

    revision: int
    at: int
    value: dict


@dataclass(frozen=True)
class Change:
    """What somebody wants to write.

    Attributes:
        key: Which entry.
        seen: The revision that this person had before them.
        value: The new value.
    """

    key: str
    seen: int
    value: dict


class Store:
    """All entries, kept in a file that one process at a time may hold.

    Args:
        path: The file; it need not be there yet.

    Raises:
        ValueError: Another desk holds the file, or it cannot be read; in words.
    """

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = FileLock(path.with_name(path.name + ".lock"))
        try:
            self.lock.acquire(timeout=0)
        except Timeout:
            raise ValueError(
                f"Another desk is open on {path}. Open its address in a second browser: one desk serves several."
            ) from None
        self.sequence = 0
        self.entries: dict[str, Entry] = {}
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        if not self.path.exists():
            return
        try:
            kept = json.loads(self.path.read_text("utf8"))
            if kept["format"] != FORMAT:
                raise ValueError(f"its format is {kept['format']}, and this desk reads {FORMAT}")
            self.sequence = kept["sequence"]
            self.entries = {key: Entry(**entry) for key, entry in kept["entries"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{self.path} cannot be read, and is left as it is: {error}") from error

    def get(self, key: str) -> dict:
        """The value of an entry, `{}` where nothing was written."""
        entry = self.entries.get(key)
        return entry.value if entry else {}

    def under(self, prefix: str) -> dict[str, dict]:
        """`{rest of the key: value}` of all entries whose key begins so."""
        return {key[len(prefix) :]: entry.value for key, entry in self.entries.items() if key.startswith(prefix)}

    def since(self, sequence: int) -> dict[str, Entry]:
        """The entries that have changed after the change with this number."""
        return {key: entry for key, entry in self.entries.items() if entry.at > sequence}

    def change(self, changes: list[Change], check: Callable[[str, dict], dict]) -> tuple[dict[str, Entry], list[str]]:
        """Write what can be written, and say which keys are in conflict.

        Args:
            changes: Each for an entry of its own.
            check: Called with key and value before anything is written; it returns what is to be stored, or raises.

        Returns:
            The present entries of all keys that were named; and those of them in which somebody else was faster and
            decided differently.

        Raises:
            ValueError: A value cannot be; then nothing is written.
            OSError: The file cannot be written; then nothing has changed.
        """
        checked = [(change, check(change.key, change.value)) for change in changes]
        entries, sequence, conflicts = dict(self.entries), self.sequence, []
        for change, value in checked:
            old = entries.get(change.key)
            if (old.value if old else None) == value:
                continue  # both have decided the same
            if change.seen != (old.revision if old else 0):
                conflicts.append(change.key)
                continue
            sequence += 1
            entries[change.key] = Entry(change.seen + 1, sequence, value)
        if sequence != self.sequence:
            kept = {key: asdict(entry) for key, entry in entries.items()}
            write_whole(self.path, json.dumps({"format": FORMAT, "sequence": sequence, "entries": kept}))
            self.entries, self.sequence = entries, sequence  # only what lies in the file is said to be saved
        return {change.key: entries.get(change.key, Entry(0, 0, {})) for change in changes}, conflicts

    def close(self) -> None:
        """Let another desk have the file."""
        self.lock.release()
