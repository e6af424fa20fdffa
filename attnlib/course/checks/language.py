"""Checks for chapters 1 and 2: a text read in parts, its perplexity, words without a mistake, the last real state.

Right answers are those of one reading, of one token after another, and of one word after another.
"""

import math
from collections.abc import Callable
from statistics import fmean

import torch
from torch import Size, Tensor

from attnlib.course.checks.asking import draw
from attnlib.course.checks.examining import agrees, examine
from attnlib.course.checks.verdict import check
from attnlib.data.vocabulary import PAD
from attnlib.language_models import RNNLM


class Overheard(RNNLM):
    """A model that notes how many tokens it was given at once."""

    def __init__(self):
        super().__init__(vocab_size=11, d_embed=3, d_hidden=4)
        self.most = 0

    def forward(self, tokens, state=None):
        self.most = max(self.most, tokens.shape[-1])
        return super().forward(tokens, state)

    def __repr__(self) -> str:
        return "an RNNLM"


def in_one_go(model: Overheard, tokens: Tensor, size: int) -> Tensor:
    """Logits of one reading; what the model has noted is forgotten."""
    logits = model(tokens).logits
    model.most = 0
    return logits


def carried(choose: Callable) -> Callable[[Overheard, Tensor, int], Tensor]:
    """Logits, part after part, when `choose(first output, last output)` is the state handed on."""

    def read(model: Overheard, tokens: Tensor, size: int) -> Tensor:
        first = last = None
        logits = []
        for part in tokens.split(size, dim=1):
            last = model(part, choose(first, last) if first else None)
            first = first or last
            logits.append(last.logits)
        return torch.cat(logits, dim=1)

    return read


