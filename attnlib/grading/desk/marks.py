"""From what people decided to points: rubrics, points by hand, corrections and late rules, over what the tests gave.

Keys of entries, and their values:

    rubric/UNIT            {"full"}: are points taken off from all of them, or added to none?
    item/UNIT/ID           {"words", "points", "place", "gone"}: one item of the rubric of a text
    cell/STUDENT/UNIT      {"items", "none", "points", "comment", "corrected", "of"}: what one student got
    late                   a `late.Rule`
    late/STUDENT           a `late.Exemption`
    handed/STUDENT         {"at"}: when it was handed in, from a table

A unit is what is graded at once: a text, or the code of one question.
"""

import copy
import math
import re
from dataclasses import asdict, dataclass, field

from attnlib.grading import feedback, report
from attnlib.grading.assignment import facts, is_text, question
from attnlib.grading.desk import late
from attnlib.grading.desk.groups import Group, digest, grouped, tree_of, words_of
from attnlib.grading.desk.store import Store
from attnlib.grading.grade import NOT_GRADED, Class
from attnlib.grading.work import Result

TEXT, CODE = "text", "code"
LONGEST_WORDS = 20_000
#: Stands among a result's points for what lateness takes off. No cell is called so: cells are called after questions.
LATE = "late"


@dataclass
class Unit:
    """What is graded at once.

    Attributes:
        id: The cell of a text, or the name of a question.
        kind: `TEXT` or `CODE`.
        heading: Of the question.
        cells: `{graded cell: points}`.
        model: Our own answer, solutions and all.
        answers: `{student: {cell in which they wrote: what}}`.
        of: `{student: digest of the answer}`; what was decided about another answer does not count.
        groups: Equal answers.
    """

    id: str
    kind: str
    heading: str
    cells: dict[str, float]
    model: str
    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    of: dict[str, str] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)


@dataclass
class Outcome:
    """A class as it is given back.

    Attributes:
        graded: With corrected points, points for texts, and what lateness takes off.
        written: What a person gave, as `--written` reads it.
        corrected: `{student: words}`.
        late: `{student: verdict}`.
        comments: `{student: {unit: words}}`.
    """

    graded: Class
    written: dict[str, report.Written]
    corrected: dict[str, list[str]]
    late: dict[str, late.Verdict]
    comments: dict[str, dict[str, str]]


