"""Every check says Right to right answers in any dress, and names the mistake of each wrong one."""

import importlib
import pkgutil

import pytest
import torch
from torch import Tensor

from assignments.practice import variants
from attnlib.course import checks
from attnlib.course.checks import examining, search, verdict
from attnlib.course.checks.verdict import Mistake, check
from attnlib.grading.answers import Agreeable
from tests.course.dresses import DRESSES, dressed

NAMES = [name for name in checks.__all__ if name != "Verdict"]
VARIANTS = variants()


def cases(kind: str) -> list:
    return [pytest.param(c, v, id=f"{c}-{v}") for c in NAMES for v in getattr(VARIANTS[c], kind)]


def test_every_check_has_been_attacked():
    assert set(VARIANTS) == set(NAMES)
    assert {name: len(v.wrong) for name, v in VARIANTS.items() if len(v.wrong) < 4} == {}
    assert {name: len(v.right) for name, v in VARIANTS.items() if len(v.right) < 2} == {}


@pytest.mark.parametrize("name,variant", cases("right"))
def test_right_answers_are_right_however_written(name, variant):
    verdict = getattr(checks, name)(VARIANTS[name].right[variant])
    assert verdict, verdict
    assert repr(verdict) == f"Right: {verdict.words}" and verdict.words


@pytest.mark.parametrize("name,variant", cases("wrong"))
def test_a_wrong_answer_is_told_its_mistake(name, variant):
    function, words = VARIANTS[name].wrong[variant]
    verdict = getattr(checks, name)(function)
    assert not verdict and words in verdict.words, verdict
    assert repr(verdict) == f"Not yet: {verdict.words}"


@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
def test_each_mistake_has_its_own_sentence(name):
    sentences = {v: getattr(checks, name)(f).words for v, (f, _) in VARIANTS[name].wrong.items()}
    assert len(set(sentences.values())) == len(sentences), sentences


@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_is_none_is_answered_too(name):
    def broken(*inputs, **named):
        return [][3]

    def empty(*inputs, **named):
        """Return something."""
        ...  # yours

    def forgetful(*inputs, **named):
        len(inputs)

    def waiting(*inputs, **named):
        raise NotImplementedError

    def of_integers(*inputs, **named):
        return torch.ones(2, dtype=torch.int64).softmax(0)

    judge = getattr(checks, name)
    assert "IndexError: list index out of range (in the line `return [][3]`)" in judge(broken).words
    assert repr(judge(empty)) == "Not written yet: put your own lines in place of the `...`."
    assert repr(judge(forgetful)).startswith("Not yet: it returns None")
    assert repr(judge(waiting)).startswith("Not written yet: replace `raise NotImplementedError`")
    assert "NotImplementedError: " in judge(of_integers).words and "softmax(0)`)" in judge(of_integers).words
    assert not judge(empty) and not judge(waiting)
    assert "without calling it" in judge(3.0).words and "a Tensor" in judge(torch.ones(2)).words


@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
def test_an_object_that_is_equal_to_everything_is_not_right(name):
    assert not getattr(checks, name)(lambda *_, **__: Agreeable())


# --- every mistake that a check knows --------------------------------------------------------------


def examined(name, monkeypatch):
    """What a check asks of its first right answer: the arguments of each of its examinations."""
    calls = []

    def record(answer, *arguments, **named):
        calls.append((arguments, named))
        return examining.examine(answer, *arguments, **named)

    for module in pkgutil.iter_modules(checks.__path__):
        module = importlib.import_module(f"{checks.__name__}.{module.name}")
        if module is not examining and hasattr(module, "examine"):
            monkeypatch.setattr(module, "examine", record)
    assert getattr(checks, name)(next(iter(VARIANTS[name].right.values())))
    return calls


def made(mistake, wanted, turn):
    """An answer that makes a mistake; where it may give one thing or another, by turns."""

    def answer(*inputs):
        would = mistake(*inputs)
        if isinstance(would, set):
            would = sorted(would, key=repr)[turn % len(would)]
        if isinstance(would, torch.Size):
            return torch.zeros(would, dtype=wanted(*inputs).dtype)
        if isinstance(would, tuple) and None in [part if part is None else 0 for part in would]:
            return tuple(w if part is None else part for part, w in zip(would, wanted(*inputs), strict=True))
        return would + 0 if isinstance(would, Tensor) and would.dtype != torch.bool else would

    return answer


@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
def test_every_mistake_that_is_known_is_told_its_own_sentence(name, monkeypatch):
    for arguments, named in examined(name, monkeypatch):
        _, wanted, *rest = arguments
        for sentence, mistake in (rest[0] if rest else {}).items():
            for turn in range(2):
                with pytest.raises(Mistake) as told:
                    examining.examine(made(mistake, wanted, turn), *arguments, **named)
                assert str(told.value) == sentence


# --- right answers in any dress -------------------------------------------------------------------

#: Checks that ask for a gradient as well: numbers alone are not enough.
WITH_GRADIENT = {"masked_softmax", "look_back", "distance_score"}
DRESSED = [(name, dress) for name in NAMES for dress in (["float64"] if name in WITH_GRADIENT else DRESSES)]


