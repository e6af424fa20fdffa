"""A claim of the lectures, put to the test: asserted where it is made, and recorded for the book's ledger."""

import math
import statistics
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from attnlib.extras import extra

with extra("course"):
    from IPython.display import display

#: Outputs with this key in their metadata are what the claims ledger is built from.
KEY = "attnlib.claim"
#: How the first line of a claim begins.
HOLDS = "✓ "
#: What more training does to a claim.
CANNOT, LATER, SAME = VERDICTS = ("cannot", "learns later", "no difference found")


def interval(at_least: float | None, at_most: float | None) -> tuple[float, float]:
    """The bounds as numbers: None is no bound."""
    return -math.inf if at_least is None else at_least, math.inf if at_most is None else at_most


def bounds_in_words(at_least: float | None, at_most: float | None) -> str:
    """The bounds that there are: "≥ 0.5", "≤ 4", or both."""
    return " and ".join(f"{sign} {bound:g}" for sign, bound in (("≥", at_least), ("≤", at_most)) if bound is not None)


@dataclass(frozen=True)
class Gate:
    """What was measured, once per seed or case, and the bounds that every value had to keep."""

    claim: str
    what: str
    values: tuple[float, ...]
    at_least: float | None
    at_most: float | None
    verdict: str | None = None  # of `VERDICTS`
    fails_if: str | None = None  # what would make the claim fail, in a few words
    comparison: str | None = None  # the one that measured it

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        band = f" ({low:.3g} to {high:.3g})" if low < high else ""
        bound = f"held to {bounds_in_words(self.at_least, self.at_most)}"
        refuted = f"would fail if {self.fails_if}" if self.fails_if else None
        judged = " · ".join(filter(None, (bound, self.verdict, refuted)))
        return f"{HOLDS}{self.what}: {statistics.median(self.values):.3g}{band}\n  {judged}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        return {"text/plain": str(self)}, {KEY: asdict(self)}


def claim(
    name: str,
    what: str,
    values: ArrayLike,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    verdict: str | None = None,
    fails_if: str | None = None,
    comparison: str | None = None,
) -> None:
    """Assert that every value keeps the bounds; show it, and record it for the ledger.

    Args:
        name: of the claim, a key of book/claims.yml.
        what: the quantity, in a few words, with its unit.
        values: as measured: one number, or one for each seed or case.
        at_least: lower bound, itself allowed.
        at_most: upper bound, itself allowed.
        verdict: what more training does to it, one of `VERDICTS`.
        fails_if: what would make it fail, to be read after "would fail if".
        comparison: name of the `attnlib.course.comparison.compare` that measured the values.

    Raises:
        AssertionError: a value breaks a bound, or is not a number.
        ValueError: no bound, no value, or no such verdict.

    Example:
        >>> claim("cost", "weights computed / m·t", [1.0, 1.0], at_least=1, at_most=1)
        ✓ weights computed / m·t: 1
          held to ≥ 1 and ≤ 1
    """
    values = tuple(np.asarray(values, dtype=float).ravel().tolist())
    if at_least is None and at_most is None:
        raise ValueError(f"a claim that nothing can refute: give {what!r} a bound, at_least or at_most")
    if verdict not in (None, *VERDICTS):
        raise ValueError(f"a verdict is one of {', '.join(VERDICTS)}; got {verdict!r}")
    if not values:
        raise ValueError(f"no value of {what!r} was measured")
    low, high = interval(at_least, at_most)
    if broken := [v for v in values if not low <= v <= high]:
        raise AssertionError(f"{name}: {what} must be in {low:g}..{high:g}, measured {broken}")
    display(Gate(name, what, values, at_least, at_most, verdict, fails_if, comparison))
