"""Checks for chapters 1 and 2: a text read in parts, its perplexity, words without a mistake, the last real state."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlib.course.checks.asking import ask_number, ask_tensor, draw
from attnlib.course.checks.verdict import check, expect, need
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


@check
def read_in_parts(answer: Callable) -> str:
    """Check `read_in_parts(model, tokens, size)`: tokens (B, T), never more than size at once; logits (B, T, V)."""
    model = Overheard()
    for B, T, size in [(2, 7, 3), (3, 5, 1), (1, 4, 4), (2, 3, 10)]:
        tokens = torch.randint(11, (B, T))
        parts = tokens.split(size, dim=1)
        whole = model(tokens).logits
        model.most = 0
        short = "the last, shorter part is missing: T need not be a multiple of size."
        logits = ask_tensor(
            answer,
            model,
            tokens,
            size,
            shape=(B, T, 11),
            instead={(B, T // size * size, 11): short} if T > size else {},
        )
        need(
            model.most <= size,
            f"the model was given {model.most} tokens at once, and memory holds {size}.",
        )
        expect(
            logits,
            whole,
            {
                "every part begins with an empty memory: nothing was handed from one part to the next.": carried(
                    model, parts, lambda first, last: None
                ),
                "the state handed on is the one after the *first* token of a part. What came later is forgotten.": (
                    carried(model, parts, lambda first, last: last.states[:, 0])
                ),
                "every later part starts from the state after the *first* part. The state must move on too.": carried(
                    model, parts, lambda first, last: first.state
                ),
                "these are probabilities. Logits are asked for, before the softmax.": whole.softmax(-1),
            },
            f"the guesses differ from those of one reading, with T = {T} and size = {size}.",
        )
    return "parts of 1, 3, all or more tokens, with a short one at the end: the same logits as in one go."


def carried(model: nn.Module, parts: tuple[Tensor, ...], choose: Callable) -> Tensor:
    """Logits, part after part, when `choose(first output, last output)` is the state handed on."""
    first = last = model(parts[0])
    logits = [last.logits]
    for part in parts[1:]:
        last = model(part, choose(first, last))
        logits.append(last.logits)
    return torch.cat(logits, dim=1)


@check
def joint_perplexity(answer: Callable) -> str:
    """Check `joint_perplexity(nats, tokens)`: lists, the mean nats per token of each text and its length; a float."""
    for nats, tokens in [([1.0, 2.5, 0.5], [3, 7, 4]), ([2.0], [5]), ([0.3, 3.0], [9, 2])]:
        n, total = len(nats), sum(x * t for x, t in zip(nats, tokens, strict=True))
        mean = total / sum(tokens)
        weighted = sum(math.exp(x) * t for x, t in zip(nats, tokens, strict=True)) / sum(tokens)
        expect(
            ask_number(answer, nats, tokens),
            math.exp(mean),
            {
                "this is the mean surprise, in nats. Perplexity is one step further.": mean,
                "perplexities of texts were averaged. What adds up is the surprise, before the exponential.": (
                    sum(map(math.exp, nats)) / n
                ),
                "perplexities were averaged, by length. But an exponential of a mean is no mean of exponentials.": (
                    weighted
                ),
                "a short text counts as much as a long one: the mean over texts is not the mean over tokens.": (
                    math.exp(sum(nats) / n)
                ),
                "a power of 2, but the surprise is in nats, not in bits.": 2.0**mean,
                "the surprise of all tokens was added up, and never divided by how many there are.": math.exp(total),
                "the surprise of all tokens was divided by the number of texts.": math.exp(total / n),
                "a probability per token: the sign of the exponent is the other way round.": math.exp(-mean),
            },
            f"not the perplexity of {n} text{'s' * (n > 1)} of {' and '.join(map(str, tokens))} tokens together.",
        )
    return "one text, two, three, long and short: every token counts once."


@check
def exactly_right(answer: Callable) -> str:
    """Check `exactly_right(logits, targets)`: (B, T, V) and (B, T), PAD = 0; the share of rows, a float."""
    # full and right; right, then rubbish; wrong inside; wrong at its end; wrong at the start; right, then pads; ...
    said = "3456 4251 5462 3600 2632 5200 5600 3462 6532 2463 3204"
    true = "3456 4200 5362 3200 6632 5200 2300 3465 6534 2465 3200"
    guesses, targets = (torch.tensor([[int(y) for y in word] for word in text.split()]) for text in (said, true))
    for rows in (torch.arange(11), torch.tensor([1, 4, 0, 0, 5])):
        y, said = targets[rows], guesses[rows]
        logits = draw(*said.shape, 7).scatter(-1, said.unsqueeze(-1), 5.0)
        right, real = said == y, y != PAD
        share = (right | ~real).all(-1).double().mean()
        columns = [(right | ~real)[:, i].double().mean() for i in (0, -1)]
        given = ask_number(answer, logits, y)
        expect(
            given,
            share,
            {
                "this is the share of right *letters*. A word is right when all of its letters are.": (
                    right[real].double().mean()
                ),
                "this is the share of right places, padding and all, and not of right words.": right.double().mean(),
                "places behind <eos> are judged too. What the model says there is no part of the word.": (
                    right.all(-1).double().mean()
                ),
                "one right letter makes a word right: *any* is not *all*.": (right & real).any(-1).double().mean(),
                "this is the share of words with a mistake.": 1 - share,
                "a number of words. The share is asked for.": share * len(y),
                "a percentage. A share lies between 0 and 1.": 100 * share,
                "only the first letter is judged.": columns[0],
                "only the last column is judged.": columns[1],
                "this is the share of *places* at which all words are right: the other axis.": (
                    (right | ~real).all(0).double().mean()
                ),
                "padding counts as a mistake: a word shorter than its row can then never be right.": (
                    (right & real).all(-1).double().mean()
                ),
            },
            "this is not the share of words without a mistake.",
        )
    return "words wrong at the start, in the middle and at <eos> are wrong; what stands behind <eos> does not count."


@check
def last_real_state(answer: Callable) -> str:
    """Check `last_real_state(states, lengths)`: (B, S, d) and (B,), at least 1, in any order; returns (B, d)."""
    for B, S, d, lengths in [(3, 6, 4, [4, 2, 5]), (2, 5, 3, [5, 1]), (4, 3, 2, [2, 3, 3, 1])]:
        states, n = draw(B, S, d, seed=B), torch.tensor(lengths)
        rows, real = torch.arange(B), (torch.arange(S) < n.unsqueeze(1)).unsqueeze(-1)
        given = ask_tensor(
            answer,
            states,
            n,
            shape=(B, d),
            instead={
                (B, B, d): "from each row you take the places of *all* rows: `:` in front means every row, and each "
                "row has its own last place.",
                (B, 1, d): "right number of states, but an axis of 1 is left between batch and width.",
                (B, S, d): "one state for each word is asked for; these are as many as there are places.",
            },
        )
        expect(
            given,
            states[rows, n - 1],
            {
                "this is the last *column*: in a short word it lies behind the padding.": states[:, -1],
                "this is the last place of the *longest* word, in every row.": states[:, max(lengths) - 1],
                "this is the last place of the *shortest* word, in every row.": states[:, min(lengths) - 1],
                "one place too far: counting starts at 0, lengths start at 1.": states[rows, n.clamp(max=S - 1)],
                "one place too early: that is the last state but one.": states[rows, n - 2],
                "this is the first state of each word, after one letter.": states[:, 0],
                "this is the mean of the real states; the last of them has read everything.": (
                    (states * real).sum(1) / n.unsqueeze(1)
                ),
                "this is the sum of the real states.": (states * real).sum(1),
                "the words have changed their order.": states[rows, n - 1][n.argsort(descending=True)],
            },
            "some words do not get the state after their last letter.",
        )
    return "the state after the last letter of each word, whatever stands behind it."
