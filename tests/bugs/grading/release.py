"""Bugs of one line in attnlib/grading/release.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/release.py", "grading/test_release.py::test_a_page_with_a_hidden_line_is_found",
    ("coloured code holds no secret", 're.sub(r"<[^<>]*>", "", page)', "page"),
) + of(
    "grading/release.py", "grading/test_release.py::test_the_page_of_assignments_follows_their_sources",
    ("texts counted for points", "{sum(written(notebook).values())}", "{len(written(notebook))}"),
) + of(
    "grading/release.py", "grading/test_release.py::test_what_all_tests_import_is_no_secret",
    ("an import that all tests share is a secret", " if not line.startswith(IMPORTS)", ""),
)
