"""MaskedSoftmaxLab: formats emulated to the bit, and every version computed in the page as torch computes it."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from attnlib.attention import length_mask, masked_softmax
from attnlib.course.figures import MaskedSoftmaxLab
from attnlib.course.figures.masked_versions import LABELS, PRECISIONS, VERSIONS, added, outcome
from tests.node import run_in_node

MODULE = str(MaskedSoftmaxLab._esm)
SCORES = [[1.0, 2.0, -1.0, 0.5], [0.5, -0.5, 1.5, 0.0], [0.0, 0.0, 0.0, 0.0]]
EPSILON = {name: torch.finfo(dtype).eps for name, dtype in PRECISIONS.items()}


def in_node(expression: str, argument=None) -> object:
    """Evaluate JavaScript of the figure; NaN, ±∞ and −0, which JSON does not have, come as text."""
    spell = """(_, x) => typeof x !== "number" || (Number.isFinite(x) && !Object.is(x, -0)) ? x
        : x === 0 ? "-0" : String(x).replace("Infinity", "inf")"""
    return run_in_node(MODULE, f"JSON.parse(JSON.stringify({expression}, {spell}))", argument)


def from_json(rows) -> Tensor:
    return torch.tensor([float(x) for x in rows], dtype=torch.float64)


# --- formats


def sixteen_bits(dtype: torch.dtype) -> Tensor:
    """Every finite number of a 16-bit type, as float64, ascending."""
    patterns = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype).double()
    return patterns[patterns.isfinite()].unique()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_number_of_16_bits_and_every_midpoint_is_rounded_as_torch_rounds(name):
    dtype = PRECISIONS[name]
    exact = sixteen_bits(dtype)
    middle = (exact[1:] + exact[:-1]) / 2  # ties, and a float32 to either side of each
    around = torch.cat([middle.float().nextafter(torch.tensor(way)).double() for way in (math.inf, -math.inf)])
    largest = exact.max().item()
    edge = largest + (largest - exact[-2].item()) / 2  # from here on ∞
    edges = torch.tensor([edge, -edge, edge * (1 - 1e-7), largest * 1.5, 1e-46, -1e-46], dtype=torch.float64)
    asked = torch.cat([exact, middle, around, edges])
    asked = asked[asked.abs() < 3.4e38]
    assert len(asked) > 250_000
    bits = in_node(f"argument.map((x) => m.PRECISIONS.{name}.round(x))", asked.tolist())
    found, wanted = from_json(bits), asked.float().to(dtype).double()
    assert found.equal(wanted)
    assert found.signbit().equal(wanted.signbit())  # -0 too


def test_float32_and_what_is_not_a_number():
    asked = (torch.randn(2000, dtype=torch.float64) * 10.0 ** torch.arange(-50, 50).double().repeat(20)).tolist()
    rounded = in_node("argument.map((x) => m.PRECISIONS.float32.round(x))", asked)
    assert from_json(rounded).equal(torch.tensor(asked, dtype=torch.float64).float().double())
    odd = in_node("Object.values(m.PRECISIONS).map(({ round }) => [NaN, 1 / 0, -1 / 0, -0].map((x) => round(x)))")
    assert odd == [["NaN", "inf", "-inf", "-0"]] * 4
    epsilons = in_node("Object.entries(m.PRECISIONS).map(([name, { epsilon }]) => [name, epsilon])")
    assert dict(epsilons) == EPSILON


# --- versions, operation by operation


def cases() -> list[dict]:
    """Every version in every precision, with and without the shift, in every corner of the chapter."""
    generator = torch.Generator().manual_seed(0)
    corners = [  # scale, offset, length
        (1.0, 0.0, 4), (1.0, 0.0, 0), (1.0, 0.0, 6), (1.0, 1e4, 4), (1.0, -1e4, 3), (1.0, -200.0, 4),
        (100.0, 0.0, 1), (20.0, 50.0, 5), (1.0, -1e9, 3), (1.0, 1e5, 4), (1e4, 1e5, 6), (1.0, -16.0, 4),
    ]  # fmt: skip
    return [
        {
            "scores": (2 * torch.randn(6, generator=generator, dtype=torch.float64)).tolist(),
            "length": length, "scale": scale, "offset": offset, "fill": fill, "precision": precision, "shift": shift,
        }
        for fill in VERSIONS for precision in PRECISIONS for shift in (True, False) for scale, offset, length in corners
    ]  # fmt: skip


def total(numbers: Tensor) -> Tensor:
    """A sum as hardware keeps it: one after the other, in float32 for what is shorter."""
    wide = numbers if numbers.dtype == torch.float64 else numbers.float()
    result = wide[0]
    for number in wide[1:]:
        result = result + number
    return result.to(numbers.dtype)


def in_torch(case: dict, exp: Tensor) -> dict[str, Tensor]:
    """The same steps as torch expressions on a tensor of that type; exp() is given, its last bit is nobody's law."""
    dtype, fill = PRECISIONS[case["precision"]], case["fill"]
    e = torch.tensor([x * case["scale"] + case["offset"] for x in case["scores"]], dtype=torch.float64)
    e = e if dtype == torch.float64 else e.float().to(dtype)
    mask = torch.arange(6) < case["length"]
    into = e.clone()
    if fill in ("-1e9", "-1e4", "-inf"):  # −1e9 becomes −∞ in float16; not every torch assigns a number so
        into[~mask] = torch.tensor(float(fill)).to(dtype)
    elif fill == "both, shared":
        into = e * mask
    elif fill == "ours":
        into = e.masked_fill(~mask, -torch.inf) if mask.any() else torch.zeros_like(e)
    shifted = into - into.max() if case["shift"] or fill == "ours" else into
    weights = softmax = exp.to(dtype) / total(exp.to(dtype))
    if fill in ("after", "after, shared", "both, shared"):
        weights = softmax * mask
    if fill == "ours":
        weights = softmax.masked_fill(~mask, 0)
    if fill == "after, shared":
        weights = weights / total(weights)
    if fill == "both, shared":
        weights = weights / (total(weights) + 1e-13)
    steps = {"e": e, "into": into, "shifted": shifted, "total": total(exp.to(dtype))[None]}
    return steps | {"softmax": softmax, "weights": weights}


