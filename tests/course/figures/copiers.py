"""What a page's copier writes, against what attnlib's writes with the same weights."""

from collections.abc import Sequence

import torch

from attnlib.course.figures.copier import Written, words_of, write
from attnlib.seq2seq import Seq2Seq

#: In JavaScript: what a copier writes for every run; −∞ becomes null on its way.
IN_JAVASCRIPT = """(({ weights, vocabulary, unknown, runs }) => {
    const copier = m.copier(m.tensors(weights), vocabulary, unknown);
    return runs.map(({ text, held, most }) =>
        copier.write(copier.read(m.wordsOf(text)), (i) => held[i] ?? null, most).map((step) => (
            { ...step, weights: [...step.weights], log: [...step.log], said: null, copied: null, state: null })));
})"""


def in_attnlib(model: Seq2Seq, vocabulary: Sequence[str], text: str, held: Sequence, most: int) -> Written:
    """The same run in attnlib; what is not held at a step is None, or beyond the end."""
    return write(model, vocabulary, words_of(text), lambda i: held[i] if i < len(held) else None, most)


def assert_same(found: list[dict], wanted: Written, atol: float, rtol: float, why: object) -> float:
    """Two decodes agree: the same words, weights, gates and log-probabilities; returns the worst difference."""
    assert [step["word"] for step in found] == wanted.words, why
    worst = 0.0
    for step, p, own, weights, expected in zip(
        found, wanted.p_gen, wanted.own, wanted.weights, wanted.log_prob, strict=True
    ):
        log = torch.tensor([-torch.inf if x is None else x for x in step["log"]], dtype=torch.float64)
        expected = expected.double()
        assert step["token"] == int(log.argmax()) == int(expected.argmax()), why
        assert log.isneginf().equal(expected.isneginf()), why
        torch.testing.assert_close(log, expected, atol=atol, rtol=rtol, msg=lambda text: f"{why}\n{text}")
        alpha, expected_alpha = (torch.tensor(row, dtype=torch.float64) for row in (step["weights"], weights))
        torch.testing.assert_close(alpha, expected_alpha, atol=atol, rtol=rtol)
        assert abs(step["p"] - p) <= atol, why
        assert abs(step["own"] - own) <= atol, why
        seen = log.isfinite() & (log > -1000)
        worst = max(worst, (log - expected)[seen].abs().max().item())
    return worst
