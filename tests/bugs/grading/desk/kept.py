"""Bugs of one line in attnlib/grading/desk/kept.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/kept.py", "grading/test_desk.py::test_a_file_is_written_whole_or_not_at_all",
    ("file is written in place", 'partial = path.with_name(path.name + ".partial")', "partial = path"),
) + of(
    "grading/desk/kept.py", "grading/test_desk.py::test_a_class_is_kept_as_it_is",
    ("who has handed in no file", 'if one["file"] else None', 'or None'),
    ("solutions are kept in place of what students got", "nbformat.writes(graded.release)",
     "nbformat.writes(graded.source)"),
    ("part of a file is left", "partial.replace(path)", "path.write_text(text)"),
    ("file that cannot be read is a crash", "except (ValueError, KeyError, TypeError) as error:",
     "except ValueError as error:"),
)