def test_every_step_of_every_version_is_that_of_torch():
    given = cases()
    answers = in_node("argument.map((how) => m.computed(how))", given)
    for case, answer in zip(given, answers, strict=True):
        exp = from_json(answer["exp"])
        for what, wanted in in_torch(case, exp).items():
            found = from_json(answer[what] if isinstance(answer[what], list) else [answer[what]])
            assert found.allclose(wanted.double(), rtol=0, atol=0, equal_nan=True), (what, case, found, wanted)
        # one unit in the last place: torch rounds exp itself in one of two ways
        wanted = from_json(answer["shifted"]).to(PRECISIONS[case["precision"]]).exp().double()
        torch.testing.assert_close(
            exp, wanted, rtol=EPSILON[case["precision"]], atol=6e-8, equal_nan=True, msg=lambda t, c=case: f"{c}\n{t}"
        )


def test_ours_is_attnlibs_and_the_right_weights_are_its_float64():
    given = [case for case in cases() if case["fill"] == "ours"]
    answers = in_node("argument.map((how) => m.computed(how))", given)
    n_nan = 0
    for case, answer in zip(given, answers, strict=True):
        e, mask = from_json(answer["e"]), torch.arange(6) < case["length"]
        wanted = masked_softmax(e.to(PRECISIONS[case["precision"]]), mask).double()
        atol = {"float64": 1e-12, "float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}[case["precision"]]
        torch.testing.assert_close(from_json(answer["weights"]), wanted, rtol=0, atol=atol, equal_nan=True)
        right = masked_softmax(e, mask)
        torch.testing.assert_close(from_json(answer["right"]), right, rtol=0, atol=1e-12, equal_nan=True)
        assert answer["verdict"]["word"] == ("NaN" if wanted.isnan().any() else "ok"), case
        n_nan += wanted.isnan().any().item()
    assert 0 < n_nan < len(given) / 4


def test_python_and_javascript_agree_on_weights_and_verdicts():
    given = cases()
    both = "argument.map((how) => m.computed(how)).map((row) => [row.weights, m.verdictText(row.verdict)])"
    words = set()
    for case, (weights, verdict) in zip(given, in_node(both, given), strict=True):
        raw = torch.tensor([case["scores"]], dtype=torch.float64) * case["scale"] + case["offset"]
        found, verdicts = outcome(raw, [case["length"]], case["fill"], case["precision"], case["shift"])
        atol = 2 * EPSILON[case["precision"]] if case["precision"] != "float64" else 1e-12
        np.testing.assert_allclose(from_json(weights), found[0], rtol=0, atol=atol, err_msg=str(case))
        (name, *number), (wanted_name, *wanted) = verdict.split(), verdicts[0].split()
        assert name == wanted_name, (case, verdict, verdicts)
        assert [float(x) for x in number] == pytest.approx([float(x) for x in wanted], abs=0.011)
        words.add(name)
    assert words == {"ok", "NaN", "leaks", "zeros", "sum", "wrong"}


def test_sums_of_16_bits_are_kept_in_32():
    many = torch.ones(1, 600)  # adding 1 to 256 changes nothing in bfloat16
    assert added(many.bfloat16()).tolist() == [[600.0]]
    row = {"e": [0.0] * 600, "mask": [True] * 600, "fill": "-inf", "precision": "bfloat16", "shift": True}
    assert in_node("m.steps(argument).total", row) == 600


@pytest.mark.parametrize(("S", "length"), [(1, 0), (1, 1), (2, 1), (32, 0), (32, 20), (32, 32)])
def test_rows_of_any_length(S, length):
    scores = [math.sin(j) for j in range(S)]
    how = {"scores": scores, "length": length, "scale": 1, "offset": 0, "precision": "float32", "shift": True}
    answers = in_node("argument.map((how) => m.computed(how).weights)", [how | {"fill": fill} for fill in VERSIONS])
    for fill, weights in zip(VERSIONS, answers, strict=True):
        wanted = MaskedSoftmaxLab([scores], lengths=[length], fill=fill).weights[0]
        np.testing.assert_allclose(from_json(weights), wanted, rtol=0, atol=1e-6)


def test_names_and_labels_are_the_same_on_both_sides():
    labels = in_node("Object.entries(m.VERSIONS).map(([name, { label }]) => [name, label])")
    assert [tuple(pair) for pair in labels] == list(LABELS.items())
    assert list(VERSIONS) == list(LABELS)
    assert in_node("Object.keys(m.PRECISIONS)") == list(PRECISIONS)


# fmt: off
STORIES = [
    ({}, "Nothing is visible, all scores are equally bad, and 1.00 of the attention is on padding."),
    ({"fill": "-inf"}, "Every score is −∞, and −∞ − (−∞) is NaN."),
    ({"fill": "-inf", "shift": False}, "Every exp is 0 in float32, and 0 / 0 is NaN."),
    ({"precision": "float16"},
     "float16 cannot hold −1e9: the fill became −∞. Every score is −∞, and −∞ − (−∞) is NaN."),
    ({"fill": "ours"}, "Nothing is visible, and every weight is 0."),
    ({"row": 1}, "The weights are right: the visible share 1, and padding gets 0."),
    ({"row": 1, "fill": "after"},
     "The weights sum to 0.87: the hidden places took part in the softmax, and their share is lost."),
    ({"row": 0, "offset": 100, "shift": False}, "exp(101) is ∞ in float32, and ∞ / ∞ is NaN."),
    ({"row": 1, "fill": "both, shared", "offset": -200},
     "Every weight is 0: the hidden places took all of the softmax."),
    ({"row": 1, "fill": "after, shared", "scale": 1e4, "scores": [SCORES[0], [0, 0, 0, 6], SCORES[2]]},
     "The hidden took all of the softmax; behind the mask 0 / 0 is left, which is NaN."),
    ({"row": 1, "fill": "-1e4", "offset": -1e4},
     "0.13 of the attention is on padding: to float32, −1e4 is not far below these scores."),
    ({"row": 0, "fill": "ours", "precision": "float16", "offset": 1e5},
     "float16 cannot hold 100001 and stores ∞. ∞ − ∞ is NaN."),
    ({"row": 0, "fill": "-inf", "precision": "float16", "offset": 1e5},
     "float16 cannot hold 100001 and stores ∞. ∞ − ∞ is NaN."),
    ({"row": 0, "precision": "float16", "shift": False, "scores": [[11.0] * 4, *SCORES[1:]]},
     "The sum is ∞ in float16, and every weight is 0."),
    ({"row": 0, "precision": "bfloat16", "offset": 1e4},
     "The weights are right: the visible share 1, and padding gets 0."
     " (Stored in bfloat16, different scores became equal.)"),
]
# fmt: on


def test_every_story():
    given = []
    for traits, _ in STORIES:
        figure = MaskedSoftmaxLab(SCORES, lengths=[4, 3, 0])
        for trait, value in traits.items():
            setattr(figure, trait, value)
        how = {name: getattr(figure, name) for name in ("fill", "precision", "shift", "scale", "offset")}
        case = how | {"scores": figure.scores[figure.row], "length": figure.lengths[figure.row]}
        given.append(case | {"meant": [x * figure.scale + figure.offset for x in case["scores"]]})
    told = in_node("argument.map((case_) => m.story(m.computed(case_), case_))", given)
    for (traits, said), story in zip(STORIES, told, strict=True):
        assert story == said, traits


def test_numbers_of_any_size_are_short():
    given = [0, 1, 0.31, -200, 10002.3, -9984, -1e9, 4.5e-5, 1e30, 99.999]
    wanted = ["0", "1.00", "0.31", "−200", "10002.3", "−9984", "−1e9", "4.5e−5", "1e30", "100.00"]
    assert in_node("argument.map(m.short)", given) == wanted
    assert in_node("[NaN, 1 / 0, -1 / 0].map(m.short)") == ["NaN", "∞", "−∞"]
    assert in_node("argument.map(m.plain)", [0, -200, 0.5, 1e4, -1e9]) == ["0", "−200", "0.5", "10000", "−1e9"]


# --- the Python side


def lab(**changes) -> MaskedSoftmaxLab:
    return MaskedSoftmaxLab(**({"scores": SCORES, "lengths": [4, 2, 0]} | changes))


def test_results_follow_every_trait():
    figure = lab(fill="ours", precision="float64")
    scores = [[0.3, 1.0, 2.0, -4.0], [1.0, 1.0, 1.0, 9.0], [5.0, 6.0, 7.0, 8.0]]
    changes = [("scores", scores), ("lengths", [1, 4, 3]), ("scale", 2.5), ("offset", -30.0)]
    for trait, value in changes:
        setattr(figure, trait, value)
        e = torch.tensor(figure.scores, dtype=torch.float64) * figure.scale + figure.offset
        wanted = masked_softmax(e, length_mask(torch.tensor(figure.lengths), 4)[:, 0])
        assert np.allclose(figure.weights, wanted, rtol=0, atol=1e-14), trait
    figure.precision = "bfloat16"
    assert not np.allclose(figure.weights, wanted)
    figure.fill, figure.precision, figure.offset = "-inf", "float32", 100.0
    assert figure.verdicts == ["ok"] * 3
    figure.shift = False
    assert figure.verdicts == ["NaN"] * 3
    assert all(math.isnan(row[0]) for row in figure.weights)


def test_scores_are_multiplied_before_the_offset_is_added_and_each_row_has_its_own_largest():
    assert lab(fill="-1e4", scale=0.5, offset=-1e4).verdicts[1].startswith("leaks")
    assert lab(scores=[[1e4] * 4, *SCORES[1:]], lengths=[4] * 3).verdicts == ["ok"] * 3


def test_arrays_and_tensors_are_welcome():
    scores, lengths = torch.tensor(SCORES, requires_grad=True), [4, 2, 0]
    figure = lab(lengths=np.array([1, 1, 1]))
    figure.scores, figure.lengths = scores, np.array(lengths)
    assert figure.weights == lab(scores=scores, lengths=torch.tensor(lengths)).weights == lab().weights


def test_lengths_are_those_of_the_words():
    figure = MaskedSoftmaxLab(SCORES, words=[["a", "b"], ["c"], []])
    assert (figure.lengths, figure.words, figure.row) == ([2, 1, 0], [["a", "b"], ["c"], []], 2)
    assert MaskedSoftmaxLab(SCORES).lengths == [4, 4, 4]
    assert MaskedSoftmaxLab(SCORES).words == [["1", "2", "3", "4"]] * 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [1.0, 2.0]}, r"scores must have shape \(B, S\).*\(2,\)"),
        ({"scores": [[]]}, r"\(1, 0\)"),
        ({"lengths": [4, 2]}, r"lengths must have shape \(3,\) for 3 rows, got \(2,\)"),
        ({"lengths": [4, 2, 5]}, r"whole numbers in 0\.\.4.*5"),
        ({"lengths": [4, 1.5, 0]}, "whole numbers.*1.5"),
        ({"words": [["a"], ["b"]]}, r"words must be 3 lists of at most 4 words, got lists of \[1, 1\]"),
        ({"words": [["a"] * 5, [], []]}, r"\[5, 0, 0\]"),
        ({"fill": "zero"}, "unknown fill 'zero'.*'-1e9'"),
        ({"precision": "float8"}, "unknown precision 'float8'.*'bfloat16'"),
        ({"offset": math.nan}, "offset .*nan"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        lab(**changes)


def test_repr_is_short_and_says_what_is_wrong():
    assert repr(lab()) == "MaskedSoftmaxLab('-1e9', 'float32', rows: ok, ok, leaks 1.00)"
    many = MaskedSoftmaxLab([[0.0, 1.0]] * 9, lengths=[1] * 8 + [0], fill="-inf")
    assert repr(many) == "MaskedSoftmaxLab('-inf', 'float32', rows: 8 of 9 ok)"


def test_the_picture_shows_the_state():
    figure = lab(fill="-inf")
    ax = figure.picture().axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["row 1: ok", "row 2: ok", "row 3: NaN"]
    assert ax.get_title() == "fill with −∞, float32"
    shown = [float(text.get_text()) for text in ax.texts]
    np.testing.assert_allclose(shown, np.ravel(figure.weights), atol=0.005)
    hatched = [(patch.get_x() + 0.5, patch.get_y() + 0.5) for patch in ax.patches]
    assert hatched == [(2, 1), (3, 1), (0, 2), (1, 2), (2, 2), (3, 2)]
