"""Every check says Right to right answers in any dress, and names the mistake of each wrong one."""

import json

import numpy as np
import pytest
import torch

from assignments.practice import variants
from attnlib.course import checks
from attnlib.course.checks import asking, verdict
from attnlib.course.checks.verdict import check
from attnlib.grading.answers import Agreeable

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


@pytest.mark.parametrize("name", NAMES)
def test_each_mistake_has_its_own_sentence(name):
    sentences = {v: getattr(checks, name)(f).words for v, (f, _) in VARIANTS[name].wrong.items()}
    assert len(set(sentences.values())) == len(sentences), sentences


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


# --- how a check asks ---------------------------------------------------------------------------------


def said(function, *inputs, how=asking.ask, **named):
    """What the student is told, None when there is nothing to say."""
    try:
        how(function, *inputs, **named)
    except verdict.Mistake as mistake:
        return str(mistake)


def test_a_question_is_asked_on_copies():
    mine, other = torch.zeros(2, 3), torch.ones(4)
    assert said(lambda x: x.add_(1), mine).startswith("it changes the (2, 3) tensor it was given.")
    assert said(lambda x, y: y.mul_(2), mine, y=other).startswith("it changes the (4,) tensor it was given.")
    assert not mine.any() and (other == 1).all()
    assert said(lambda x: x + 1, mine) is None


@pytest.mark.parametrize("how", [asking.ask, asking.ask_number, asking.ask_plain])
@pytest.mark.parametrize("mine", [[2, 1], {1, 2}, [{1}, {2}], ([2],), {"a": [1]}], ids=repr)
def test_lists_and_sets_are_copied_too(mine, how):
    before = repr(mine)

    def emptied(x):
        inner = next(iter(x.values() if isinstance(x, dict) else x))
        (x if isinstance(inner, int) else inner).clear()
        return 1.0

    words = f"it changes the {type(mine).__name__} it was given. Whoever called it still needs that: work on a new one."
    assert said(emptied, mine, how=how) == words
    assert said(lambda y, x: emptied(x), 3, x=mine, how=how) == words
    assert repr(mine) == before
    assert said(lambda x: 1.0, mine, how=how) is None


def test_what_a_check_listens_to_is_no_copy():
    model = torch.nn.Linear(2, 2)
    assert asking.ask(lambda given: given, model) is model


def test_an_error_is_told_with_the_inputs_and_the_line():
    def product(x, mask):
        return x @ mask

    def broken(x, mask, n):
        return product(x, mask) / n

    words = said(broken, torch.ones(2, 3), torch.ones(4, dtype=torch.bool), n=0)
    assert words.startswith("it stopped on inputs (2, 3) float32, (4,) bool, n=0: RuntimeError: ")
    assert words.endswith(" (in the line `return x @ mask`)")

    def reading(x):
        return json.loads("")  # stops far inside json

    assert said(reading, torch.ones(2)).endswith(' (in the line `return json.loads("")  # stops far inside json`)')
    # no line of ours, nor torch's: there is none of the student's
    assert said(torch.mm, torch.ones(2, 3), torch.ones(2, 3)).count("in the line") == 0


def test_an_answer_must_be_a_tensor_of_its_shape():
    class Loud(torch.Tensor):
        pass

    ask = {"how": asking.ask_tensor, "shape": (2, 3)}
    assert said(lambda x: x.tolist(), torch.ones(2, 3), **ask) == "it returns list; a torch.Tensor is asked for."
    assert "returns Loud" in said(lambda x: x.as_subclass(Loud), torch.ones(2, 3), **ask)
    words = said(lambda x: x.T, torch.ones(2, 3), **ask)
    assert words == "its shape is (3, 2); asked for is (2, 3), on inputs (2, 3) float32."
    assert said(lambda x: x.T, torch.ones(2, 3), instead={(3, 2): "turned."}, **ask) == "turned."
    assert said(lambda x: x, torch.ones(2, 3), instead={(2, 3): "turned."}, **ask) is None


@pytest.mark.parametrize(
    "answer", [1, True, "1.0", torch.tensor(1.0), np.float32(1), np.ones(1), type("F", (float,), {})(1)]
)
def test_a_number_is_a_plain_number(answer):
    words = said(lambda: answer, how=asking.ask_number)
    assert words == f"it returns {type(answer).__name__}; a plain number is asked for, a float."


def test_numbers_of_python_and_numpy_will_do():
    assert type(asking.ask_number(lambda: np.float64(0.5))) is float
    assert asking.ask_number(lambda x: x / 2, 1.0) == 0.5


@pytest.mark.parametrize("kind,words", asking.PLAIN.items(), ids=str)
def test_a_plain_answer_is_of_its_kind_and_no_other(kind, words):
    mine = np.bool_(True) if kind is bool else type("Mine", (kind,), {})()  # of bool there is no class of one's own
    other = "True" if kind is bool else True
    assert asking.ask_plain(lambda: kind(), kind=kind) == kind()
    for answer in (mine, kind, np.float64(1), np.int64(1), other, torch.tensor(1.0), {}):
        told = said(lambda answer=answer: answer, how=asking.ask_plain, kind=kind)
        assert told == f"it returns {type(answer).__name__}; {words} is asked for."


def test_only_a_whole_number_stands_for_a_float():
    assert type(asking.ask_plain(lambda: 2)) is float
    assert said(lambda: 2.0, how=asking.ask_plain, kind=int) == "it returns float; a plain int is asked for."


@pytest.mark.parametrize(
    ("wanted", "mistakes", "answers"),
    [
        (1.0, {"two": 2.0, "also two": 2.0, "one": 1.0},
         {None: [1.05], "two": [2.1], "otherwise": [3.0, torch.ones(2)]}),
        (2.5, {"rounded": {2, 3}, "two": 2.0}, {None: [2.5], "rounded": [2, 3.0], "otherwise": [4, torch.nan]}),
        (["a", "b"], {"turned": ["b", "a"], "one": ["a"]},
         {None: [["a", "b"]], "turned": [["b", "a"]], "one": [["a"]], "otherwise": [
             ("a", "b"), ["a", "c"], ["a", "b", "c"], [Agreeable(), Agreeable()], [Agreeable()], []]}),
    ],
    ids=["a number", "one number or another", "lists, word for word"],
)  # fmt: skip
def test_the_first_mistake_that_fits_is_said(wanted, mistakes, answers):
    def judge(given):
        verdict.expect(given, wanted, mistakes, "otherwise", tolerance=0.1)

    for words, given in ((words, given) for words, several in answers.items() for given in several):
        assert said(judge, given, how=lambda f, x: f(x)) == words, given


def test_gradients_are_those_of_the_sum_of_squares():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    slopes = asking.gradients(lambda x, y, n: n * x * y, x, y, 2)
    assert [slope.tolist() for slope in slopes] == [[72.0, 256.0], [24.0, 128.0]]
    for blocked in (lambda x, y: x.detach() * y.detach(), lambda x, y: [x, y]):
        assert said(blocked, x, y, how=asking.gradients).startswith("no gradient leads back")
    words = said(lambda x, y: x.detach() * y.sum(), x, torch.ones(3), how=asking.gradients)
    assert words == "no gradient reaches the (2,) input: was it detached on the way?"
