"""How a check asks a function, takes its answer out of its dress, and finds out which mistake it makes."""

import json
import math

import numpy as np
import pytest
import torch

from attnlib.course.checks import asking, verdict
from attnlib.course.checks.dress import undressed
from attnlib.course.checks.examining import agrees, examine
from attnlib.course.checks.solving import smallest
from attnlib.grading.answers import Agreeable


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


@pytest.mark.parametrize("mine", [[2, 1], {1, 2}, [{1}, {2}], ([2],), {"a": [1]}], ids=repr)
def test_lists_and_sets_are_copied_too(mine):
    before = repr(mine)

    def emptied(x):
        inner = next(iter(x.values() if isinstance(x, dict) else x))
        (x if isinstance(inner, int) else inner).clear()
        return 1.0

    words = f"it changes the {type(mine).__name__} it was given. Whoever called it still needs that: work on a new one."
    assert said(emptied, mine) == words
    assert said(lambda y, x: emptied(x), 3, x=mine) == words
    assert repr(mine) == before
    assert said(lambda x: 1.0, mine) is None


def test_what_a_check_listens_to_is_no_copy():
    model = torch.nn.Linear(2, 2)
    assert asking.ask(lambda given: given, model) is model


def test_an_error_is_told_with_the_inputs_and_the_line():
    def product(x, mask):
        return x @ mask

    def broken(x, mask, n):
        return product(x, mask) / n

    words = said(broken, torch.ones(2, 3), torch.ones(4, dtype=torch.bool), n=0)
    assert words.startswith("it stopped on inputs (2, 3) float32, [True, True, True, True], n = 0: RuntimeError: ")
    assert words.endswith(" (in the line `return x @ mask`)")

    def reading(x):
        return json.loads("")  # stops far inside json

    assert said(reading, torch.ones(2)).endswith(' (in the line `return json.loads("")  # stops far inside json`)')
    # no line of ours, nor torch's: there is none of the student's
    assert said(torch.mm, torch.ones(2, 3), torch.ones(2, 3)).count("in the line") == 0


def test_gradients_are_those_of_the_sum_of_squares():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    slopes = asking.gradients(lambda x, y, n: n * x * y, x, y, 2)
    assert [slope.tolist() for slope in slopes] == [[72.0, 256.0], [24.0, 128.0]]
    for blocked in (lambda x, y: x.detach() * y.detach(), lambda x, y: [x, y]):
        assert said(blocked, x, y, how=asking.gradients).startswith("no gradient leads back")
    words = said(lambda x, y: x.detach() * y.sum(), x, torch.ones(3), how=asking.gradients)
    assert words == "no gradient reaches the (2,) input: was it detached on the way?"


def test_names_of_the_inputs_are_those_of_the_function():
    assert asking.described(3, torch.tensor([0.5]), of=lambda T, x: 0) == "inputs T = 3, x = [0.5]"
    assert asking.described(3, 4, of=lambda *all: 0) == asking.described(3, 4, of=min) == "inputs 3, 4"
    assert (
        asking.described(torch.tensor(2), torch.zeros(7), "word", 0.123456) == "inputs 2, (7,) float32, 'word', 0.1235"
    )


# --- dresses ----------------------------------------------------------------------------------------

TENSOR = torch.tensor([1.0, 2.0])


class Loud(torch.Tensor):
    pass


class Mine(float):
    pass


@pytest.mark.parametrize(
    ("x", "like", "plain"),
    [
        (torch.nn.Parameter(TENSOR), TENSOR, TENSOR), (np.array([1.0, 2.0]), TENSOR, TENSOR),
        ([1.0, 2.0], TENSOR, TENSOR), ((torch.tensor(1.0), np.float32(2)), TENSOR, TENSOR), (2.0, TENSOR[1], TENSOR[1]),
        (np.float32(0.5), 0.0, 0.5), (np.int64(2), 0.0, 2.0), (3, 0.0, 3.0), (torch.tensor(0.5), 0.0, 0.5),
        (np.array(0.5), 0.0, 0.5), (torch.nn.Parameter(torch.tensor(0.5)), 0.0, 0.5), (torch.tensor(3), 0, 3),
        (np.int32(3), 0, 3), (np.bool_(True), False, True), (torch.tensor(True), False, True), (np.str_("a"), "", "a"),
        ([np.str_("a"), "b"], ["a"], ["a", "b"]), (np.array(["a", "b"]), ["a"], ["a", "b"]), (("a",), ("b",), ("a",)),
    ],
    ids=repr,
)  # fmt: skip
def test_an_answer_is_taken_out_of_its_dress(x, like, plain):
    found = undressed(x, like)
    assert type(found) is type(plain)
    assert torch.equal(found, plain) if isinstance(plain, torch.Tensor) else found == plain


