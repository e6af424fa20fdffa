"""Attention weights as people have them in hand, as one array per sentence: layers, heads, target, source."""

import base64
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attnlib.figures.parameters import as_array

UNIT = 60_000  # weights are kept in steps of 1/60000: 16 bits, and ½, ⅓, 0.1, 0.05 are exact
LIMIT = 1_000_000  # bytes of weights that are sent at once

Link = tuple[int, int]  # (i, j): target token i goes with source token j


class Alignment(NamedTuple):
    """What one model looked at while it wrote one sentence."""

    name: str
    weights: np.ndarray  # (layers, heads, T, S), float64, in steps of 1/UNIT
    source: list[str]
    target: list[str]
    gold: list[Link]

    def packed(self, whole: bool = True) -> dict:
        """The same as the browser reads it, weights as `pack` writes them, or "" where they are sent one by one."""
        return {
            "name": self.name,
            "source": self.source,
            "target": self.target,
            "gold": [list(link) for link in self.gold],
            "shape": list(self.weights.shape),
            "data": pack(self.weights) if whole else "",
        }

    def shown(self, layer: int, head: int | str) -> np.ndarray:
        """(T, S): one head of a layer, or the mean of its heads."""
        heads = self.weights[layer]
        return heads.mean(0) if head == "mean" else heads[head]


def alignments(weights, source, target, gold=None, batch: int | None = None) -> list[Alignment]:
    """One `Alignment` per model.

    Args:
        weights: as `stacked` takes them; or name -> the same.
        source: S words; or name -> words.
        target: T words; or name -> words.
        gold: pairs (i, j); or name -> pairs.
        batch: the sentence to take where weights hold several.

    Raises:
        ValueError: there is no model, a mapping has not the names of the weights, words and weights do not fit, a
            link lies outside of them, the models differ in layers or heads, or one head of each is more than `LIMIT`.
    """
    named = {str(name): of for name, of in weights.items()} if isinstance(weights, Mapping) else {"": weights}
    if not named:
        raise ValueError("weights must name at least one model, got an empty mapping")
    found = []
    for name, given in named.items():
        what = f"weights of {name!r}" if name else "weights"
        maps = stacked(given, batch, what)
        words = [tokens(side, its(side, of, name, named)) for side, of in (("source", source), ("target", target))]
        S, T = map(len, words)
        if maps.shape[-2:] != (T, S):
            raise ValueError(
                f"{what} are (T, S) = {tuple(maps.shape[-2:])}, but there are {T} target and {S} source words"
            )
        found.append(Alignment(name, rounded(maps, what), *words, links(its("gold", gold, name, named), T, S)))
    shapes = {one.name: tuple(one.weights.shape[:2]) for one in found}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"all models must have as many layers and heads, got (layers, heads) {shapes}")
    shown = [one.weights[0, 0] for one in found]
    if (size := packed_size(shown)) > LIMIT:
        shape = " and ".join(" × ".join(map(str, one.shape)) for one in shown)
        raise ValueError(
            f"{shape} weights (target × source) of one head are {size / 1e6:.1f} MB for the page, more than "
            f"{LIMIT / 1e6:.0f} MB: pass a shorter text"
        )
    return found


def pack(weights: np.ndarray) -> str:
    """Weights of any shape as base64 of little-endian 16-bit numbers, in steps of 1/UNIT."""
    return base64.b64encode((weights * UNIT).round().astype("<u2").tobytes()).decode()


def packed_size(arrays: Sequence[np.ndarray]) -> int:
    """Bytes of some arrays that are packed: 2 for a number, as base64."""
    return sum(array.size for array in arrays) * 8 // 3


def its(side: str, given, name: str, named: Mapping):
    """What belongs to one model, of what was given for all, or for each by name."""
    if not isinstance(given, Mapping):
        return given
    given = {str(key): value for key, value in given.items()}
    if given.keys() - named.keys() or (side != "gold" and name not in given):
        raise ValueError(f"{side} is given for {sorted(given)}, weights for {sorted(named)}")
    return given.get(name)


def tokens(side: str, given) -> list[str]:
    """At least one token, each shown as it is."""
    words = list(given) if isinstance(given, str) else [str(word) for word in given]  # a string: its characters
    if not words:
        raise ValueError(f"{side} must have at least one word, got none")
    return words


def links(given, T: int, S: int) -> list[Link]:
    """Pairs of a target and a source place, in order, each once."""
    pairs = set()
    for link in () if given is None else given:
        if len(link) != 2 or any(int(place) != place for place in link):
            raise ValueError(f"a gold link is a pair (i, j) of whole numbers, got {link!r}")
        i, j = map(int, link)
        if not (0 <= i < T and 0 <= j < S):
            raise ValueError(f"gold link ({i}, {j}) is outside of {T} target and {S} source words")
        pairs.add((i, j))
    return sorted(pairs)


