"""Late rules, against a table that was worked by hand; and where the times come from."""

import os
import time
import zipfile

import pytest

from attnlib.grading.collect import collect
from attnlib.grading.desk import late
from attnlib.grading.desk.late import OF_GOT, OF_MOST, POINTS, Exemption, Rule, judge
from tests.grading.handins import NAME

DUE = "2026-11-02T23:59"
#: Of 13 points, 11 were got. `(rule, exemption, handed in, days, points taken off)`
TEN_PERCENT = Rule(DUE, grace=10, amount=10, unit=OF_MOST, cap=30)
HALF_A_POINT = Rule(DUE, amount=0.5, cap=2)
QUARTER = Rule(DUE, amount=25, unit=OF_GOT)
TABLE = [
    (TEN_PERCENT, Exemption(), "2026-11-01T08:00", 0, 0),
    (TEN_PERCENT, Exemption(), "2026-11-02T23:59", 0, 0),
    (TEN_PERCENT, Exemption(), "2026-11-03T00:09", 0, 0),  # the last minute of grace
    (TEN_PERCENT, Exemption(), "2026-11-03T00:09:01", 1, 1.3),
    (TEN_PERCENT, Exemption(), "2026-11-03T23:59", 1, 1.3),  # one day, and not 23 hours and 49 minutes
    (TEN_PERCENT, Exemption(), "2026-11-04T00:00", 2, 2.6),
    (TEN_PERCENT, Exemption(), "2026-11-05T12:00", 3, 3.9),
    (TEN_PERCENT, Exemption(), "2026-12-01T12:00", 29, 3.9),
    (TEN_PERCENT, Exemption(due="2026-11-05T23:59"), "2026-11-05T12:00", 0, 0),
    (TEN_PERCENT, Exemption(due="2026-11-05T23:59"), "2026-11-06T12:00", 1, 1.3),
    (TEN_PERCENT, Exemption(handed="2026-11-03T12:00"), "2026-11-05T12:00", 1, 1.3),
    (TEN_PERCENT, Exemption(days=0), "2026-11-05T12:00", 0, 0),
    (TEN_PERCENT, Exemption(days=2, due="2026-12-31T00:00"), "", 2, 2.6),
    (TEN_PERCENT, Exemption(), "", None, 0),
    (HALF_A_POINT, Exemption(), "2026-11-03T00:00", 1, 0.5),
    (HALF_A_POINT, Exemption(), "2026-11-06T12:00", 4, 2),
    (HALF_A_POINT, Exemption(), "2026-11-07T12:00", 5, 2),
    (QUARTER, Exemption(), "2026-11-03T12:00", 1, 2.75),
    (QUARTER, Exemption(), "2026-11-06T12:00", 4, 11),
    (QUARTER, Exemption(), "2026-11-30T12:00", 28, 11),  # nobody gets less than nothing
    (Rule(DUE, amount=100), Exemption(), "2026-11-03T12:00", 1, 11),
    (Rule(DUE), Exemption(), "2026-11-03T12:00", 1, 0),
    (Rule(), Exemption(), "2026-11-03T12:00", 0, 0),
    (Rule(amount=1), Exemption(days=3), "", 3, 3),
]


@pytest.mark.parametrize(("rule", "mine", "handed", "days", "points"), TABLE)
def test_lateness_costs_what_was_worked_by_hand(rule, mine, handed, days, points):
    verdict = judge(rule, mine, handed, 11, 13)
    assert (verdict.days, verdict.points) == (days, points)