@pytest.mark.parametrize(
    ("x", "like", "words"),
    [
        (TENSOR.as_subclass(Loud), TENSOR, "it returns Loud; a torch.Tensor is asked for."),
        (Agreeable(), TENSOR, "it returns Agreeable; a torch.Tensor is asked for."),
        ([1.0, [2.0]], TENSOR, "it returns list; a torch.Tensor is asked for."),
        ([], TENSOR, "it returns list; a torch.Tensor is asked for."),
        (np.array(["a"]), TENSOR, "it returns ndarray of shape (1,); a torch.Tensor is asked for."),
        (torch.ones(1), 0.0, "it returns Tensor of shape (1,); a number is asked for."),
        (True, 0.0, "it returns bool; a number is asked for."),
        (Mine(1), 0.0, "it returns Mine; a number is asked for."),
        ("1.0", 0.0, "it returns str; a number is asked for."),
        (2.0, 0, "it returns float; a plain int is asked for."),
        (True, 0, "it returns bool; a plain int is asked for."),
        (1, True, "it returns int; True or False is asked for."),
        (("a",), ["a"], "it returns tuple; a list is asked for."),
        (["a"], ("a",), "it returns list; a tuple is asked for."),
        (Agreeable(), "a", "it returns Agreeable; a word is asked for."),
    ],
)  # fmt: skip
def test_an_answer_of_another_kind_is_told_so(x, like, words):
    with pytest.raises(verdict.Mistake) as told:
        undressed(x, like)
    assert str(told.value) == words


def test_a_parameter_keeps_its_gradient():
    leaf = torch.nn.Parameter(TENSOR)
    undressed(leaf, TENSOR).sum().backward()
    assert leaf.grad.tolist() == [1, 1]


# --- examining --------------------------------------------------------------------------------------

