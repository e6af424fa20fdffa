"""What the questions of the assignments allow as inputs: experiments, drawn by chance, in any variant.

`DOMAINS[assignment, question](random, marks)` draws an experiment: a function of what a notebook defines, which asks it
and returns all that the question asks for. Of a gradient that is no more than whether it is NaN, where nothing else is
asked. Two answers to a question are alike if every experiment gives the same.
"""

import ast
import math
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.course.domains import generator, links, normal, size

Draw = random.Random
Marks = dict[str, str]
Experiment = Callable[[dict], Any]


def laid(x: Tensor, marks: Marks, mark: str, swapped: str = "0") -> Tensor:
    """A batch (B, T, …) as the variant stores it: with the first two axes exchanged where the mark says so."""
    return x.transpose(0, 1).contiguous() if marks[mark] == swapped else x


def turned(x: Tensor, marks: Marks) -> Tensor:
    """A table for each of a batch, with queries and keys exchanged where the variant does so."""
    return x.mT.contiguous() if marks.get("@axes.swap@", marks.get("@axes.turn@")) == ".mT" else x


def order(marks: Marks) -> tuple[int, ...]:
    return ast.literal_eval(marks["@axes.order@"])


def lengths(r: Draw, n: int, most: int, least: int = 1) -> Tensor:
    return torch.tensor([r.randint(least, most) for _ in range(n)])


def real(n: Tensor, T: int, at_the_end: bool) -> Tensor:
    """The real places (B, T) of texts that are filled up."""
    place = torch.arange(T)
    return place >= T - n[:, None] if at_the_end else place < n[:, None]


def weights_of(r: Draw, *shape: int) -> Tensor:
    return normal(r, *shape, scales=(1, 1, 4)).softmax(-1)


def kept(space: dict, name: str, *inputs: Any) -> list:
    """What a function gives, and whether its inputs stay as they are: asked of those that may not change them."""
    given = [x.clone() if isinstance(x, Tensor) else x for x in inputs]
    result = space[name](*given)
    same = [torch.allclose(x, y, 0, 0, equal_nan=True) for x, y in zip(given, inputs, strict=True) if type(x) is Tensor]
    return [result, all(same)]


# --- 1: language models -----------------------------------------------------------------------------


def loss_and_perplexity(r: Draw, marks: Marks) -> Experiment:
    B, T, V = size(r), size(r, 12), r.randint(3, 9)
    n, words = lengths(r, B, T), torch.randint(V, (B, T), generator=generator(r))
    padding = ~real(n, T, marks["@side.pads@"] == "left")
    logits = normal(r, B, T, V, scales=(1, 3, 300)).clamp(-1000, 1000)
    logits[padding] = r.choice([0.0, 99.0, torch.nan, torch.inf])
    inputs = laid(logits, marks, "@axes.time@"), laid(words, marks, "@axes.time@"), n
    return lambda space: space["loss_and_perplexity"](*(x.clone() for x in inputs))


def make_batch(r: Draw, marks: Marks) -> Experiment:
    texts = [[r.randint(3, 99) for _ in range(r.choice([0, 1, 2, r.randint(0, 9)]))] for _ in range(size(r))]

    def experiment(space: dict) -> Any:
        given = [list(words) for words in texts]
        batch = space["make_batch"](given)
        return [*batch, [str(x.dtype) for x in batch], given]

    return experiment


def cell_of(r: Draw, d_in: int, d_hidden: int) -> Callable:
    W, U = normal(r, d_in, d_hidden, scales=(1,)), normal(r, d_hidden, d_hidden, scales=(1,))
    return lambda x, h: torch.tanh(x @ W / 2 + h @ U)


def read(r: Draw, marks: Marks) -> Experiment:
    B, T, d_in, d = size(r), size(r, 12), size(r, 4), size(r, 4)
    cell, k = cell_of(r, d_in, d), r.choice([1, 2, 3, T, T + 1])
    x, state = laid(normal(r, B, T, d_in, scales=(1,)), marks, "@axes.time@"), normal(r, B, d, scales=(1,))

    def experiment(space: dict) -> Any:
        given = x.clone().requires_grad_()
        states = space["read"](cell, given, state.clone(), k)
        share = torch.randn(x.shape[:2], generator=torch.Generator().manual_seed(T))
        return [states.detach(), *torch.autograd.grad((share[..., None] * states).sum(), given)]

    return experiment


# --- 2: encoders, decoders, search ------------------------------------------------------------------