def test_a_verdict_says_why():
    said = judge(TEN_PERCENT, Exemption(), "2026-11-04T00:00", 11, 13).words
    assert said == (
        "2 days late: due 2026-11-02 23:59, handed in 2026-11-04 00:00; −2.6 points: "
        "10 % of all points for each day that has begun, at most 30 %"
    )
    assert judge(TEN_PERCENT, Exemption(days=0, reason="ill"), "", 11, 13).words == "not late, set by hand (ill)"
    said = judge(HALF_A_POINT, Exemption(due="2026-11-03T12:00", reason="a train"), "2026-11-03T12:01", 11, 13).words
    assert said.startswith("1 day late: due 2026-11-03 12:00, handed in 2026-11-03 12:01 (a train); −0.5 points: 0.5 ")
    assert judge(Rule(DUE), Exemption(), "2026-11-04T00:00", 11, 13).words.endswith("; nothing is taken off")
    assert judge(TEN_PERCENT, Exemption(), "2026-11-02T12:00", 11, 13).words == ""
    assert "nobody knows when" in judge(TEN_PERCENT, Exemption(), "", 11, 13).words


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"due": "soon"}, "'soon' is no time; write it as 2026-11-02 23:59"),
        ({"grace": -1}, "grace: -1 is no number of 0 or more"),
        ({"amount": float("nan")}, "amount: nan"),
        ({"amount": True}, "amount: True"),
        ({"cap": "2"}, "cap: '2'"),
        ({"unit": "euros"}, f"unit: 'euros' is none of {POINTS}"),
        ({"unit": OF_MOST, "amount": 101}, "More than 100 percent cannot be taken off: 101"),
        ({"unit": OF_GOT, "cap": 250}, "More than 100 percent cannot be taken off: 250"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        late.rule(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [({"days": -1}, "days: -1"), ({"days": 1.5}, "days: 1.5"), ({"handed": "x"}, "'x'"), ({"reason": 3}, "reason: 3")],
)
def test_an_exemption_that_cannot_be_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        late.exemption(value)


@pytest.fixture
def berlin():
    """The clock on the wall is that of Berlin, an hour ahead of Greenwich in winter and two in summer."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


def test_a_time_with_a_zone_comes_to_the_clock_on_the_wall(berlin):
    assert late.moment("2026-11-02T22:59:00+00:00").isoformat() == "2026-11-02T23:59:00"
    assert late.moment("2026-07-02T22:59:00Z").isoformat() == "2026-07-03T00:59:00"
    assert late.moment("2026-11-02 22:59").isoformat() == "2026-11-02T22:59:00"
    assert late.moment("Monday, 2 November 2026, 10:43 PM").isoformat() == "2026-11-02T22:43:00"


@pytest.mark.parametrize(
    "text",
    [
        "student,handed in\nann,2026-11-02 10:00\n12,2026-11-03T11:30\nnobody,2026-11-01\ncem,\n",
        "\ufeffhanded in;student\n2026-11-02 10:00;ann\n2026-11-03T11:30;ben\n-;cem\n",
        'Identifier,Last modified (submission)\nParticipant 11,"Monday, 2 November 2026, 10:00 AM"\n'
        'Participant 12,"Tuesday, 3 November 2026, 11:30 AM"\nParticipant 13,-\n',
    ],
)
def test_times_come_from_a_table(text, tmp_path):
    (tmp_path / "times.csv").write_text(text, "utf8")
    read = late.read_times(tmp_path / "times.csv", {"ann": "11", "ben": "12", "cem": "13"})
    assert read == {"ann": "2026-11-02T10:00:00", "ben": "2026-11-03T11:30:00"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,handed in\nann,2026-11-02\n", r"t.csv: there are the columns \['name', 'handed in'\]"),
        ("student,handed in\nann,2026-11-02\nben,later\n", "t.csv, line 3, ben: 'later' is no time"),
    ],
)
def test_a_table_of_times_that_cannot_be_read_is_refused(text, message, tmp_path):
    (tmp_path / "t.csv").write_text(text, "utf8")
    with pytest.raises(ValueError, match=message):
        late.read_times(tmp_path / "t.csv", {"ann": "", "ben": ""})


def test_times_come_from_the_archive_where_it_has_them(tmp_path):
    name = f"{NAME}.ipynb"
    layouts = {
        "blackboard": ({f"Homework_jdoe_attempt_2026-11-02-10-43-11_{name}": b"{}"}, "2026-11-02T10:43:11"),
        "brightspace": ({f"12-34 - Jane Doe - Nov 2, 2026 142 PM - {name}": b"{}"}, "2026-11-02T13:42:00"),
        "gradescope": (
            {
                f"submission_1/{name}": b"{}",
                "submission_metadata.yml": b"submission_1:\n  :submitters:\n  - :name: Jane\n"
                b"  :created_at: 2026-11-02 10:43:11.5 Z\n",
            },
            "2026-11-02T10:43:11+00:00",
        ),
        "canvas": ({f"doejane_LATE_1_2_{name}": b"{}"}, ""),
        "a folder": ({f"jane/{name}": b"{}"}, ""),
    }
    for system, (files, when) in layouts.items():
        archive, scratch = tmp_path / f"{system}.zip", tmp_path / system
        with zipfile.ZipFile(archive, "w") as opened:
            for path, content in files.items():
                opened.writestr(path, content)
        scratch.mkdir()
        [handin], _ = collect(archive, NAME, scratch)
        assert handin.when == when, system