def stacked(given, batch: int | None, what: str = "weights") -> np.ndarray:
    """(layers, heads, T, S) of one sentence, from whatever holds it without a doubt.

    Args:
        given: one of
            (T, S);
            (B, H, T, S), one layer of heads;
            a sequence of L such layers: `outputs.attentions`, `outputs.cross_attentions` of transformers;
            a sequence of steps, each a sequence of L layers (B, H, n, S so far): what `generate()` returns. Steps go
            one below the other; what a step could not see yet has weight 0.
        batch: the sentence, 0..B-1; None where there is one.
        what: what to call it in an error.

    Raises:
        ValueError: another shape, None in place of a tensor, or a batch of several and no `batch`.
    """
    if given is None or holds_none(given) or (isinstance(given, Sequence) and not given):
        raise ValueError(
            f"{what} are None or empty: transformers keeps them only with output_attentions=True and a model that was "
            'loaded with attn_implementation="eager"'
        )
    if isinstance(given, Sequence) and (holds_layers(given[0]) or holds_none(given[0])):
        steps = [stacked(step, batch, f"{what}, step {n}") for n, step in enumerate(given)]
        if len({step.shape[:2] for step in steps}) > 1:
            raise ValueError(f"{what}: steps differ in layers or heads: {[tuple(step.shape) for step in steps]}")
        S = max(step.shape[-1] for step in steps)
        return np.concatenate([np.pad(step, ((0, 0),) * 3 + ((0, S - step.shape[-1]),)) for step in steps], axis=-2)
    if holds_layers(given):
        layers = [of_sentence(layer, batch, f"{what}, layer {n}") for n, layer in enumerate(given)]
        if len({layer.shape for layer in layers}) > 1:
            raise ValueError(f"{what}: layers differ in shape: {[tuple(layer.shape) for layer in layers]}")
        return np.stack(layers)
    array = array_of(given, what)
    return array[None, None] if array.ndim == 2 else of_sentence(array, batch, what)[None]


def holds_none(given) -> bool:
    """Whether this is a step of `generate()` that was kept without its weights."""
    return isinstance(given, Sequence) and any(part is None for part in given)


def holds_layers(given) -> bool:
    """Whether this is a sequence of tensors of four dimensions, and not rows of numbers."""
    return isinstance(given, Sequence) and len(given) > 0 and getattr(given[0], "ndim", 0) == 4


def of_sentence(given, batch: int | None, what: str) -> np.ndarray:
    """(H, T, S): one sentence of (B, H, T, S)."""
    array = array_of(given, what)
    if array.ndim == 3:
        raise ValueError(
            f"{what} {tuple(array.shape)} could be sentences or heads: pass weights[n] (T, S) of one sentence, or "
            "weights[None] for the heads of one"
        )
    if array.ndim != 4:
        raise ValueError(f"{what} must be (T, S), (B, H, T, S) or layers of it, got {tuple(array.shape)}")
    B = len(array)
    if batch is None and B != 1:
        raise ValueError(f"{what} {tuple(array.shape)} hold {B} sentences: choose one, batch=0..{B - 1}")
    if batch is not None and not 0 <= batch < B:
        raise ValueError(f"batch must be in 0..{B - 1} for {what} {tuple(array.shape)}, got {batch!r}")
    return array[batch or 0]


def array_of(given, what: str) -> np.ndarray:
    """Lists, arrays and tensors alike as float64."""
    try:
        return as_array(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers of a rectangular shape, got {type(given).__name__}") from error


def rounded(maps: np.ndarray, what: str) -> np.ndarray:
    """Weights to the nearest 1/UNIT."""
    if not np.isfinite(maps).all():
        raise ValueError(f"{what} {tuple(maps.shape)} must be finite")
    low, high = maps.min(), maps.max()
    if low < 0 or high > 1 + 1e-4:
        raise ValueError(
            f"{what} must lie in 0..1, got {low.item():.4g}..{high.item():.4g}: are they scores, before the softmax?"
        )
    return (maps.clip(max=1) * UNIT).round() / UNIT


def gold_share(weights: np.ndarray, gold: Sequence[Link]) -> float | None:
    """Share of the weight that lies on gold links, in the rows (T, S) that have one; None where there is none."""
    if not gold:
        return None
    i, j = np.array(gold).T
    total = weights[sorted(set(i.tolist()))].sum().item()
    return weights[i, j].sum().item() / total if total else 0.0


def gold_hits(weights: np.ndarray, gold: Sequence[Link]) -> int:
    """Rows (T, S) whose largest weight, the first of equals, lies on a gold link."""
    best = weights.argmax(-1).tolist()
    return sum((i, best[i]) in set(gold) and weights[i, best[i]].item() > 0 for i in {i for i, _ in gold})