def encode(r: Draw, marks: Marks) -> Experiment:
    B, S, d_in, d = size(r), size(r), size(r, 4), size(r, 4)
    n, cell = lengths(r, B, S), cell_of(r, d_in, d)
    x = normal(r, B, S, d_in, scales=(1, 1, 1000))
    x[~real(n, S, marks["@side.real@"] == "last")] = r.choice([0.0, 9.0, torch.nan])
    inputs = laid(x, marks, "@axes.time@"), n, normal(r, B, d, scales=(1,))
    return lambda space: kept(space, "encode", cell, *inputs)


def greedy(r: Draw, marks: Marks) -> Experiment:
    script = [[r.choice([2, 3, 4, 5, 6, 7]) for _ in range(r.randint(1, 8))] for _ in range(size(r))]
    script = [[*words, 2] if r.random() < 0.7 else words for words in script]
    V, longest = 9, r.randint(1, 9)
    table, start = normal(r, V, V, scales=(3,)), normal(r, len(script), V, scales=(1,))

    def experiment(space: dict) -> Any:
        by_heart, asked = space["Script"](script), []

        def step(token: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
            asked.append(token)
            return table[token] + state - 9.0 * (len(asked) % 3), 0.5 * state.roll(1, -1)

        said = space["greedy"](by_heart, torch.zeros(len(script), 1), longest)
        chosen = space["greedy"](step, start.clone(), longest)
        return [said, chosen, len(by_heart.tokens), len(asked), str(said.dtype)]

    return experiment


def beam_search(r: Draw, marks: Marks) -> Experiment:
    seed, words, k, longest = r.random(), [*"abc", "."], r.choice([1, 2, 3, 5, 40]), r.randint(1, 5)

    def following(said: tuple) -> dict[str, float]:
        if said[-1:] == (".",):
            raise ValueError("it has ended")
        r = random.Random(f"{seed}{said}")
        known = r.sample(words, r.randint(1, len(words)))
        shares = [r.expovariate(1) + 0.01 for _ in known]
        return {word: math.log(share / sum(shares)) for word, share in zip(known, shares, strict=True)}

    def experiment(space: dict) -> Any:
        kept = space["beam_search"](following, k, longest)
        return [len(kept), [list(words) for words, _ in kept], torch.tensor([p for _, p in kept])]

    return experiment


# --- 3: scores --------------------------------------------------------------------------------------


def additive_scores(r: Draw, marks: Marks) -> Experiment:
    B, T, S, q, k, h = (size(r) for _ in range(6))
    query, key = normal(r, B, T, q, scales=(1, 1, 100)), normal(r, B, S, k, scales=(1, 1, 100))
    parameters = [normal(r, *shape, scales=(1,)) for shape in ((h, q), (h, k), (h,), (h,))]
    return lambda space: space["additive_scores"](*(x.clone() for x in (query, key, *parameters)))


def spread(r: Draw, marks: Marks) -> Experiment:
    inputs = r.choice([1, 2, r.randint(3, 600)]), r.choice([0.0, r.uniform(-3, 3)]), r.choice([1.0, r.uniform(0.2, 3)])

    def experiment(space: dict) -> Any:
        variance, factor = space["spread"](*inputs)
        return [variance / inputs[0], factor * math.sqrt(inputs[0]), type(variance).__name__, type(factor).__name__]

    return experiment


def local_weights(r: Draw, marks: Marks) -> Experiment:
    B, T, S = size(r), size(r), size(r, 12)
    scores = turned(normal(r, B, T, S, scales=(1, 1, 300)).clamp(-1000, 1000), marks)
    centres = torch.rand(B, T, generator=generator(r)) * (S + 6) - 3 + int(marks["@first.n@"])
    centres = centres.round() if r.random() < 0.4 else centres
    inputs = centres, lengths(r, B, S)

    def experiment(space: dict) -> Any:
        given = scores.clone().requires_grad_()
        weights = space["local_weights"](given, *(x.clone() for x in inputs))
        slope = torch.autograd.grad(weights.square().sum(), given)[0]
        return [weights.detach(), bool(slope.isnan().any()), bool(torch.equal(given, scores))]

    return experiment


# --- 4: masked softmax ------------------------------------------------------------------------------


def masked_softmax(r: Draw, marks: Marks) -> Experiment:
    B, T, S = size(r), size(r), size(r)
    scores = turned(normal(r, B, T, S, scales=(1, 1, 30, 1e4)), marks)
    hide = torch.rand([n if r.random() < 0.8 else 1 for n in (B, T, S)], generator=generator(r)) < r.choice([0.4, 0.9])
    mask = turned(hide, marks) == (marks["@hidden@"] == "True")

    def experiment(space: dict) -> Any:
        given, seen = scores.clone().requires_grad_(), mask.clone()
        weights = space["masked_softmax"](given, seen)
        slope = torch.autograd.grad(weights.square().sum(), given)[0] if weights.requires_grad else given
        kept = torch.equal(given, scores) and torch.equal(seen, mask)
        exact = turned(weights.detach(), marks)[hide.expand(B, T, S)]
        return [weights.detach(), bool(slope.isnan().any()), kept, bool((exact == 0).all())]

    return experiment


def window_mask(r: Draw, marks: Marks) -> Experiment:
    T = size(r, 12)
    inputs = lengths(r, size(r), T, least=0), T, r.choice([1, 2, 3, r.randint(1, 14)])

    def experiment(space: dict) -> Any:
        mask = space["window_mask"](inputs[0].clone(), *inputs[1:])
        return [mask, str(mask.dtype)]

    return experiment


def streamed_context(r: Draw, marks: Marks) -> Experiment:
    B, T, d = size(r), size(r), size(r)
    shift = r.choice([0.0, 0.0, 900.0, -900.0])
    chunks = []
    for _ in range(size(r, 12)):
        C = size(r, 4)
        scores = normal(r, B, T, C, scales=(1, 1, 300)).clamp(-900, 900)
        chunks.append((turned((scores + shift).clamp(-1000, 1000), marks), normal(r, B, C, d, scales=(1, 1, 1000))))
        shift = r.choice([shift, -shift])
    return lambda space: space["streamed_context"](iter([(e.clone(), v.clone()) for e, v in chunks]))


# --- 5: alignment -----------------------------------------------------------------------------------


def step(r: Draw, marks: Marks) -> Experiment:
    B, S, seed, widths = size(r), size(r, 30), r.getrandbits(30), [size(r, 6) for _ in range(4)]

    def experiment(space: dict) -> Any:
        state, y, h, p = space["draw"](B, S, seed, *widths)
        scale = [1, 1, 1, 100][seed % 4]
        return space["step"](state, scale * y, scale * h, p)

    return experiment


def links_of(r: Draw, marks: Marks) -> Experiment:
    T, S, rows, columns = size(r), size(r), r.choice([0, 1, 4]), r.choice([0, 1, 4])
    weights = torch.randint(0, 65, (T + rows, S + columns), generator=generator(r)) / 64
    weights[torch.rand(T + rows, generator=generator(r)) < 0.2] = 0.0
    weights[T:] = weights[:, S:] = r.choice([0.0, 9.0, torch.nan, torch.inf])
    if r.random() < 0.3:
        weights[:T, :S] *= 1e-4
    return lambda space: {
        (int(a), int(b)) for a, b in space["links"](laid(weights.clone(), marks, "@axes.places@"), T, S)
    }


def error_rate(r: Draw, marks: Marks) -> Experiment:
    sure = [links(r, 6) for _ in range(size(r))]
    merely = [links(r, 8) for _ in sure]
    predicted = [links(r, 8) | {x for x in s | m if r.random() < 0.5} for s, m in zip(sure, merely, strict=True)]
    for a, s in zip(predicted, sure, strict=True):
        if not a and not s:
            a.add((0, 0))

    def experiment(space: dict) -> Any:
        given = [[set(x) for x in part] for part in (predicted, sure, merely)]
        rate = space["error_rate"](*given)
        return [rate, type(rate).__name__, given == [predicted, sure, merely]]

    return experiment


# --- 6: cost and gradients --------------------------------------------------------------------------


def moved_weights(r: Draw, marks: Marks) -> Experiment:
    shape = size(r), size(r), size(r)
    scores, moves = normal(r, *shape, scales=(1, 1, 300)), normal(r, *shape, scales=(1, 1, 1000))

    return lambda space: kept(space, "moved_weights", scores, moves)


def additive_gradients(r: Draw, marks: Marks) -> Experiment:
    B, T, S, q, k, a = (size(r) for _ in range(6))
    shapes = (B, T, q), (B, S, k), (a, q), (a, k), (a,)
    inputs = [normal(r, *shape, scales=(1, 1, 30)) for shape in shapes]
    g = normal(r, B, T, S, scales=(1, 1, 1000)).permute(order(marks)).contiguous()
    return lambda space: kept(space, "additive_gradients", *inputs, g)


def operations(r: Draw, marks: Marks) -> Experiment:
    most = r.choice([3, 9, 600, 10**6])
    inputs = [*(r.randint(1, most) for _ in range(5)), r.random() < 0.5]
    return lambda space: space["operations"](*inputs)


# --- 7: copying -------------------------------------------------------------------------------------


def number_words(r: Draw, marks: Marks) -> Experiment:
    vocabulary = ["<unk>", *r.sample("abcdefgh", r.randint(0, 6))]
    source = [r.choice("abcdefghijklmn") for _ in range(r.choice([0, 1, 3, r.randint(0, 20)]))]
    target = [r.choice([*"abcdefghijklmnop", "<unk>"]) for _ in range(r.choice([0, 1, r.randint(0, 15)]))]

    def experiment(space: dict) -> Any:
        given = list(source), list(target), list(vocabulary)
        numbered = space["number_words"](*given)
        return [*numbered, {type(n).__name__ for n in [*numbered[1], *numbered[2]]}, given]

    return experiment


def mixture(r: Draw, marks: Marks) -> Experiment:
    B, T, V, S = size(r), size(r), size(r), size(r)
    first, pad, batch = int(marks["@count.first@"]), int(marks["@count.pad@"]), int(marks["@axes.batch@"])
    big = V + r.choice([0, 1, 3])
    at = torch.arange(S) < lengths(r, B, S, least=0)[:, None]
    source = torch.randint(big, (B, S), generator=generator(r))
    weights = normal(r, B, T, S, scales=(1, 3)).masked_fill(~at[:, None], -torch.inf).softmax(-1).nan_to_num(0)
    gate = torch.rand(B, T, generator=generator(r)) if r.random() < 0.7 else torch.ones(B, T) * (r.random() < 0.5)
    floats = [x.movedim(0, batch).contiguous() for x in (weights_of(r, B, T, V), gate, weights)]
    ids = (source + first).masked_fill(~at, pad).movedim(0, batch).contiguous()

    def experiment(space: dict) -> Any:
        given = [x.clone().requires_grad_() for x in floats]
        mixed = space["mixture"](*given, ids.clone(), big)
        share = torch.randn(mixed.shape, generator=torch.Generator().manual_seed(S)) * (mixed > 0)
        slopes = torch.autograd.grad((share * mixed).sum(), given)
        return [mixed.detach(), *(slope * ((x > 0) & (x < 1)) for slope, x in zip(slopes, floats, strict=True))]

    return experiment


def coverage(r: Draw, marks: Marks) -> Experiment:
    B, T, S, batch = size(r), size(r, 12), size(r), int(marks["@axes.batch@"])
    mask = real(lengths(r, B, T), T, at_the_end=False)
    weights, junk = weights_of(r, B, T, S), r.choice([0.0, 9.0, torch.nan])
    covered = 3 * torch.rand(B, T, S, generator=generator(r))
    clean = weights.movedim(0, batch).contiguous()
    inputs = [x.masked_fill(~mask[..., None], junk).movedim(0, batch).contiguous() for x in (weights, covered)]

    def experiment(space: dict) -> Any:
        loss = kept(space, "coverage_loss", *inputs, mask.movedim(0, batch).contiguous())
        return [*kept(space, "coverage", clean), *loss]

    return experiment


# --- 8: self-attention ------------------------------------------------------------------------------


def split_and_merge(r: Draw, marks: Marks) -> Experiment:
    B, T, H, d = size(r), size(r), size(r, 6), size(r, 6)
    x, y = normal(r, B, T, H * d, scales=(1, 1000)), normal(r, B, H, T, d, scales=(1, 1000))
    y = y.permute(order(marks)).contiguous()
    return lambda space: [*kept(space, "split", x, H), *kept(space, "merge", y)]


def multi_head(r: Draw, marks: Marks) -> Experiment:
    B, T, H, d = size(r), size(r), size(r, 4), size(r, 4)
    x, matrices = normal(r, B, T, H * d, scales=(1, 1, 30)), [normal(r, H * d, H * d, scales=(1,)) for _ in range(4)]
    hide = torch.rand([T, T] if r.random() < 0.5 else [B, T, T], generator=generator(r)) < r.choice([0.0, 0.5, 0.9])
    hide &= ~torch.eye(T, dtype=torch.bool)
    mask = hide == (marks["@hidden@"].lower() == "true")
    return lambda space: kept(space, "multi_head", x, *matrices, H, mask)


def tester(r: Draw, marks: Marks) -> Experiment:
    T, d, size_of_it = r.randint(2, 4), size(r, 4), r.choice([0.0, 0.0005, 0.06, 0.5, 3.0])
    x, place = normal(r, T, d, scales=(1, 3)), torch.arange(float(T))[:, None]
    special = tuple(r.sample(range(T), T))

    def in_special_order(x: Tensor) -> bool:
        return tuple(x[:, 0].argsort().tolist()) == special

    sound = r.choice(
        [
            lambda x: 2 * x,
            lambda x: 2 * x,
            lambda x: x + x.sum(0),
            lambda x: x.sort(0).values,
            lambda x: 0 * x + x.mean(0),
            lambda x: x.mean(0).expand(len(x), -1) + 20,
        ]
    )
    f = r.choice(
        [
            sound,
            lambda x: sound(x) + size_of_it * place,
            lambda x: sound(x) - size_of_it * place,
            lambda x: sound(x) + size_of_it * in_special_order(x),
            lambda x: sound(x) - size_of_it * in_special_order(x) * torch.arange(float(d)),
        ]
    )
    return lambda space: kept(space, marks["@law.name@"], f, x)


# --- 9: seeing and explaining -----------------------------------------------------------------------


def gaze_and_hits(r: Draw, marks: Marks) -> Experiment:
    B, T, height, width = size(r), size(r), size(r, 5), size(r, 5)
    weights = weights_of(r, B, T, height * width)
    weights[torch.rand(B, T, generator=generator(r)) < 0.2] = 0.0
    centres = torch.randint(-8, 9, (height * width, 2), generator=generator(r)) / 8
    corners = torch.randint(-8, 9, (B, T, 2, 2), generator=generator(r)) / 8
    low, high = corners.sort(2).values.unbind(2)
    top, bottom = (low, high) if marks["@frame.low@"] == "top" else (high, low)
    boxes = torch.stack([low[..., 0], top[..., 1], high[..., 0], bottom[..., 1]], -1)
    inputs = turned(weights, marks), centres, boxes

    def experiment(space: dict) -> Any:
        hit = kept(space, "hits", *inputs)
        return [*kept(space, "gaze", inputs[0], height, width), *hit, str(hit[0].dtype)]

    return experiment


def unevenness(r: Draw, marks: Marks) -> Experiment:
    B, T, M = size(r), size(r, 12), size(r)
    mask = real(lengths(r, B, T), T, marks["@side.text@"] == "beginning")
    weights = weights_of(r, B, T, M).masked_fill(~mask[..., None], r.choice([0.0, 9.0, torch.nan]))
    weights = turned(weights, marks)

    def experiment(space: dict) -> Any:
        given = weights.clone().requires_grad_()
        penalty, same = kept(space, "unevenness", weights, mask)
        return [penalty, same, *torch.autograd.grad(space["unevenness"](given, mask.clone()), given)]

    return experiment


def other_weights(r: Draw, marks: Marks) -> Experiment:
    d = size(r, 4)
    S = r.choice([r.randint(20, 24), r.randint(1, d + 1)])
    V = torch.randn(S, d, generator=generator(r), dtype=torch.float64)
    alpha = torch.rand(S, generator=generator(r), dtype=torch.float64).softmax(0)

    def experiment(space: dict) -> Any:
        given = V.clone(), alpha.clone()
        other = space["other_weights"](*given)
        kept = torch.equal(given[0], V) and torch.equal(given[1], alpha)
        if other is None or S <= d + 1:
            return [other is None, kept]
        moved = float((other - alpha).abs().sum() / 2) > float(marks["@distance@"])
        exact = (other @ V - alpha @ V).abs().max() < 1e-8 and abs(other.sum() - 1) < 1e-8 and other.min() >= -1e-9
        return [False, kept, moved, bool(exact)]

    return experiment


DOMAINS: dict[tuple[str, str], Callable[[Draw, Marks], Experiment]] = {
    ("a01", "q1"): loss_and_perplexity, ("a01", "q2"): make_batch, ("a01", "q3"): read,
    ("a02", "q1"): encode, ("a02", "q2"): greedy, ("a02", "q3"): beam_search,
    ("a03", "q1"): additive_scores, ("a03", "q2"): spread, ("a03", "q3"): local_weights,
    ("a04", "q1"): masked_softmax, ("a04", "q2"): window_mask, ("a04", "q3"): streamed_context,
    ("a05", "q1"): step, ("a05", "q2"): links_of, ("a05", "q3"): error_rate,
    ("a06", "q1"): moved_weights, ("a06", "q2"): additive_gradients, ("a06", "q3"): operations,
    ("a07", "q1"): number_words, ("a07", "q2"): mixture, ("a07", "q3"): coverage,
    ("a08", "q1"): split_and_merge, ("a08", "q2"): multi_head, ("a08", "q3"): tester,
    ("a09", "q1"): gaze_and_hits, ("a09", "q2"): unevenness, ("a09", "q3"): other_weights,
}  # fmt: skip
