"""Chapters 1 and 2."""

import math

import torch

from assignments.practice import Variants


def parts(model, tokens, size):
    state, logits = None, []
    for start in range(0, tokens.shape[1], size):
        output = model(tokens[:, start : start + size], state)
        state = output.state
        logits.append(output.logits)
    return torch.cat(logits, dim=1)


def recursive(model, tokens, size, state=None):
    head, tail = tokens[:, :size], tokens[:, size:]
    output = model(head, state)
    if not tail.shape[1]:
        return output.logits
    return torch.cat([output.logits, recursive(model, tail, size, output.states[:, -1])], 1)


def handing(choose):
    """A reader that hands on what `choose(first output, last output)` says."""

    def read(model, tokens, size):
        first = last = None
        logits = []
        for part in tokens.split(size, dim=1):
            last = model(part, choose(first, last) if last else None)
            first = first or last
            logits.append(last.logits)
        return torch.cat(logits, dim=1)

    return read


def without_rest(model, tokens, size):
    return parts(model, tokens[:, : max(tokens.shape[1] // size, 1) * size], size)


def ours(nats, tokens):
    return math.exp(sum(n * t for n, t in zip(nats, tokens, strict=True)) / sum(tokens))


def by_torch(nats, tokens):
    nats, tokens = torch.tensor(nats), torch.tensor(tokens, dtype=torch.float32)
    return (nats @ tokens / tokens.sum()).exp().item()


def mean(numbers):
    return sum(numbers) / len(numbers)


def words(logits, targets):
    right = (logits.argmax(-1) == targets) | (targets == 0)
    return right.all(-1).float().mean().item()


def word_by_word(logits, targets):
    count = 0
    for row, target in zip(logits.argmax(-1).tolist(), targets.tolist(), strict=True):
        count += all(said == y for said, y in zip(row, target, strict=True) if y)
    return count / len(targets)


def judged(judge):
    """The share that `judge(right, real)` gives for booleans (B, T)."""
    return lambda logits, y: float(judge(logits.argmax(-1) == y, y != 0))


def picked(states, lengths):
    return states[torch.arange(len(states)), lengths - 1]


def gathered(states, lengths):
    index = (lengths - 1).view(-1, 1, 1).expand(-1, 1, states.shape[-1])
    return states.gather(1, index).squeeze(1)


def at(place):
    """A function that takes the place `place(lengths, S)` of each row."""
    return lambda states, lengths: states[torch.arange(len(states)), place(lengths, states.shape[1])]


def real(states, lengths):
    return states * (torch.arange(states.shape[1]) < lengths.unsqueeze(1)).unsqueeze(-1)


VARIANTS = {
    "read_in_parts": Variants(
        right={
            "a loop": parts,
            "recursive": recursive,
            "last of the states": handing(lambda first, last: last.states[:, -1].detach()),
        },
        wrong={
            "no state": (handing(lambda first, last: None), "empty memory"),
            "state after the first token": (handing(lambda first, last: last.states[:, 0]), "*first* token"),
            "state of the first part": (handing(lambda first, last: first.state), "*first* part"),
            "all states": (
                handing(lambda first, last: last.states),
                "it stopped on inputs model = an RNNLM, tokens = (2, 7) int64, size = 3",
            ),
            "rest left out": (without_rest, "shorter part is missing"),
            "all at once": (lambda model, tokens, size: model(tokens).logits, "7 tokens at once"),
            "one token more": (lambda model, tokens, size: parts(model, tokens, size + 1), "4 tokens at once"),
            "probabilities": (lambda *a: parts(*a).softmax(-1), "before the softmax"),
            "states": (lambda model, tokens, size: model(tokens[:, :size]).states, "its shape is (1, 1, 4)"),
            "state halved": (handing(lambda first, last: last.state / 2), "differ from those of one reading"),
        },
    ),
    "joint_perplexity": Variants(
        right={
            "sums": ours,
            "a tensor": lambda nats, n: torch.tensor(ours(nats, n)),
            "torch": by_torch,
            "a product of powers": lambda nats, n: math.prod(math.exp(x * t / sum(n)) for x, t in zip(nats, n)),  # noqa: B905
        },
        wrong={
            "nats": (lambda nats, n: math.log(ours(nats, n)), "one step further"),
            "mean of perplexities": (lambda nats, n: mean([math.exp(x) for x in nats]), "perplexities of texts"),
            "weighted perplexities": (
                lambda nats, n: sum(math.exp(x) * t for x, t in zip(nats, n, strict=True)) / sum(n),
                "no mean of exponentials",
            ),
            "mean over texts": (lambda nats, n: math.exp(mean(nats)), "a short text counts"),
            "bits": (lambda nats, n: 2 ** math.log(ours(nats, n)), "not in bits"),
            "never divided": (lambda nats, n: ours(nats, n) ** sum(n), "never divided"),
            "divided by texts": (lambda nats, n: ours(nats, n) ** (sum(n) / len(n)), "number of texts"),
            "probability": (lambda nats, n: 1 / ours(nats, n), "sign of the exponent"),
            "of two numbers": (
                lambda nats, n: torch.tensor([ours(nats, n)] * 2),
                "returns Tensor of shape (2,); a number",
            ),
            "added up, then a root": (
                lambda nats, n: math.exp(sum(x * t for x, t in zip(nats, n, strict=True))) ** (1 / sum(n)),
                "OverflowError",
            ),
            "rounded": (lambda nats, n: round(ours(nats, n)), "yours is 7, and asked for is 7.389"),
            "the first text": (lambda nats, n: math.exp(nats[0]), "not the perplexity"),
        },
    ),
    "exactly_right": Variants(
        right={
            "masked": words,
            "a tensor": lambda logits, y: torch.tensor(words(logits, y)),
            "word by word": word_by_word,
            "counted": lambda logits, y: 1 - ((logits.argmax(-1) != y) & (y != 0)).any(-1).sum().item() / len(y),
        },
        wrong={
            "letters": (judged(lambda right, real: right[real].float().mean()), "*letters*"),
            "places": (judged(lambda right, real: right.float().mean()), "padding and all"),
            "padding judged": (judged(lambda right, real: right.all(-1).float().mean()), "behind <eos>"),
            "any": (judged(lambda right, real: (right & real).any(-1).float().mean()), "*any*"),
            "mistakes": (lambda logits, y: 1 - words(logits, y), "with a mistake"),
            "a number": (lambda logits, y: words(logits, y) * len(y), "a number of words"),
            "percent": (lambda logits, y: 100 * words(logits, y), "percentage"),
            "first letter": (judged(lambda right, real: right[:, 0].float().mean()), "first letter"),
            "last column": (judged(lambda right, real: (right | ~real)[:, -1].float().mean()), "last column"),
            "other axis": (judged(lambda right, real: (right | ~real).all(0).float().mean()), "other axis"),
            "padding is wrong": (judged(lambda right, real: (right & real).all(-1).float().mean()), "never be right"),
            "a truth": (lambda logits, y: words(logits, y) == 1, "returns bool; a number"),
            "argmin": (lambda logits, y: words(-logits, y), "not the share"),
        },
    ),
    "last_real_state": Variants(
        right={
            "picked": picked,
            "gathered": gathered,
            "row by row": lambda states, n: torch.stack([h[i - 1] for h, i in zip(states, n.tolist(), strict=True)]),
        },
        wrong={
            "last column": (lambda states, n: states[:, -1], "last *column*"),
            "longest": (lambda states, n: states[:, n.max() - 1], "*longest*"),
            "shortest": (lambda states, n: states[:, n.min() - 1], "*shortest*"),
            "too far": (at(lambda n, S: n), "too far"),
            "too early": (at(lambda n, S: n - 2), "too early"),
            "first": (lambda states, n: states[:, 0], "the first state"),
            "mean": (lambda states, n: real(states, n).sum(1) / n.unsqueeze(1), "mean of the real"),
            "sum": (lambda states, n: real(states, n).sum(1), "sum of the real"),
            "colon": (lambda states, n: states[:, n - 1], "places of *all* rows"),
            "axis left": (lambda states, n: gathered(states, n).unsqueeze(1), "an axis of 1"),
            "all": (lambda states, n: real(states, n), "as many as there are places"),
            "sorted": (lambda states, n: picked(states, n)[n.argsort(descending=True)], "changed their order"),
            "zeroed": (lambda states, n: picked(states.clamp(min=0), n), "some words"),
        },
    ),
}
