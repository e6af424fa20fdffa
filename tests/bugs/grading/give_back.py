"""Bugs of one line in attnlib/grading/give_back.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/give_back.py", "grading/test_give_back.py::test_the_worksheet_of_moodle_is_filled_in_and_the_rest_stays",
    ("text that is not read is no points", "elif result.status != GRADED:", "elif total(result) is None:"),
    ("comment is HTML", "html.escape(comment, quote=False)", "comment"),
    ("byte order mark is part of the first column", '"utf-8-sig"', '"utf-8"'),
) + of(
    "grading/give_back.py", "grading/test_give_back.py::test_moodle_finds_the_student_of_each_page",
    ("folder without its last underscore", "_assignsubmission_file_/", "_assignsubmission_file/"),
    ("page under the name for folders", "{match['student']}_{match['id']}", "{handin.student}_{match['id']}"),
) + of(
    "grading/give_back.py", "grading/test_give_back.py::test_the_gradebook_of_canvas_changes_in_one_column",
    ("all columns go back", "kept = [*range(first), named[0]]", "kept = [*range(first), *works]"),
    ("who is not in the table is not said", "absent.append(handin.student)\n        elif", "pass\n        elif"),
) + of(
    "grading/give_back.py", "grading/test_give_back.py::test_canvas_finds_the_student_and_the_file_of_each_page",
    ("page that Canvas calls a notebook", '_notebook(page) if own == ".ipynb" else', "page if own == '.ipynb' else"),
) + of(
    "grading/give_back.py", "grading/test_give_back.py::test_names_that_canvas_hides_have_no_gradebook",
    ("gradebook of nobody", "ANONYMOUS.fullmatch(handin.origin)", "False"),
) + of(
    "grading/give_back.py", "grading/test_give_back.py::test_a_maximum_that_is_another_one_is_said",
    ("decimal comma", '.replace(",", ".")', ""),
) + of(
    "grading/give_back.py", "grading/test_give_back.py::test_a_table_that_does_not_fit_is_refused",
    ("of two columns the first counts", "if len(named) != 1:", "if not named:"),
)