@pytest.mark.untraced
@pytest.mark.parametrize(("name", "dress"), DRESSED)
def test_a_right_answer_passes_in_any_dress(name, dress):
    told = getattr(checks, name)(dressed(next(iter(VARIANTS[name].right.values())), dress))
    assert told, told


@pytest.mark.parametrize("name", sorted(WITH_GRADIENT))
def test_an_answer_without_a_gradient_is_told_so(name):
    right = next(iter(VARIANTS[name].right.values()))
    assert "no gradient leads back" in getattr(checks, name)(lambda *inputs: right(*inputs).tolist()).words


# --- right on some inputs only ----------------------------------------------------------------------


def filled(number):
    return lambda scores, mask: scores.masked_fill(~mask, number).softmax(-1) * mask


def renormalised(scores, mask):
    weights = scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)


def rotated(W_o, order):
    return W_o.roll(-order[0] * len(W_o) // len(order), 1)


def only(check, variant, change):
    """A right answer with a change around it."""
    return check, lambda *inputs: change(VARIANTS[check].right[variant](*inputs))


def three_of_each(log_prob, log_next, ended):
    """No parent may have more than three of the best."""
    total = search.table(log_prob, log_next, ended)
    best = total.topk(min(3, total.shape[1]))
    return search.top(torch.full_like(total, -torch.inf).scatter(1, best.indices, best.values))


def blurred_one(weights):
    return VARIANTS["blur"].right["one line"](weights[:1]).expand(len(weights), -1)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("masked_softmax", filled(-1e4)), ("masked_softmax", filled(-1e9)), ("masked_softmax", renormalised),
        ("reorder_heads", rotated), ("blur", blurred_one), ("beam_step", three_of_each),
        only("last_real_state", "picked", Tensor.squeeze),
        only("repeated_words", "logarithm", Tensor.squeeze), only("past_and_padding", "compared", Tensor.squeeze),
        only("break_even", "solved", lambda S: round(S, 2)), only("exactly_right", "masked", lambda y: round(y, 2)),
        only("least_weight", "clamped", lambda w: w.round(decimals=2)),
        only("look_back", "masked softmax", Tensor.half),
        only("look_back", "masked softmax", lambda c: 0.5 * c + 0.5 * c.detach()),  # half of its gradient
    ],
)  # fmt: skip
def test_an_answer_that_is_right_on_some_inputs_only_is_refused(name, answer):
    told = getattr(checks, name)(answer)
    assert not told and told.written, told


# --- diagnoses that would be wrong ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "answer", "never"),
    [
        ("row_shift", lambda predicted, sure: -1, "sign"),
        ("row_shift", lambda predicted, sure: 2, "sentence"),
        ("exactly_right", lambda logits, targets: 5 / 11, "share of right"),
        ("error_rate", lambda *corpus: 0.4, "precision"),
        ("error_rate", lambda *corpus: 4 / 9, "1 minus it"),
        ("apply_merges", lambda word, merges: list(word) if word == "replayable" else [word], "merged with both"),
        ("joint_perplexity", lambda nats, tokens: 2.0 ** (22.5 / 14), "a power of 2"),
        ("sharpness", lambda share, S: 12.18, "score of *one*"),
        ("break_even", lambda T, d: 48, "equally long"),
        ("penalty_needed", lambda log_p, n, log_q, m: 2.867, "upside down"),
    ],
)  # fmt: skip
def test_a_mistake_that_fits_one_input_only_is_not_named(name, answer, never):
    told = getattr(checks, name)(answer)
    assert not told and never not in told.words, told


def test_a_mask_with_its_axes_exchanged_is_told_so():
    right = next(iter(VARIANTS["past_and_padding"].right.values()))
    assert "rows and columns" in checks.past_and_padding(lambda n, T: right(n, T).mT).words
    right = next(iter(VARIANTS["latest_only"].right.values()))
    assert "rows and columns" in checks.latest_only(lambda *x: right(*x).T).words


def test_a_price_that_is_rounded_is_not_compared_with_itself():
    words = checks.divided_gaze(lambda T, M: (torch.eye(T).repeat_interleave(M // T, 1) * T / M).roll(1, 1) + 1e-3
                                * (torch.arange(M) % 2 - 0.5)).words  # fmt: skip
    assert "pays 6.75, and the least is 6.75" not in words and words


# --- time and chance --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["blur", "own_rates", "mirrored"])
def test_an_answer_that_never_ends_is_told_so(name, monkeypatch):
    monkeypatch.setattr(verdict, "SECONDS", 0.2)

    def endless(*inputs):
        while True:
            pass

    told = getattr(checks, name)(endless)
    assert repr(told) == "Not yet: it has not ended after 0.2 seconds. Is there a loop that never ends?"


def test_a_check_leaves_the_random_numbers_alone():
    torch.manual_seed(3)
    want = torch.rand(2)
    torch.manual_seed(3)
    checks.masked_softmax(lambda scores, mask: torch.randn_like(scores))
    assert torch.equal(torch.rand(2), want)


def test_a_fault_of_the_check_itself_is_not_blamed_on_the_student():
    @check
    def broken(answer):
        raise RuntimeError("our own")

    with pytest.raises(RuntimeError, match="our own"):
        broken(lambda: 1)