@check
def read_in_parts(answer: Callable) -> str:
    """Check `read_in_parts(model, tokens, size)`: tokens (B, T), never more than size at once; logits (B, T, V)."""
    sizes = [(2, 7, 3), (3, 5, 2), (3, 5, 1), (1, 4, 4), (2, 3, 10), (1, 1, 1), (2, 9, 4), (1, 3, 1), (4, 1, 2)]
    examine(
        answer,
        [(Overheard(), torch.randint(11, (B, T)), size) for B, T, size in sizes],
        in_one_go,
        {
            "every part begins with an empty memory: nothing was handed from one part to the next.": (
                carried(lambda first, last: None)
            ),
            "the state handed on is the one after the *first* token of a part. What came later is forgotten.": (
                carried(lambda first, last: last.states[:, 0])
            ),
            "every later part starts from the state after the *first* part. The state must move on too.": (
                carried(lambda first, last: first.state)
            ),
            "these are probabilities. Logits are asked for, before the softmax.": lambda *x: in_one_go(*x).softmax(-1),
            "the last, shorter part is missing: T need not be a multiple of size.": (
                lambda model, tokens, size: Size((len(tokens), tokens.shape[1] // size * size, 11))
            ),
        },
        "the guesses differ from those of one reading.",
        right=lambda logits, model, tokens, size: model.most <= size and agrees(logits, in_one_go(model, tokens, size)),
        seen=lambda logits, model, tokens, size: (
            f"the model was given {model.most} tokens at once, and memory holds {size}." if model.most > size else None
        ),
    )
    return "parts of 1, 3, all or more tokens, with a short one at the end: the same logits as in one go."


def power(base: float, exponent: float) -> float:
    """base ** exponent, infinite where it overflows."""
    try:
        return base**exponent
    except OverflowError:
        return math.inf


@check
def joint_perplexity(answer: Callable) -> str:
    """Check `joint_perplexity(nats, tokens)`: lists, the mean nats per token of each text and its length; a float."""

    def wanted(nats: list[float], tokens: list[int]) -> float:
        """The geometric mean of how many choices there were, token after token."""
        return math.prod(math.exp(x) ** (t / sum(tokens)) for x, t in zip(nats, tokens, strict=True))

    def total(nats: list[float], tokens: list[int]) -> float:
        return sum(x * t for x, t in zip(nats, tokens, strict=True))

    examine(
        answer,
        [
            ([1.0, 2.5, 0.5], [3, 7, 4]), ([2.0], [5]), ([0.3, 3.0], [9, 2]), ([1.043, 3.072], [100, 300]),
            ([0.0, 4.0, 1.5, 2.0], [4000, 1, 900, 20]), ([5.0], [100_000]),
        ],
        wanted,
        {
            "this is the mean surprise, in nats. Perplexity is one step further.": lambda x, t: total(x, t) / sum(t),
            "perplexities of texts were averaged. What adds up is the surprise, before the exponential.": (
                lambda x, t: fmean(map(math.exp, x))
            ),
            "perplexities were averaged, by length. But an exponential of a mean is no mean of exponentials.": (
                lambda x, t: fmean(map(math.exp, x), weights=t)
            ),
            "a short text counts as much as a long one: the mean over texts is not the mean over tokens.": (
                lambda x, t: math.exp(fmean(x))
            ),
            "a power of 2, but the surprise is in nats, not in bits.": lambda x, t: 2 ** math.log(wanted(x, t)),
            "the surprise of all tokens was added up, and never divided by how many there are.": (
                lambda x, t: power(math.e, total(x, t))
            ),
            "the surprise of all tokens was divided by the number of texts.": (
                lambda x, t: power(math.e, total(x, t) / len(t))
            ),
            "a probability per token: the sign of the exponent is the other way round.": lambda x, t: 1 / wanted(x, t),
        },
        "not the perplexity of the texts together.",
    )  # fmt: skip
    return "one text, two, three, long and short: every token counts once."


@check
def exactly_right(answer: Callable) -> str:
    """Check `exactly_right(logits, targets)`: (B, T, V) and (B, T), PAD = 0; the share of rows, a float."""
    # full and right; right, then rubbish; wrong inside; wrong at its end; wrong at the start; right, then pads; ...
    said = "3456 4251 5462 3600 2632 5200 5600 3462 6532 2463 3204"
    true = "3456 4200 5362 3200 6632 5200 2300 3465 6534 2465 3200"
    guesses, targets = (torch.tensor([[int(y) for y in word] for word in text.split()]) for text in (said, true))

    def case(rows: list[int], scale: float, shift: float = 0.0) -> tuple[Tensor, Tensor]:
        said = guesses[rows]
        return scale * (draw(*said.shape, 7).scatter(-1, said.unsqueeze(-1), 5.0) + shift), targets[rows]

    def wanted(logits: Tensor, y: Tensor) -> float:
        words = zip(logits.argmax(-1).tolist(), y.tolist(), strict=True)
        return fmean(all(a == b for a, b in zip(said, true, strict=True) if b != PAD) for said, true in words)

    def judged(judge: Callable) -> Callable[[Tensor, Tensor], float]:
        """The share that `judge(right, real)` gives for booleans (B, T)."""

        def share(logits: Tensor, y: Tensor) -> float:
            return judge(logits.argmax(-1) == y, y != PAD).double().mean().item()

        return share

    some = [[*range(11)], [1, 4, 0, 0, 5], [0, 2, 3, 6], [5], [9], [10, 1], [6, 6, 6], [1, 7, 8, 10, 10, 3]]
    examine(
        answer,
        [case(rows, 1.0) for rows in some] + [case(some[0], 1e5), case(some[1], 1.0, -40.0), case(some[1], 1e-3)],
        wanted,
        {
            "this is the share of words with a mistake.": lambda logits, y: 1 - wanted(logits, y),
            "this is the share of right *letters*. A word is right when all of its letters are.": (
                judged(lambda right, real: right[real])
            ),
            "this is the share of right places, padding and all, and not of right words.": (
                judged(lambda right, real: right)
            ),
            "places behind <eos> are judged too. What the model says there is no part of the word.": (
                judged(lambda right, real: right.all(-1))
            ),
            "one right letter makes a word right: *any* is not *all*.": (
                judged(lambda right, real: (right & real).any(-1))
            ),
            "a number of words. The share is asked for.": lambda logits, y: wanted(logits, y) * len(y),
            "a percentage. A share lies between 0 and 1.": lambda logits, y: 100 * wanted(logits, y),
            "only the first letter is judged.": judged(lambda right, real: right[:, 0]),
            "only the last column is judged.": judged(lambda right, real: (right | ~real)[:, -1]),
            "this is the share of *places* at which all words are right: the other axis.": (
                judged(lambda right, real: (right | ~real).all(0))
            ),
            "padding counts as a mistake: a word shorter than its row can then never be right.": (
                judged(lambda right, real: (right & real).all(-1))
            ),
        },
        "this is not the share of words without a mistake.",
    )
    return "words wrong at the start, in the middle and at <eos> are wrong; what stands behind <eos> does not count."


@check
def last_real_state(answer: Callable) -> str:
    """Check `last_real_state(states, lengths)`: (B, S, d) and (B,), at least 1, in any order; returns (B, d)."""

    def wanted(states: Tensor, n: Tensor) -> Tensor:
        return torch.stack([word[:length][-1] for word, length in zip(states, n.tolist(), strict=True)])

    def at(place: Callable) -> Callable[[Tensor, Tensor], Tensor]:
        return lambda states, n: states[torch.arange(len(n)), place(n, states.shape[1])]

    def real(states: Tensor, n: Tensor) -> Tensor:
        return states * (torch.arange(states.shape[1]) < n.unsqueeze(1)).unsqueeze(-1)

    def case(S: int, d: int, lengths: list[int], scale: float = 1.0) -> tuple[Tensor, Tensor]:
        return draw(len(lengths), S, d, seed=S, scale=scale), torch.tensor(lengths)

    examine(
        answer,
        [
            case(6, 4, [4, 2, 5]), case(7, 2, [3, 6, 1, 6]), case(5, 3, [5, 1]),
            case(3, 2, [2, 3, 3, 1]), case(4, 3, [2]), case(1, 5, [1, 1]),
            case(3, 1, [2, 3]), case(4, 1, [3]), case(9, 2, [1, 8, 3, 9, 2, 5, 7, 4]), case(6, 4, [4, 2, 5], 1e5),
        ],
        wanted,
        {
            "from each row you take the places of *all* rows: `:` in front means every row, and each row has its own "
            "last place.": lambda states, n: Size((len(n), len(n), states.shape[-1])),
            "right number of states, but an axis of 1 is left between batch and width.": (
                lambda states, n: Size((len(n), 1, states.shape[-1]))
            ),
            "one state for each word is asked for; these are as many as there are places.": (
                lambda states, n: Size(states.shape)
            ),
            "this is the last *column*: in a short word it lies behind the padding.": lambda states, n: states[:, -1],
            "this is the last place of the *longest* word, in every row.": lambda states, n: states[:, n.max() - 1],
            "this is the last place of the *shortest* word, in every row.": lambda states, n: states[:, n.min() - 1],
            "one place too far: counting starts at 0, lengths start at 1.": at(lambda n, S: n.clamp(max=S - 1)),
            "one place too early: that is the last state but one.": at(lambda n, S: (n - 2).clamp(min=-S)),
            "this is the first state of each word, after one letter.": lambda states, n: states[:, 0],
            "this is the mean of the real states; the last of them has read everything.": (
                lambda states, n: real(states, n).sum(1) / n.unsqueeze(1)
            ),
            "this is the sum of the real states.": lambda states, n: real(states, n).sum(1),
            "the words have changed their order.": lambda states, n: wanted(states, n)[n.argsort(descending=True)],
        },
        "some words do not get the state after their last letter.",
    )  # fmt: skip
    return "the state after the last letter of each word, whatever stands behind it."
