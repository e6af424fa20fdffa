"""Every check says Right to right answers in any dress, and names the mistake of each wrong one."""

import pytest
import torch

from attnlib import checks
from attnlib.checks.verdict import check
from tests.exercises.practice import variants

NAMES = [name for name in checks.__all__ if name not in {"Verdict", "close", "limit"}]
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


@pytest.mark.parametrize("name", NAMES)
def test_each_mistake_has_its_own_sentence(name):
    sentences = {v: getattr(checks, name)(f).words for v, (f, _) in VARIANTS[name].wrong.items()}
    assert len(set(sentences.values())) == len(sentences), sentences


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_is_none_is_answered_too(name):
    def broken(*inputs, **named):
        return [][3]

    def empty(*inputs, **named): ...

    def waiting(*inputs, **named):
        raise NotImplementedError

    judge = getattr(checks, name)
    assert "IndexError: list index out of range (in the line `return [][3]`)" in judge(broken).words
    assert "returns None" in judge(empty).words
    assert "nothing is written yet" in judge(waiting).words
    assert "without calling it" in judge(3.0).words and "a Tensor" in judge(torch.ones(2)).words


class Agreeable:
    """An object that says yes to everything."""

    def __getattr__(self, name):
        return lambda *_, **__: self

    def __eq__(self, other):
        return True

    __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __getitem__ = __call__ = __add__ = __sub__ = __mul__ = __abs__ = __neg__ = lambda self, *_: self
    __hash__ = None

    def __bool__(self):
        return True

    def __float__(self):
        return 0.0

    __len__ = __int__ = __index__ = lambda self: 1

    def __iter__(self):
        return iter([self])


@pytest.mark.parametrize("name", NAMES)
def test_an_object_that_is_equal_to_everything_is_not_right(name):
    assert not getattr(checks, name)(lambda *_, **__: Agreeable())


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