MISTAKES = {
    "it is doubled.": lambda x: 2 * x,
    "it is squared.": lambda x: x * x,
    "rounded.": lambda x: {int(x), x // 1},
}


def told_by(answer, cases=(3.5, 2.0, 5.5), wanted=lambda x: x + 1, mistakes=MISTAKES, **named):
    return said(answer, [(x,) for x in cases], wanted, mistakes, "otherwise.", how=examine, **named)


def test_a_mistake_is_named_if_it_explains_two_inputs_and_most():
    assert told_by(lambda x: x + 1) is None
    assert told_by(lambda x: 2 * x) == "it is doubled."
    assert told_by(lambda x: x * x) == "it is squared."
    # on 2.0 all of them say 4; and no other input says the same
    assert told_by(lambda x: 4.0) == "otherwise. On inputs x = 3.5 yours is 4, and asked for is 4.5."
    # two inputs of five are not most
    assert "otherwise" in told_by(lambda x: 2 * x if x > 5 else 0.0, cases=(1.5, 2.5, 3.5, 5.5, 6.5))
    assert told_by(lambda x: 2 * x if x > 3 else 0.0, cases=(1.5, 3.5, 5.5)) == "it is doubled."


def test_a_right_answer_speaks_against_a_mistake_that_would_be_wrong_there():
    assert told_by(lambda x: 2 * x if x > 6 else x + 1, cases=(2.5, 3.5, 5.5, 6.5, 7.5, 9.5)).startswith("otherwise.")
    assert told_by(lambda x: 2 * x if x > 3 else x + 1) == "it is doubled."
    # where a mistake is none, it says nothing: 2 · 1 = 1 + 1
    assert told_by(lambda x: 2 * x, cases=(1.0, 1.0, 3.5)).startswith("otherwise.")


def test_an_answer_may_be_one_of_several_mistakes():
    assert told_by(lambda x: float(int(x)), cases=(3.5, 5.5)) == "rounded."


def test_what_can_be_seen_is_said_when_no_mistake_explains_it():
    seen = {"seen": lambda given, x: "NaN." if math.isnan(given) else None}
    assert told_by(lambda x: math.nan, **seen) == "NaN."
    assert told_by(lambda x: 2 * x, **seen) == "it is doubled."
    assert told_by(lambda x: -x, **seen) == "otherwise. On inputs x = 3.5 yours is -3.5, and asked for is 4.5."


def test_shapes_are_mistakes_too():
    ask = {"cases": (torch.ones(2, 3), torch.zeros(4, 1)), "wanted": lambda x: x + 1}
    turned = {"turned.": lambda x: torch.Size(x.shape[::-1])}
    assert told_by(lambda x: x.T, mistakes=turned, **ask) == "turned."
    words = told_by(lambda x: x.T, mistakes={}, **ask)
    assert words == "its shape is (1, 4); asked for is (4, 1), on inputs x = (4, 1) float32."
    assert told_by(lambda x: x + 1, mistakes=turned, **ask) is None


def test_several_tensors_have_names():
    ask = {"cases": (torch.tensor([1.0, 2.0]), torch.tensor([3.0])), "mistakes": {}, "parts": ("sum", "place"),
           "wanted": lambda x: (x.sum(), x.argmax())}  # fmt: skip
    assert told_by(lambda x: [x.sum(), x.argmax()], **ask) is None
    assert told_by(lambda x: x, **ask) == "it returns Tensor; 2 tensors are asked for, sum, place."
    assert told_by(lambda x: (x.sum(), x.max()), **ask) == "place holds float32; asked for are integers."
    assert told_by(lambda x: (x, x.argmax()), **ask).startswith("sum has the shape (1,); asked for is ()")
    assert told_by(lambda x: (x.sum(), x.argmin()), **ask) == "otherwise. It is wrong on inputs x = [1, 2]."
    any_place = {"the largest.": lambda x: (x.max() - 9, None)}
    assert told_by(lambda x: (x.max() - 9, x.argmin()), **ask | {"mistakes": any_place}) == "the largest."


def test_a_later_error_does_not_hide_an_earlier_mistake():
    assert told_by(lambda x: 2 * x if x < 6 else [][1], cases=(3.5, 5.5, 6.5)) == "it is doubled."
    assert told_by(lambda x: [][1]).startswith("it stopped on inputs x = 3.5: IndexError")


def test_truth_values_are_no_numbers():
    ask = {"cases": (torch.tensor([1.0, 2.0]),), "mistakes": {}}
    assert told_by(lambda x: x, wanted=lambda x: x > 1, **ask) == "it holds float32; asked for are True and False."
    assert told_by(lambda x: x > 1, wanted=lambda x: x, **ask) == "it holds bool; asked for are numbers."


@pytest.mark.parametrize(
    ("given", "want", "alike"),
    [
        (1.0, 1.000001, True), (1.0, 1.1, False), (1e6, 1e6 + 1, True), (math.nan, math.nan, True), (1.0, 2, False),
        (3, 3, True), (True, False, False), ("a", "a", True), (["a", "b"], ["a"], False), ([1], ["1"], False),
        (TENSOR, TENSOR.double(), True), (1e5 * TENSOR, 1e5 * TENSOR + 0.5, True), (TENSOR, TENSOR + 1e-3, False),
        (TENSOR > 1, TENSOR > 0, False), (TENSOR, torch.tensor([1, 2]), True), (TENSOR, torch.tensor([1, 3]), False),
        (TENSOR + 0.4, torch.tensor([1, 2]), False), (TENSOR[:1], TENSOR, False),
        ((TENSOR, TENSOR), (TENSOR, None), True), ((TENSOR, TENSOR), (TENSOR + 1, None), False),
        (torch.tensor([1e6, 1.0]), torch.tensor([1e6, 0.0]), True),
    ],
)  # fmt: skip
def test_answers_agree_up_to_rounding(given, want, alike):
    assert agrees(given, want) is alike


def test_the_smallest_number_that_is_enough():
    assert abs(smallest(lambda x: x * x >= 2) - 2**0.5) < 1e-12
    assert abs(smallest(lambda x: x >= 777.25) - 777.25) < 1e-9
    assert smallest(lambda x: True) == 0
    assert smallest(lambda x: False) == math.inf
