"""Bugs of one line in attnlib/grading/desk/store.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/store.py",
    "grading/test_desk.py::test_changes_of_different_entries_merge_and_of_one_entry_conflict",
    ("last one wins", "if change.seen != (old.revision if old else 0):", "if False:"),
    ("revision of the file", "(old.revision if old else 0):", "sequence:"),
    ("same decision is a conflict", "if (old.value if old else None) == value:", "if False:"),
    ("one conflict stops all", "conflicts.append(change.key)\n                continue",
     "conflicts.append(change.key)\n                break"),
    ("numbers start anew", 'self.sequence = kept["sequence"]', "self.sequence = 0"),
    ("what was seen comes again", "if entry.at > sequence}", "if entry.at >= sequence}"),
) + of(
    "grading/desk/store.py", "grading/test_desk.py::test_a_file_is_written_whole_or_not_at_all",
    ("said to be saved before it is", "entries, sequence, conflicts = dict(self.entries), self.sequence, []",
     "entries, sequence, conflicts = self.entries, self.sequence, []"),
) + of(
    "grading/desk/store.py", "grading/test_desk.py::test_a_value_that_is_refused_changes_nothing",
    ("nothing is checked", "(change, check(change.key, change.value))", "(change, change.value)"),
) + of(
    "grading/desk/store.py",
    "grading/test_desk.py::test_one_desk_at_a_time_and_no_file_is_overwritten_that_cannot_be_read",
    ("two desks on one file", "self.lock.acquire(timeout=0)", "pass"),
    ("other formats are read", 'if kept["format"] != FORMAT:', "if False:"),
    ("lock stays", "self.lock.release()", "pass"),
)
