"""Late rules: how many days late a hand-in is, and what that takes off.

All times are those of the clock on the wall where the desk runs. A time that comes with a zone of its own, as
Gradescope's do, is converted to it.
"""

import csv
import io
import math
import re
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from attnlib.grading.report import dialect

POINTS, OF_MOST, OF_GOT = "points", "percent of all points", "percent of the points got"
UNITS = (POINTS, OF_MOST, OF_GOT)
DAY = timedelta(days=1)
#: As Moodle's grading worksheet writes them, in English.
MOODLES = "%A, %d %B %Y, %I:%M %p"
STUDENT_COLUMNS, TIME_COLUMNS = ("student", "Identifier"), ("handed in", "Last modified (submission)")


@dataclass(frozen=True)
class Rule:
    """What lateness costs.

    Attributes:
        due: When the assignment is due, ISO; "" when nothing is late.
        grace: Minutes after that in which a hand-in is not late.
        amount: What each day that has begun takes off.
        unit: One of `UNITS`.
        cap: The most that is taken off, in the same unit; None when there is no such bound.
    """

    due: str = ""
    grace: float = 0.0
    amount: float = 0.0
    unit: str = POINTS
    cap: float | None = None


@dataclass(frozen=True)
class Exemption:
    """What holds for one student instead.

    Attributes:
        due: Another due date, ISO, or "".
        handed: When it was really handed in, ISO, or "".
        days: So many days count, whatever the times say; None when they are counted.
        reason: Why.
    """

    due: str = ""
    handed: str = ""
    days: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """How late somebody is.

    Attributes:
        days: Days that count; None when nobody knows.
        points: What is taken off.
        words: The same in words; "" when there is nothing to say.
    """

    days: int | None
    points: float
    words: str


def moment(text: str) -> datetime:
    """A time as ISO or Moodle writes it, on the clock of this machine.

    Raises:
        ValueError: It is none.
    """
    words = " ".join(text.split())
    try:
        found = datetime.fromisoformat(words)
    except ValueError:
        try:
            found = datetime.strptime(words, MOODLES)
        except ValueError:
            raise ValueError(f"{text!r} is no time; write it as 2026-11-02 23:59.") from None
    return found.astimezone().replace(tzinfo=None) if found.tzinfo else found


def rule(value: dict) -> Rule:
    """Read a rule.

    Raises:
        ValueError: It cannot be, in words.
    """
    made = Rule(**{name: value[name] for name in asdict(Rule()) if name in value})
    if made.due:
        moment(made.due)
    for name, number in (("grace", made.grace), ("amount", made.amount), ("cap", made.cap)):
        if number is None and name == "cap":
            continue
        if not isinstance(number, (int, float)) or isinstance(number, bool) or not 0 <= number < math.inf:
            raise ValueError(f"{name}: {number!r} is no number of 0 or more.")
    if made.unit not in UNITS:
        raise ValueError(f"unit: {made.unit!r} is none of {', '.join(UNITS)}.")
    if made.unit != POINTS and max(made.amount, made.cap or 0) > 100:
        raise ValueError(f"More than 100 percent cannot be taken off: {max(made.amount, made.cap or 0):g}.")
    return made


def exemption(value: dict) -> Exemption:
    """Read what holds for one student.

    Raises:
        ValueError: It cannot be, in words.
    """
    made = Exemption(**{name: value[name] for name in asdict(Exemption()) if name in value})
    for time in (made.due, made.handed):
        if time:
            moment(time)
    if made.days is not None and (type(made.days) is not int or made.days < 0):
        raise ValueError(f"days: {made.days!r} is no whole number of 0 or more.")
    if not isinstance(made.reason, str):
        raise ValueError(f"reason: {made.reason!r} is no text.")
    return made


