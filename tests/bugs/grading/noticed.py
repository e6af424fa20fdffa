"""Bugs of one line in attnlib/grading/noticed.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/noticed.py", "grading/test_examiner.py",
    ("what is given out counts as written", 'if not {line.strip(), line.strip().lstrip("# ")} & given', "if True",
     "test_a_text_in_another_cell_is_found"),
    ("names that are asked for are taken for renamed", "        if other in asked:\n", "        if False:\n",
     "test_a_function_that_was_renamed_is_found"),
)
