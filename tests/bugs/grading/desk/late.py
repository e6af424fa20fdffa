"""Bugs of one line in attnlib/grading/desk/late.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/late.py", "grading/test_desk_late.py::test_lateness_costs_what_was_worked_by_hand",
    ("last minute of grace is late", "if handed <= due + timedelta", "if handed < due + timedelta"),
    ("grace moves the due date", "math.ceil((handed - due) / DAY)",
     "math.ceil((handed - due - timedelta(minutes=grace)) / DAY)"),
    ("days that have ended", "math.ceil((handed - due)", "math.floor((handed - due)"),
    ("grace in hours", "timedelta(minutes=grace)", "timedelta(hours=grace)"),
    ("no cap", "part = min(part, rule.cap)", "pass"),
    ("percent of what was got for all", "OF_MOST: part * most / 100", "OF_MOST: part * got / 100"),
    ("less than nothing", "min(max(got, 0.0), points)", "points"),
    ("due date of all for everybody", "due, handed = mine.due or rule.due,", "due, handed = rule.due,"),
    ("time of the archive before the one by hand", "mine.handed or handed\n", "handed or mine.handed\n"),
    ("no days are no exemption", "if mine.days is not None:\n", "if mine.days:\n"),
    ("who is unknown is on time", "Verdict(None, 0.0,", "Verdict(0, 0.0,"),
) + of(
    "grading/desk/late.py", "grading/test_desk_late.py::test_a_verdict_says_why",
    ("reason is not said", 'why = f" ({mine.reason})" if mine.reason else ""', 'why = ""'),
    ("cap is not said", 'most = "" if rule.cap is None', 'most = "" if True'),
) + of(
    "grading/desk/late.py", "grading/test_desk_late.py::test_a_rule_that_cannot_be_is_refused",
    ("no number is a number", "not 0 <= number < math.inf", "number < 0"),
    ("more than all", "max(made.amount, made.cap or 0) > 100", "made.amount > 100"),
    ("any unit", "if made.unit not in UNITS:", "if not made.unit:"),
) + of(
    "grading/desk/late.py", "grading/test_desk_late.py::test_an_exemption_that_cannot_be_is_refused",
    ("half a day", "type(made.days) is not int or", "False or"),
) + of(
    "grading/desk/late.py", "grading/test_desk_late.py::test_a_time_with_a_zone_comes_to_the_clock_on_the_wall",
    ("zone is dropped", "found.astimezone().replace(tzinfo=None)", "found.replace(tzinfo=None)"),
) + of(
    "grading/desk/late.py", "grading/test_desk_late.py::test_times_come_from_a_table",
    ("dash of Moodle is a time", 'not in ("", "-")', 'not in ("",)'),
    ("byte order mark is part of a column", '"utf-8-sig"', '"utf-8"'),
)