def days_late(due: datetime, handed: datetime, grace: float) -> int:
    """Days that have begun since the due date; 0 within the grace, which moves nothing but the border.

    Example:
        >>> due = datetime(2026, 11, 2, 23, 59)
        >>> days_late(due, datetime(2026, 11, 3, 0, 9), 10), days_late(due, datetime(2026, 11, 3, 0, 10), 10)
        (0, 1)
    """
    if handed <= due + timedelta(minutes=grace):
        return 0
    return math.ceil((handed - due) / DAY)


def judge(rule: Rule, mine: Exemption, handed: str, got: float, most: float) -> Verdict:
    """How late a hand-in is, and what that takes off; never more than there is.

    Args:
        rule: The rule for all.
        mine: What holds for this student.
        handed: When the archive or a table says that it was handed in, ISO; "" when neither does.
        got: The points before the rule.
        most: All points that there are.
    """
    due, handed = mine.due or rule.due, mine.handed or handed
    why = f" ({mine.reason})" if mine.reason else ""
    if not rule.due and mine.days is None:
        return Verdict(0, 0.0, "")
    if mine.days is not None:
        days = mine.days
        said = f"{_days(days)} late, set by hand{why}"
    elif not handed:
        return Verdict(None, 0.0, "nobody knows when it was handed in: nothing is taken off")
    else:
        days = days_late(moment(due), moment(handed), rule.grace)
        if not days and not mine.due and not mine.handed:
            return Verdict(0, 0.0, "")
        said = f"{_days(days)} late: due {_time(due)}, handed in {_time(handed)}{why}"
    part = rule.amount * days
    if rule.cap is not None:
        part = min(part, rule.cap)
    points = {POINTS: part, OF_MOST: part * most / 100, OF_GOT: part * got / 100}[rule.unit]
    points = round(min(max(got, 0.0), points), 2)
    if points:
        said += f"; −{points:g} point{'s' * (points != 1)}: {in_words(rule)}"
    elif days:
        said += "; nothing is taken off"
    return Verdict(days, points, said)


def in_words(rule: Rule) -> str:
    """The price of a day."""
    unit = {POINTS: "point" + "s" * (rule.amount != 1), OF_MOST: "% of all points", OF_GOT: "% of the points got"}
    most = "" if rule.cap is None else f", at most {rule.cap:g}{'' if rule.unit == POINTS else ' %'}"
    return f"{rule.amount:g} {unit[rule.unit]} for each day that has begun{most}"


def _days(days: int) -> str:
    return "not" if not days else f"{days} day{'s' * (days != 1)}"


def _time(text: str) -> str:
    return f"{moment(text):%Y-%m-%d %H:%M}"


def read_times(path: Path, students: dict[str, str]) -> dict[str, str]:
    """Read when everybody handed in: `student,handed in`, or the grading worksheet of Moodle.

    Args:
        path: The CSV file.
        students: `{student: id}`; either may stand in the file.

    Returns:
        `{student: ISO time}` of those for whom the file has one. Who is in the file alone is left out.

    Raises:
        ValueError: There is no such column, or something is no time; with its line.
    """
    text = path.read_text("utf-8-sig")
    rows = csv.DictReader(io.StringIO(text), dialect=dialect(text))
    head = rows.fieldnames or []
    who = next((name for name in STUDENT_COLUMNS if name in head), None)
    when = next((name for name in TIME_COLUMNS if name in head), None)
    if not who or not when:
        raise ValueError(
            f"{path.name}: there are the columns {head}; it needs one of {list(STUDENT_COLUMNS)} and one of "
            f"{list(TIME_COLUMNS)}."
        )
    names = {student: student for student in students} | {number: s for s, number in students.items() if number}
    times = {}
    for line, row in enumerate(rows, start=2):
        name = re.sub(r"^Participant (?=\d+$)", "", (row[who] or "").strip())
        if name in names and (said := (row[when] or "").strip()) not in ("", "-"):
            try:
                times[names[name]] = moment(said).isoformat()
            except ValueError as error:
                raise ValueError(f"{path.name}, line {line}, {name}: {error}") from None
    return times
