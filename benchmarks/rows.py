"""What a measurement is written down as, and the sizes of all of them."""

from typing import NamedTuple


class Row(NamedTuple):
    """One comparison, and what it is held to."""

    section: str
    name: str  # what: beside what
    size: str
    unit: str
    ours: float
    other: float | None = None  # None where ours stands alone
    ratio: float | None = None
    means: str = ""  # what the ratio counts
    judged: str = "ratio"  # or "ours": which of the two the bounds are for
    at_least: float | None = None
    at_most: float | None = None
    aim: float | None = None  # a wish, beyond the bound or without one
    with_dot: float | None = None  # the ratio where the score of ours is a dot product

    @property
    def met(self) -> bool | None:
        """Whether the bounds are kept; None where there are none."""
        if self.at_least is None and self.at_most is None:
            return None
        value = getattr(self, self.judged)
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def held_to(self) -> str:
        """The bounds and the wish in words."""
        unit = f" {self.unit}" if self.judged == "ours" else ""
        bounds = [f"{sign} {b:g}{unit}" for sign, b in (("≥", self.at_least), ("≤", self.at_most)) if b is not None]
        return ", ".join(bounds + ([f"aim {self.aim:g}"] if self.aim is not None else []))


Where = tuple[str, str, str]  # section, size, unit


def less(name: str, where: Where, ours: float, other: float, means: str = "times faster", **bounds) -> Row:
    """A row that says how many times less ours takes."""
    return Row(where[0], name, *where[1:], ours, other, other / ours, means, **bounds)


def share(name: str, where: Where, ours: float, other: float, means: str = "times as long", **bounds) -> Row:
    """A row that says how many times as much ours takes."""
    return Row(where[0], name, *where[1:], ours, other, ours / other, means, **bounds)


def label(**sizes: int) -> str:
    """Letters and sizes, such as `B64 S30`."""
    return " ".join(f"{letter}{size}" for letter, size in sizes.items())


class Plan(NamedTuple):
    """How large and how long: all sections take their sizes from here."""

    seconds: float  # for one comparison, about
    least: int  # rounds of a comparison of decoders
    decoders: tuple[tuple[int, ...], ...]  # (B, S, T, V, d_embed, d)
    heads: tuple[tuple[int, ...], ...]  # (B, T, d_model, H)
    compiler: str  # a backend of torch.compile
    memory: tuple[int, ...]  # (B, S, T, d)
    memory_of_heads: tuple[int, ...]  # (B, T, d_model, H)
    sentences: tuple[int, int, int]  # how many are written at once, how many one by one, tokens of each
    padding: tuple[int, int]  # pairs, pairs in a batch
    dates: tuple[int, int, int, float]  # examples to train on, steps at most, steps between two looks, share right
    seeds: int
    growth: dict[str, tuple[int, ...]]  # what grows → (B, S, T, d), of which one at a time
    factors: tuple[float, ...]  # is multiplied by these


FULL = Plan(
    seconds=4,
    least=5,
    decoders=(
        (128, 9, 9, 5000, 256, 256),
        (64, 30, 30, 2000, 128, 128),
        (64, 30, 12, 60, 64, 128),
        (64, 50, 50, 8000, 256, 256),
    ),
    heads=((32, 128, 256, 8), (8, 1024, 512, 8)),
    compiler="inductor",
    memory=(8, 512, 512, 256),
    memory_of_heads=(8, 1024, 512, 8),
    sentences=(1000, 100, 20),
    padding=(1280, 64),
    dates=(4000, 300, 20, 0.99),
    seeds=3,
    growth={"time": (8, 256, 256, 32), "memory": (8, 256, 256, 64)},
    factors=(0.25, 0.5, 1, 2, 4),
)
#: The same rows in seconds, for the tests: nothing can be learned from its numbers.
QUICK = Plan(
    seconds=0,
    least=1,
    decoders=((2, 3, 2, 11, 4, 8), (2, 3, 3, 11, 4, 8), (3, 3, 2, 11, 4, 8), (3, 4, 2, 11, 4, 8)),
    heads=((2, 4, 8, 2), (1, 6, 8, 2)),
    compiler="eager",  # needs no compiler of C++
    memory=(8, 128, 128, 64),  # what is less hides in memory that the process has in reserve
    memory_of_heads=(8, 256, 64, 4),
    sentences=(4, 2, 5),
    padding=(24, 4),
    dates=(60, 1, 1, 0.0),
    seeds=1,
    growth={"time": (2, 16, 16, 8), "memory": (8, 128, 128, 64)},
    factors=(1, 2),
)


def short(number: float | None) -> str:
    """Three digits."""
    if number is None:
        return ""
    return f"{number:#.3g}".rstrip(".") if abs(number) < 1000 else f"{number:.0f}"
