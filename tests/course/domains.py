"""What the exercises of the chapters allow as inputs: drawn by chance, small and large, usual and extreme.

`DOMAINS[check](random)` draws the inputs of one call. `PROPERTIES[check](answer, *inputs)` says whether an answer is
right, for exercises with more than one right answer.
"""

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlib.course.checks.language import Overheard

Draw = random.Random


def generator(r: Draw) -> torch.Generator:
    return torch.Generator().manual_seed(r.getrandbits(40))


def normal(r: Draw, *shape: int, scales: tuple[float, ...] = (1, 1, 1, 30, 1e5)) -> Tensor:
    """Standard normal numbers, now and then large ones, or all equal."""
    x = torch.randn(shape, generator=generator(r)) * r.choice(scales)
    return torch.zeros(shape) if len(scales) > 1 and r.random() < 0.05 else x


def size(r: Draw, most: int = 9) -> int:
    return r.choice([1, 2, 3, r.randint(1, most)])


def mask(r: Draw, *shape: int) -> Tensor:
    x = torch.rand(shape, generator=generator(r))
    return x > r.choice([0.5, 0.8, 0.2, -1, 2])


def repeated_words(r: Draw) -> tuple:
    S = size(r)
    counts = [r.choice([0, 1, 2, 3, 40]) for _ in range(S)]
    counts[r.randrange(S)] = r.randint(1, 5)
    return normal(r, S), torch.tensor(counts)


def looks_everywhere(r: Draw) -> tuple:
    S = size(r, 7)
    return (normal(r, S, S + r.choice([0, 0, 1, 5]), scales=(1,)),)


def past_and_padding(r: Draw) -> tuple:
    T = size(r)
    return torch.tensor([r.randint(0, T) for _ in range(size(r, 5))]), T


def softmax_backward(r: Draw) -> tuple:
    shape = [size(r, 5) for _ in range(r.randint(1, 4))]
    visible = mask(r, *shape)
    weights = normal(r, *shape).masked_fill(~visible, -torch.inf).softmax(-1).nan_to_num(0)
    return weights, normal(r, *shape)


def masked_softmax(r: Draw) -> tuple:
    B, T, S = size(r, 4), size(r, 5), size(r, 6)
    kept = [n if r.random() < 0.7 else 1 for n in (B, T, S)]
    return normal(r, B, T, S), mask(r, *kept)


def distance_score(r: Draw) -> tuple:
    B, T, S, d = (size(r, 5) for _ in range(4))
    return normal(r, B, T, d, scales=(1, 1, 3)), normal(r, B, S, d, scales=(1, 1, 3))


def sharpness(r: Draw) -> tuple:
    S = r.choice([2, 3, r.randint(2, 9000)])
    return r.uniform(1 / S, 0.999), S


def look_back(r: Draw) -> tuple:
    d = size(r, 4)
    return normal(r, size(r), d, scales=(1, 1, 30)), normal(r, r.choice([0, 1, r.randint(0, 8)]), d, scales=(1, 1, 30))


def latest_only(r: Draw) -> tuple:
    return size(r), r.choice([0, 1, r.randint(0, 9)]), r.choice([1, 2, r.randint(1, 12), 60])


def links(r: Draw, most: int) -> set[tuple[int, int]]:
    return {(r.randrange(6), r.randrange(6)) for _ in range(r.randint(0, most))}


def error_rate(r: Draw) -> tuple:
    sure = [links(r, 6) for _ in range(size(r, 5))]
    possible = [s | links(r, 8) for s in sure]
    predicted = [links(r, 8) | {x for x in p if r.random() < 0.5} for p in possible]
    if not any(sure) and not any(predicted):
        predicted[0].add((0, 0))
    return predicted, sure, possible


def row_shift(r: Draw) -> tuple:
    while True:
        k = r.randint(-3, 3)
        sure = [links(r, 12) | {(5, 5)} for _ in range(size(r, 4))]
        predicted = [{(i - k, j) for i, j in s if r.random() < 0.8} | links(r, 4) for s in sure]
        hits = sorted(
            sum((i + k, j) in s for a, s in zip(predicted, sure, strict=True) for i, j in a) for k in range(-3, 4)
        )
        if hits[-1] > hits[-2]:
            return predicted, sure