class Marks:
    """A graded class, and what people decided about it.

    Args:
        graded: As `grade` left it; it is not changed.
        store: The entries.
    """

    def __init__(self, graded: Class, store: Store):
        self.graded, self.store = graded, store
        self.handins = {handin.student: handin for handin in graded.handins}
        self.maxima = report.maxima(graded.release)
        self.units = {unit.id: unit for unit in self._units()}

    def _units(self) -> list[Unit]:
        sources = {facts(c).get("grade_id"): c.source for c in self.graded.source.cells}
        handed_out = {facts(c).get("grade_id"): c.source for c in self.graded.release.cells}
        texts = {facts(c)["grade_id"] for c in self.graded.release.cells if is_text(c)}
        headings = feedback.headings(self.graded.release)
        read = {s: r for s, r in self.graded.results.items() if r.status != NOT_GRADED}
        units = []
        for name, cells in report.questions(self.graded.release).items():
            for cell in [c for c in cells if c in texts]:
                unit = Unit(cell, TEXT, headings.get(name, name), {cell: self.maxima[cell]}, sources[cell])
                answers = {s: r.texts.get(cell, "") for s, r in read.items()}
                keys = {s: words_of(text) for s, text in answers.items()}
                unit.answers = {s: {cell: text} for s, text in answers.items()}
                unit.groups = grouped(answers, keys, words_of(handed_out[cell]))
                unit.of = {s: digest(key) for s, key in keys.items()}
                units.append(unit)
            if tests := {c: self.maxima[c] for c in cells if c not in texts}:
                written = sorted(
                    {c for r in read.values() for c in r.code if question(c) == name}, key=list(sources).index
                )
                unit = Unit(name, CODE, headings.get(name, name), tests, "\n\n".join(sources[c] for c in written))
                unit.answers = {s: {c: r.code.get(c, "") for c in written} for s, r in read.items()}
                trees = {s: "\n".join(map(tree_of, codes.values())) for s, codes in unit.answers.items()}
                untouched = "\n".join(tree_of(handed_out[c]) for c in written)
                # what the tests said belongs to the group: it is shown once for all of it
                said = {
                    s: repr([(r.points.get(c), r.words.get(c)) for c in [*tests, *written]]) for s, r in read.items()
                }
                keys = {s: trees[s] if trees[s] == untouched else f"{trees[s]}\n{said[s]}" for s in read}
                unit.groups = grouped({s: "\n".join(a.values()) for s, a in unit.answers.items()}, keys, untouched)
                unit.of = {s: digest(tree) for s, tree in trees.items()}
                units.append(unit)
        return sorted(units, key=lambda unit: (list(self.maxima).index(next(iter(unit.cells))), unit.kind))

    def check(self, key: str, value: dict) -> dict:
        """What is stored when somebody writes this value.

        Raises:
            ValueError: There is no such entry, or the value cannot be; in words.
        """
        if not isinstance(value, dict):
            raise ValueError(f"{key}: {value!r} is no object.")
        kind, *rest = key.split("/")
        if key == "late":
            return asdict(late.rule(_only(key, value, asdict(late.Rule()))))
        if kind == "late" and rest and rest[0] in self.handins and len(rest) == 1:
            return asdict(late.exemption(_only(key, value, asdict(late.Exemption()))))
        if kind == "handed" and rest and rest[0] in self.handins and len(rest) == 1:
            return {"at": late.moment(_only(key, value, {"at"})["at"]).isoformat()}
        if kind == "rubric" and len(rest) == 1 and self._text(rest[0]):
            return {"full": bool(_only(key, value, {"full"})["full"])}
        if kind == "item" and len(rest) == 2 and self._text(rest[0]) and re.fullmatch(r"\w{1,32}", rest[1]):
            return self._item(key, value, rest[0])
        if kind == "cell" and len(rest) == 2 and rest[1] in self.units and rest[0] in self.units[rest[1]].answers:
            return self._cell(key, value, *rest)
        raise ValueError(f"There is nothing called {key!r} to write to.")

    def _text(self, unit: str) -> bool:
        return unit in self.units and self.units[unit].kind == TEXT

    def _item(self, key: str, value: dict, unit: str) -> dict:
        value = _only(key, value, {"words", "points", "place", "gone"})
        most = max(self.units[unit].cells.values())
        words = " ".join(_words(f"{key}, words", value["words"]).split())
        if not words:
            raise ValueError("An item of a rubric needs words.")
        points = _number(f"the item {words!r}", value["points"], -most, most)
        place = _number(f"{key}, place", value["place"], 0, math.inf)
        return {"words": words, "points": points, "place": place, "gone": bool(value["gone"])}

    def _cell(self, key: str, value: dict, student: str, name: str) -> dict:
        value, unit = _only(key, value, {"items", "none", "points", "comment", "corrected", "of"}), self.units[name]
        known = self.store.under(f"item/{name}/")
        if unknown := [item for item in value["items"] if item not in known]:
            raise ValueError(f"The rubric of {name} has no item {unknown}.")
        points, corrected = value["points"], {}
        if points is not None:
            if unit.kind != TEXT:
                raise ValueError(f"{name} is no text: correct the points of its tests, with a reason.")
            points = _number(f"{name} of {student}", points, 0, unit.cells[name])
        for cell, change in value["corrected"].items():
            if unit.kind != CODE or cell not in unit.cells:
                raise ValueError(f"{name} has no test {cell}.")
            reason = " ".join(_words(f"{cell} of {student}, reason", change["reason"]).split())
            if not reason:
                raise ValueError(f"{cell} of {student}: a correction needs a reason.")
            given = _number(f"{cell} of {student}", change["points"], 0, unit.cells[cell])
            corrected[cell] = {"points": given, "reason": reason}
        comment = _words(f"{name} of {student}, comment", value["comment"])
        # the revision guards against other people; this guards against another hand-in of the same student
        made = {"items": sorted(set(value["items"])), "none": bool(value["none"]), "points": points}
        return {**made, "comment": comment, "corrected": corrected, "of": unit.of[student]}

    def items(self, unit: str) -> dict[str, dict]:
        """The items of a rubric that are not gone, in their order."""
        found = self.store.under(f"item/{unit}/")
        return dict(sorted((i for i in found.items() if not i[1]["gone"]), key=lambda i: (i[1]["place"], i[0])))

    def decided(self, student: str, unit: str) -> dict:
        """What was decided about the answer that is there now; `{}` where nothing was, or about another answer."""
        value = self.store.get(f"cell/{student}/{unit}")
        return value if value and value["of"] == self.units[unit].of.get(student) else {}

    def stale(self, student: str, unit: str) -> bool:
        """Was something decided about an earlier answer, and nothing about this one?"""
        return bool(self.store.get(f"cell/{student}/{unit}")) and not self.decided(student, unit)

    def by_hand(self, student: str, unit: str) -> float | None:
        """The points that a person gave a text; None where nobody did."""
        decided, most = self.decided(student, unit), self.units[unit].cells[unit]
        if not decided:
            return None
        if decided["points"] is not None:
            return decided["points"]
        chosen = [item["points"] for name, item in self.items(unit).items() if name in decided["items"]]
        if not chosen and not decided["none"]:
            return None
        start = most if self.store.get(f"rubric/{unit}").get("full") else 0
        return min(max(start + sum(chosen), 0), most)

    def comment(self, student: str, unit: str) -> str:
        """What a student reads about a unit: the items of the rubric, and the words that were written."""
        decided = self.decided(student, unit)
        if not decided:
            return ""
        chosen = [i for name, i in self.items(unit).items() if name in decided["items"]] if self._text(unit) else []
        said = [*(f"{item['words']} ({_signed(item['points'])})" for item in chosen), decided["comment"]]
        return " ".join(" ".join(said).split())

    def points(self) -> dict[str, dict[str, float | None]]:
        """`{student: {graded cell: points}}` as they are now, without late rules."""
        return {student: result.points for student, result in self.outcome(late_too=False).graded.results.items()}

    def states(self) -> dict[str, dict[str, str]]:
        """`{unit: {student: "open", "stale" or "done"}}`."""
        points = self.points()

        def state(student: str, unit: Unit) -> str:
            if self.stale(student, unit.id):
                return "stale"
            return "open" if None in [points[student].get(cell) for cell in unit.cells] else "done"

        return {unit.id: {student: state(student, unit) for student in unit.answers} for unit in self.units.values()}

    def outcome(self, late_too: bool = True) -> Outcome:
        """The class as it is given back."""
        results = copy.deepcopy(self.graded.results)
        fields = {name: getattr(self.graded, name) for name in self.graded.__dataclass_fields__}
        out = Outcome(Class(**{**fields, "results": results}), {}, {}, {}, {})
        for student, result in results.items():
            if result.status == NOT_GRADED:
                continue
            out.comments[student] = {unit: words for unit in self.units if (words := self.comment(student, unit))}
            out.corrected[student] = self._correct(student, result)
            result.notes += out.corrected[student]
            points = {u: p for u in self.units if self._text(u) and (p := self.by_hand(student, u)) is not None}
            comment = " ".join(f"{unit}: {words}" for unit, words in out.comments[student].items())
            if points or comment:
                out.written[student] = report.Written(points, comment)
        report.add_written(out.graded, out.written)
        for student in out.comments if late_too else ():
            out.late[student] = self._judge(student, results[student])
        return out

    def _correct(self, student: str, result: Result) -> list[str]:
        """Put corrected points in place of the machine's; say so."""
        said = []
        for unit in self.units:
            for cell, change in self.decided(student, unit).get("corrected", {}).items():
                was, result.points[cell] = result.points.get(cell), change["points"]
                said.append(f"{cell}: {change['points']:g} by hand, {_shown(was)} by the tests ({change['reason']})")
        return said

    def _judge(self, student: str, result: Result) -> late.Verdict:
        """Take off what lateness costs; say so."""
        verdict = late.judge(
            *self.rules(student), self.handed(student), report.total(result), sum(self.maxima.values())
        )
        if verdict.points:
            result.points[LATE] = -verdict.points
        if verdict.words and verdict.days is not None:  # that nobody knows is for the table, and not for the student
            result.notes.append(verdict.words)
        return verdict

    def rules(self, student: str) -> tuple[late.Rule, late.Exemption]:
        """What holds for all, and what holds for this student."""
        return late.rule(self.store.get("late")), late.exemption(self.store.get(f"late/{student}"))

    def handed(self, student: str) -> str:
        """When a student handed in, ISO: as a table says, or else the archive; "" where neither does."""
        said = self.store.get(f"handed/{student}").get("at") or self.handins[student].when
        return late.moment(said).isoformat() if said else ""


def _only(key: str, value: dict, names) -> dict:
    """The value, if it has these parts and no others (of rules and exemptions, parts may be left out)."""
    if unknown := set(value) - set(names):
        raise ValueError(f"{key}: there is nothing called {sorted(unknown)}; there may be {sorted(names)}.")
    if not isinstance(names, dict) and (missing := set(names) - set(value) - {"of"}):
        raise ValueError(f"{key}: {sorted(missing)} is missing.")
    return value


def _words(where: str, value) -> str:
    """A text, in which there are no lone halves of characters: no file could hold them."""
    if not isinstance(value, str):
        raise ValueError(f"{where}: {value!r} is no text.")
    if len(value) > LONGEST_WORDS:
        raise ValueError(f"{where}: {len(value)} characters, but there may be {LONGEST_WORDS}.")
    return value.encode("utf8", "replace").decode("utf8")


def _number(where: str, value, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{where}: {value!r} is no number.")
    if not low <= value <= high:
        raise ValueError(f"{where}: {value:g} points, but there are {low:g} to {high:g}.")
    return value


def _signed(points: float) -> str:
    return f"{points:+g}".replace("-", "−") if points else "0"


def _shown(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"
