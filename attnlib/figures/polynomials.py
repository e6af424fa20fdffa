"""Costs as polynomials in S, T and d: checked, evaluated, and where two of them cross."""

import math
from collections.abc import Iterable, Mapping, Sequence

from attnlib.figures.parameters import as_float, whole

LETTERS = ("S", "T", "d")  # source words, target words, width
AXES = {"S=T": ("S", "T"), "S": ("S",), "T": ("T",), "d": ("d",)}  # axis -> the letters that grow along it

Coded = Sequence[Sequence[float]]  # one [coefficient, power of S, power of T, power of d] for each term


def coded(name: str, terms: Iterable) -> Coded:
    """Terms as JSON knows them.

    Args:
        name: what they are the cost of, for messages.
        terms: pairs of a coefficient and the powers of its letters: `(6, {"S": 1, "d": 2})` is 6 S d².

    Raises:
        ValueError: a term is no such pair, names another letter than S, T and d, has a power that is not a whole
            number, or a coefficient that is not positive.
    """
    result = []
    for term in terms:
        try:
            coefficient, powers = term
            coefficient, powers = as_float(coefficient), dict(powers)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: a term is (coefficient, {{letter: power}}), got {term!r}") from error
        if not 0 < coefficient < math.inf:
            raise ValueError(f"{name}: a coefficient must be positive and finite, got {coefficient!r}")
        if unknown := [letter for letter in powers if letter not in LETTERS]:
            raise ValueError(f"{name}: a term may name {', '.join(LETTERS)}, got {unknown[0]!r}")
        exponents = [whole(f"{name}: the power of {letter}", powers.get(letter, 0), 0, 8) for letter in LETTERS]
        result.append([int(coefficient) if coefficient.is_integer() else coefficient, *exponents])
    return result


def count(terms: Coded, sizes: Mapping):
    """The cost at given sizes; an int, and exact, if the sizes and the coefficients are whole numbers.

    A size may be an array, too.

    Example:
        >>> count([[6, 1, 0, 2]], {"S": 50, "T": 1, "d": 512})
        78643200
    """
    return sum(c * sizes["S"] ** s * sizes["T"] ** t * sizes["d"] ** d for c, s, t, d in terms)


def along(terms: Coded, axis: str, sizes: Mapping[str, float]) -> list[float]:
    """The cost as a polynomial in what grows along the axis: coefficients of x⁰, x¹, and so on."""
    result = [0.0] * 25
    for coefficient, *powers in terms:
        degree = 0
        for letter, power in zip(LETTERS, powers, strict=True):
            if letter in AXES[axis]:
                degree += power
            else:
                coefficient *= sizes[letter] ** power
        result[degree] += coefficient
    return result


def crossovers(one: Coded, other: Coded, axis: str, sizes: Mapping[str, float]) -> list[float]:
    """The places x ≥ 1 on the axis where `one` and `other` change sides, in order, however far out.

    Example: 2 S² d against 12 S d² cross at S = 6 d.
        >>> crossovers([[2, 1, 1, 1]], [[6, 1, 0, 2], [6, 0, 1, 2]], "S=T", {"S": 1, "T": 1, "d": 32})
        [192.0]
    """
    pairs = zip(along(one, axis, sizes), along(other, axis, sizes), strict=True)
    return [x for x in sign_changes([a - b for a, b in pairs]) if x >= 1]


def sign_changes(coefficients: Sequence[float]) -> list[float]:
    """All x > 0 at which a polynomial changes its sign.

    Between two neighbouring roots of its derivative a polynomial only rises or only falls: there it is bisected,
    until no float is left between. A whole number that is a root is found exactly.

    Args:
        coefficients: of x⁰, x¹, and so on.
    """
    c = list(coefficients)
    while c and c[-1] == 0:
        c.pop()
    while c and c[0] == 0:
        c.pop(0)  # a factor x, which is positive
    if len(c) < 2:
        return []
    turns = sign_changes([k * factor for k, factor in enumerate(c)][1:])
    beyond = 1 + max(abs(factor / c[-1]) for factor in c)  # Cauchy's bound: all roots are smaller
    roots, last = [], 0.0
    for x in [*(turn for turn in turns if turn < beyond), beyond]:
        if value(c, x) * math.copysign(1, value(c, last)) < 0:
            roots.append(bisected(c, last, x))
        if value(c, x) != 0:
            last = x
    return roots


def value(c: Sequence[float], x: float) -> float:
    """Horner's scheme."""
    result = 0.0
    for factor in reversed(c):
        result = result * x + factor
    return result


def bisected(c: Sequence[float], low: float, high: float) -> float:
    """The sign change between low and high, as exactly as floats are."""
    rising = value(c, high) > 0
    while low < (middle := (low + high) / 2) < high:
        if (value(c, middle) > 0) == rising:
            high = middle
        else:
            low = middle
    near = float(round(high))
    return near if value(c, near) == 0 else high