def beam_step(r: Draw) -> tuple:
    k = size(r, 5)
    log_prob = -normal(r, k, scales=(1, 30)).abs() - torch.rand(k, generator=generator(r))
    log_next = 3 * torch.randn(k, r.randint(max(k, 2), 9), generator=generator(r))
    ended = mask(r, k)
    if ended.all() and k > 1 and r.random() < 0.5:
        ended[r.randrange(k)] = False
    return log_prob, log_next.log_softmax(-1), ended


def penalty_needed(r: Draw) -> tuple:
    n = size(r, 20)
    log_p = -r.uniform(0.1, 15)
    return log_p, n, log_p * r.choice([r.uniform(1, 3), r.uniform(0.2, 1)]), n + size(r, 20)


def break_even(r: Draw) -> tuple:
    d = size(r, 600)
    return r.choice([3 * d, 3 * d + 1, 3 * d - 1, r.randint(1, 4000)]) or 1, d


def direct_gradient(r: Draw) -> tuple:
    S, d = size(r, 7), size(r, 6)
    return normal(r, d, scales=(1, 30)), normal(r, d, scales=(1, 1, 1000)), normal(r, S, d, scales=(1, 1, 3))


def copied_words(r: Draw) -> tuple:
    source = [r.choice(["a", "A", "the", "lamp", "The", "12"]) for _ in range(size(r))]
    return normal(r, size(r, 20), len(source), scales=(1, 1, 4)).softmax(-1) + 1e-4 * normal(
        r, 1, len(source), scales=(1,)
    ), source


def gate_gradient(r: Draw) -> tuple:
    shape = size(r, 4), size(r, 5)
    said, copied = mask(r, *shape), mask(r, *shape)
    copied |= ~said
    return (
        normal(r, *shape, scales=(1, 1, 30, 1e4)),
        normal(r, *shape, scales=(1,)).sigmoid() * said,
        (normal(r, *shape, scales=(1,)).sigmoid() * copied),
    )


def even_look(r: Draw) -> tuple:
    return (normal(r, size(r, 4), size(r), size(r, 4)),)


def reorder_heads(r: Draw) -> tuple:
    order = list(range(size(r, 6)))
    r.shuffle(order)
    d = len(order) * size(r, 4)
    return normal(r, d, d, scales=(1,)), order


def blur(r: Draw) -> tuple:
    return (normal(r, size(r, 3), size(r, 5), size(r, 5), size(r, 6), scales=(1, 2, 1e5)).softmax(-1),)


def divided_gaze(r: Draw) -> tuple:
    T = size(r, 7)
    return T, T * size(r, 5)


def mirrored(r: Draw) -> tuple:
    def thing() -> list[str]:
        word = r.choice(
            ["apple", "owl", "egg", "eye", "star", "key", "square", "one", "three", "left", "above", "of"][:9]
        )
        return ["an" if word[0] in "aeiou" and word != "one" else "a", word]

    return (tuple(thing() + r.choice([["above"], ["left", "of"]]) + thing()),)


def unseen_directions(r: Draw) -> tuple:
    S, d = size(r, 12), size(r, 6)
    H = torch.randn(S, d, generator=generator(r), dtype=torch.float64)
    if r.random() < 0.5:
        H = H[[r.randrange(S) for _ in range(S)]]
    if r.random() < 0.2:
        H[:, 0] = 1.0
    return (H * r.choice([0.0, 1.0, 1.0, 3.0]),)


def least_weight(r: Draw) -> tuple:
    z = torch.tensor([r.choice([r.uniform(0.05, 0.5), r.uniform(0.5, 9)]) for _ in range(size(r))])
    return z, r.choice([0.01, 0.05, 0.3, 0.7, 1.0])


