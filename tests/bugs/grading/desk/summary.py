"""Bugs of one line in attnlib/grading/desk/summary.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/summary.py", "grading/test_desk.py::test_the_numbers_of_the_class_are_those_counted_by_hand",
    ("who waits has a total", "if result.status == GRADED]", "if result.status != NOT_GRADED]"),
    ("easiest first", '(one["share"] is None, one["share"])', '(one["share"] is None, -one["share"])'),
    ("test that fewest fail first", '-one["count"]', 'one["count"]'),
    ("unread text is no points", "if None not in points]", "if True]"),
    ("all points are beyond the picture", "range(math.floor(most / width) + 1)", "range(math.floor(most / width))"),
    ("points in place of the share", "round(mean / of, 4)", "round(mean, 4)"),
) + of(
    "grading/desk/summary.py", "grading/test_desk.py::test_numbers_of_a_class_without_any_points",
    ("mean of nobody", "round(statistics.mean(totals), 2) if totals else None", "round(statistics.mean(totals), 2)"),
    ("a bar for each point", "max(1, math.ceil((most + 1) / MOST_BARS))", "1"),
)
