"""What a class looks like in numbers: totals, questions by difficulty, and the tests that most hand-ins fail."""

import math
import statistics
from collections import Counter

from attnlib.grading import feedback, report
from attnlib.grading.grade import GRADED, NOT_GRADED, Class

#: A picture of the totals has no more bars than this.
MOST_BARS = 16
#: So many different messages of a failing test are shown.
MOST_WORDS = 3


def summary(graded: Class, machine: Class) -> dict:
    """All numbers of the page of statistics.

    Args:
        graded: The class as it is given back.
        machine: The class as the tests left it.

    Returns:
        `students`, how many are complete, wait for a person, or are not graded; `totals`; `questions`, the hardest
        first; `failing`, the tests that most fail first.
    """
    results = graded.results.values()
    counts = Counter(result.status for result in results)
    totals = [report.total(result) for result in results if result.status == GRADED]
    most = sum(report.maxima(graded.release).values())
    waiting = len(results) - counts[GRADED] - counts[NOT_GRADED]
    return {
        "students": {"graded": counts[GRADED], "waiting": waiting, "not graded": counts[NOT_GRADED]},
        "most": most,
        "mean": round(statistics.mean(totals), 2) if totals else None,
        "median": round(statistics.median(totals), 2) if totals else None,
        "totals": bars(totals, most),
        "questions": hardest(graded),
        "failing": failing(machine),
    }


def bars(totals: list[float], most: float) -> list[dict]:
    """How many totals lie in each interval from `low` to below `high`; those with all points are in the last one.

    Example:
        >>> [(bar["low"], bar["high"], bar["count"]) for bar in bars([0, 0.5, 2, 3], 3)]
        [(0, 1, 2), (1, 2, 0), (2, 3, 1), (3, 4, 1)]
    """
    width = max(1, math.ceil((most + 1) / MOST_BARS))
    counts = Counter(int(total // width) for total in totals)
    return [
        {"low": n * width, "high": (n + 1) * width, "count": counts[n]} for n in range(math.floor(most / width) + 1)
    ]


def hardest(graded: Class) -> list[dict]:
    """The share of its points that each question gave on average, the smallest first; those that nobody has last."""
    most, headings, found = report.maxima(graded.release), feedback.headings(graded.release), []
    for name, cells in report.questions(graded.release).items():
        all_points = [[r.points.get(c) for c in cells] for r in graded.results.values() if r.status != NOT_GRADED]
        got = [sum(points) for points in all_points if None not in points]
        of = sum(most[cell] for cell in cells)
        mean = statistics.mean(got) if got else None
        found.append(
            {
                "name": name,
                "heading": headings.get(name, name),
                "of": of,
                "mean": None if mean is None else round(mean, 2),
                "share": None if mean is None else round(mean / of, 4),
                "count": len(got),
            }
        )
    return sorted(found, key=lambda one: (one["share"] is None, one["share"]))


def failing(machine: Class) -> list[dict]:
    """The tests that hand-ins lose points in, the most frequent first, and what they said."""
    most = report.maxima(machine.release)
    graded = [result for result in machine.results.values() if result.status != NOT_GRADED]
    found = []
    for cell, of in most.items():
        lost = [r for r in graded if r.points.get(cell) is not None and r.points[cell] < of and r.words.get(cell)]
        said = Counter(" ".join(result.words[cell].split())[: feedback.LONGEST] for result in lost)
        if lost:
            words = [{"words": words, "count": count} for words, count in said.most_common(MOST_WORDS)]
            found.append({"cell": cell, "count": len(lost), "of": len(graded), "words": words, "kinds": len(said)})
    return sorted(found, key=lambda one: -one["count"])
