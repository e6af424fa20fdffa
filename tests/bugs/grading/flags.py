"""Bugs of one line in attnlib/grading/flags.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/flags.py", "grading/test_flags.py::test_honest_code_is_not",
    ("own function taken for a built-in one", "isinstance(node.ctx, ast.Load) and node.id not in bound",
     "isinstance(node.ctx, ast.Load)"),
) + of(
    "grading/flags.py", "grading/test_flags.py::test_a_cell_of_the_students_own_is_called_by_its_number",
    ("cells counted from 0", "enumerate(notebook.cells, 1)", "enumerate(notebook.cells)"),
)