def apply_merges(r: Draw) -> tuple:
    word, pieces, merges = "".join(r.choice("abc") for _ in range(r.choice([0, 1, 2, 5, 12]))), list("abc"), []
    for _ in range(r.choice([0, 1, 3, 6])):
        pair = r.choice(pieces), r.choice(pieces)
        if pair not in merges:
            merges.append(pair)
            pieces.append("".join(pair))
    return word, merges


def whole_gradient(r: Draw) -> tuple:
    N, P = size(r, 5), size(r, 5)
    tokens = torch.tensor([r.choice([0, 1, 2, 7, 300]) for _ in range(N)])
    tokens[r.randrange(N)] += 1
    g = normal(r, N, P, scales=(1, 1, 1e4))
    g[tokens == 0] = torch.nan
    return g, tokens


def read_in_parts(r: Draw) -> tuple:
    torch.manual_seed(r.getrandbits(30))
    T = size(r, 9)
    return Overheard(), torch.randint(11, (size(r, 3), T)), r.choice([1, 2, T, T + 1, r.randint(1, 9)])


def joint_perplexity(r: Draw) -> tuple:
    n, long = size(r, 5), r.choice([1, 10, 4000])
    return [r.uniform(0, 6) for _ in range(n)], [r.randint(1, 9) * long for _ in range(n)]


def exactly_right(r: Draw) -> tuple:
    B, T, V = size(r, 9), size(r, 6), r.randint(3, 8)
    targets = torch.zeros(B, T, dtype=torch.long)
    for row in targets:
        n = r.randint(1, T)
        row[:n] = torch.tensor([r.randint(3 if V > 3 else 1, V - 1) for _ in range(n)])
        row[n - 1] = min(2, V - 1)
    logits = normal(r, B, T, V, scales=(1,))
    for b in range(B):
        if r.random() < 0.7:
            for t in range(T):
                if r.random() < 0.9:
                    logits[b, t, targets[b, t]] += r.choice([9, 9, 9, -9] if targets[b, t] else [9, -9])
    return logits, targets


def last_real_state(r: Draw) -> tuple:
    B, S = size(r, 5), size(r, 7)
    return normal(r, B, S, size(r, 4)), torch.tensor([r.randint(1, S) for _ in range(B)])


def blind_baseline(r: Draw) -> tuple:
    N, M, P = size(r, 40), size(r, 40), size(r, 9)
    boxes, dev = mask(r, N, P), mask(r, M, P)
    dev[: M // 2 + 1, r.randrange(P)] = True
    counts = dev.sum(0).sort(descending=True).values
    if P > 1 and counts[0] == counts[1]:  # no place of its own is best
        return blind_baseline(r)
    return torch.tensor([r.randrange(P) for _ in range(N)]), boxes, dev


# --- exercises with many right answers --------------------------------------------------------------


def is_even_query(q: Any, keys: Tensor) -> bool:
    if not isinstance(q, Tensor) or q.shape != keys.shape[1:]:
        return False
    scores = keys.double() @ q.double()
    return bool(scores.max() - scores.min() < 1e-3 and abs(q.norm() - 1) < 1e-3)


def is_divided(w: Any, T: int, M: int) -> bool:
    return (
        isinstance(w, Tensor)
        and w.shape == (T, M)
        and bool(
            (w.sum(1) - 1).abs().max() < 1e-4 and (w.sum(0) - T / M).abs().max() < 1e-4 and ((w != 0).sum(0) == 1).all()
        )
    )


PROPERTIES: dict[str, Callable[..., bool]] = {"looks_everywhere": is_even_query, "divided_gaze": is_divided}
DOMAINS: dict[str, Callable[[Draw], tuple]] = {
    f.__name__: f
    for f in (
        repeated_words, looks_everywhere, past_and_padding, softmax_backward, masked_softmax, distance_score,
        sharpness, look_back, latest_only, error_rate, row_shift, beam_step, penalty_needed, break_even,
        direct_gradient, copied_words, gate_gradient, even_look, reorder_heads, blur, divided_gaze, mirrored,
        unseen_directions, least_weight, apply_merges, whole_gradient, read_in_parts, joint_perplexity, exactly_right,
        last_real_state, blind_baseline,
    )
}  # fmt: skip
