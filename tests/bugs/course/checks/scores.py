"""Bugs of one line in attnlib/course/checks/scores.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/checks/scores.py", "course/test_checks.py",
    ("distance without its half", "return -(length(query, key) ** 2) / 2", "return -(length(query, key) ** 2)",
     "test_right_answers_are_right_however_written"),
    ("one query and key", "for size in sizes] + [case(2, 3, 4, 5, scale=1e5)],", "for size in sizes[-2:-1]],",
     "test_a_wrong_answer_is_told_its_mistake[distance_score-sign]"),
    ("sharp by rivals", "1 / (1 + (S - 1) *", "1 / (1 + S *", "test_right_answers_are_right_however_written"),
    ("where a query stands on a key there is a gradient", "not any(slope.isnan().any() for slope in found)", "True",
     "test_a_wrong_answer_is_told_its_mistake[distance_score-root]"),
)
