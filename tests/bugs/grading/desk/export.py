"""Bugs of one line in attnlib/grading/desk/export.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/export.py", "grading/test_desk.py::test_the_desk_gives_what_the_option_written_gives",
    ("table without what people gave", 'report.write_csv(out.graded, folder / "grades.csv", columns(marks, out))',
     'report.write_csv(graded, folder / "grades.csv", columns(marks, out))'),
    ("pages without comments", 'feedback.write(out.graded, folder / "feedback", out.written)',
     'feedback.write(out.graded, folder / "feedback")'),
    ("points are not in written.csv", 'f"{given.points[cell]:g}" if cell in given.points else ""', '""'),
    ("comment is a formula", "{name: report.plain(value) for", "{name: value for"),
    ("who waits is not said", "if None in r.points.values()]", "if not r.points]"),
) + of(
    "grading/desk/export.py",
    "grading/test_desk.py::test_corrections_and_late_deductions_stand_beside_what_the_tests_gave",
    ("what the site takes is the machine's", "give_back.write(out.graded, sheet", "give_back.write(graded, sheet"),
    ("unknown times are no days", "verdict is not None and verdict.days is not None", "verdict is not None"),
    ("who is unknown is not said", "if verdict.days is None]", "if verdict.days == -1]"),
) + of(
    "grading/desk/export.py", "grading/test_desk.py::test_the_table_of_the_course_site_is_filled_in",
    ("table of the site is left alone", "most, table, column)", "most, None, column)"),
) + of(
    "grading/desk/export.py", "grading/test_desk.py::test_without_a_course_site_the_rest_is_written",
    ("no course site is a crash", "except (ValueError, OSError) as error:", "except OSError as error:"),
)
