"""AlignmentView: takes weights as people have them, and its JavaScript says what attnlib says."""

import base64
import json
import warnings

import numpy as np
import pytest
import torch

from attnlib.figures import AlignmentView
from attnlib.figures.alignments import LIMIT, UNIT
from attnlib.training.metrics import hard_alignment
from tests.node import run_in_node

SOURCE, TARGET = ["le", "chat", "noir"], ["the", "black", "cat", "."]
WEIGHTS = [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.0, 0.9, 0.1], [0.25, 0.25, 0.5]]
GOLD = [(0, 0), (1, 2), (2, 1), (2, 0)]


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    """Rows that add up to 1."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(2).softmax(-1)


def view(weights=WEIGHTS, source=SOURCE, target=TARGET, gold=GOLD, **how) -> AlignmentView:
    return AlignmentView(weights, source, target, gold, **how)


def words(n: int) -> list[str]:
    return [f"w{j}" for j in range(n)]


def assert_shown(figure: AlignmentView, expected, atol: float = 1 / UNIT):
    """The one model of the figure shows these weights, up to the steps in which they are kept."""
    assert np.array(figure.weights[""]) == pytest.approx(np.array(expected), abs=atol)


# --- the JavaScript


def random_case(n: int) -> tuple[AlignmentView, torch.Tensor, list]:
    """Weights of one model, rows of zeros and rows that do not add up to 1 among them, and some gold links."""
    generator = torch.Generator().manual_seed(n)
    L, H, T, S = (int(torch.randint(1, top, (), generator=generator)) for top in (4, 5, 9, 9))
    weights = torch.rand(L, H, T, S, generator=generator)
    if n % 3:
        weights = weights.mul(5).softmax(-1)
    if n % 4 == 0:
        weights[:, :, 0] = 0
    if n % 5 == 0:
        weights[..., S - 1] = weights[..., 0]  # ties
    links = torch.rand(T, S, generator=generator) < (0.0, 0.3, 0.9)[n % 3 - 1]
    gold = [tuple(pair) for pair in links.nonzero().tolist()]
    shown = {"layer": n % L, "head": "mean" if n % 2 else n % H}
    return AlignmentView([one[None] for one in weights], words(S), words(T), gold, **shown), weights, gold


def test_javascript_says_what_attnlib_says():
    cases = [random_case(n) for n in range(240)]
    answers = run_in_node(
        str(AlignmentView._esm),
        """argument.map(([packed, layer, head]) => {
            const weights = m.mapOf(m.unpacked(packed), packed.shape, layer, head);
            return [weights, m.onGold(weights, packed.gold), weights.map(m.most), weights.map(m.total)];
        })""",
        [[figure.panels[0], figure.layer, figure.head] for figure, *_ in cases],
    )
    for (figure, given, gold), (weights, right, most, sums) in zip(cases, answers, strict=True):
        heads, shown = given[figure.layer].double(), torch.tensor(figure.weights[""], dtype=torch.float64)
        expected = heads.mean(0) if figure.head == "mean" else heads[figure.head]
        np.testing.assert_allclose(weights, expected, atol=0.51 / UNIT, rtol=0)
        np.testing.assert_allclose(weights, shown, atol=1e-12, rtol=0)
        # shown, and not expected: rounding may turn two that nearly tie
        links = hard_alignment(shown, *shown.shape)
        assert {(i, j) for i, j in enumerate(most) if j >= 0} == links
        assert sums == pytest.approx(shown.sum(-1).tolist(), abs=1e-12)
        if not gold:
            assert right is None and figure.gold_share == {"": None} and figure.gold_hits == {"": 0}
            continue
        rows = sorted({i for i, _ in gold})
        on, total = sum(shown[link].item() for link in gold), shown[rows].sum().item()
        assert right["share"] == pytest.approx(on / total if total else 0, abs=1e-12)
        assert right["rows"] == len(rows) and right["hits"] == len(links & set(gold))
        assert figure.gold_share[""] == pytest.approx(right["share"], abs=1e-12)
        assert figure.gold_hits[""] == right["hits"]


def test_weights_that_do_not_fit_their_shape_are_refused_in_javascript():
    packed = view().panels[0] | {"shape": [1, 1, 4, 4]}
    said = run_in_node(
        str(AlignmentView._esm), "(() => { try { m.unpacked(argument) } catch (e) { return e.message } })()", packed
    )
    assert said == "24 bytes cannot be 1 × 1 × 4 × 4 weights"


# --- the Python side: what is taken


def test_weights_are_kept_in_steps_of_a_sixty_thousandth():
    exact = [[0.5, 0.25, 0.05], [0.1, 1.0, 0.0]]
    assert AlignmentView(exact, words(3), words(2)).weights == {"": exact}


def test_arrays_and_tensors_are_welcome():
    tensor = torch.tensor(WEIGHTS, requires_grad=True)
    for given in (tensor, tensor.detach().numpy(), list(tensor), list(tensor.detach().numpy())):
        assert_shown(view(given), view().weights[""])
    assert_shown(view(tensor.bfloat16()), view().weights[""], atol=0.004)
    assert view(source="abc", target="wxyz").panels[0]["source"] == ["a", "b", "c"]
    assert view(source=torch.tensor([7, 8, 9]), target=range(4)).panels[0]["target"] == ["0", "1", "2", "3"]


def test_layers_of_heads_as_a_forward_pass_gives_them():
    layer = drawn(2, 3, 4, 5)  # (B, H, T, S)
    figure = AlignmentView(layer, words(5), words(4), batch=1)
    assert figure.panels[0]["shape"] == [1, 3, 4, 5]
    assert_shown(figure, layer[1].mean(0))
    layers = tuple(drawn(1, 2, 4, 4, seed=n) for n in range(3))
    figure = AlignmentView(layers, words(4), words(4))
    assert (figure.layer, figure.head) == (2, "mean")  # the last
    for layer in range(3):
        figure.layer, figure.head = layer, 1
        assert_shown(figure, layers[layer][0, 1])


def test_steps_as_generate_gives_them_to_a_decoder_alone():
    """Three tokens of a prompt, then two one by one: five rows, and no row looks at what came later."""
    steps = tuple(
        tuple(drawn(1, 2, n, S, seed=10 * S + layer) for layer in range(3)) for n, S in ((3, 3), (1, 4), (1, 5))
    )
    steps = (tuple(layer * torch.ones(3, 3).tril() for layer in steps[0]), *steps[1:])
    expected = np.zeros((5, 5))
    expected[:3, :3], expected[3, :4], expected[4] = steps[0][1][0, 0], steps[1][1][0, 0, 0], steps[2][1][0, 0, 0]
    assert_shown(AlignmentView(steps, words(5), words(5), layer=1, head=0), expected)


def test_steps_as_generate_gives_them_to_encoder_and_decoder():
    steps = [[drawn(2, 2, 1, 6, seed=10 * i + layer) for layer in range(2)] for i in range(4)]
    expected = torch.cat([step[1][1].mean(0) for step in steps])
    assert_shown(AlignmentView(steps, words(6), words(4), batch=1), expected)


def test_several_models_may_write_and_read_different_words():
    figure = AlignmentView(
        {"one": WEIGHTS, "two": [[0.5, 0.5]]},
        {"one": SOURCE, "two": ["a", "b"]},
        {"one": TARGET, "two": ["x"]},
        {"two": [(0, 1)]},
        step=3,
    )
    assert [packed["source"] for packed in figure.panels] == [SOURCE, ["a", "b"]]
    assert figure.gold_share == {"one": None, "two": 0.5}
    assert figure.view == "grid" and view().view == "both"
    assert repr(figure) == "AlignmentView(models=['one', 'two'], T=4, S=3, step=3)"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": {}}, "at least one model"),
        ({"weights": ()}, "eager"),
        ({"weights": (None, None)}, "None .*output_attentions=True.*eager"),
        ({"weights": ((None,), (None,))}, "step 0 are None"),
        ({"weights": [1.0, 2.0]}, r"\(T, S\), \(B, H, T, S\) .*got \(2,\)"),
        ({"weights": drawn(2, 4, 3)}, r"\(2, 4, 3\) could be sentences or heads: pass weights\[n\]"),
        ({"weights": drawn(2, 1, 4, 3)}, r"\(2, 1, 4, 3\) hold 2 sentences: choose one, batch=0\.\.1"),
        ({"weights": drawn(2, 1, 4, 3), "batch": 2}, r"batch must be in 0\.\.1 .*\(2, 1, 4, 3\), got 2"),
        ({"weights": (drawn(1, 2, 4, 3), drawn(1, 1, 4, 3))}, r"layers differ in shape.*\(2, 4, 3\), \(1, 4, 3\)"),
        ({"weights": [[drawn(1, 2, 4, 3)], [drawn(1, 1, 4, 3)]]}, r"steps differ .*\(1, 2, 4, 3\), \(1, 1, 4, 3\)"),
        ({"weights": drawn(3, 4)}, r"\(3, 4\), but there are 4 target and 3 source words"),
        ({"weights": [[0.1, 0.2], [0.1]]}, "rectangular"),
        ({"weights": [["a"]]}, "numbers"),
        ({"weights": (torch.tensor(WEIGHTS) * 4).tolist()}, r"0\.\.1, got 0\.\.3\.6.*scores"),
        ({"weights": [[-0.1, 0.5, 0.6]] * 4}, r"0\.\.1, got -0\.1\.\.0\.6"),
        ({"weights": [[float("nan"), 0.5, 0.5]] * 4}, r"\(1, 1, 4, 3\) must be finite"),
        ({"weights": {"a": WEIGHTS, "b": drawn(1, 2, 4, 3)}}, r"layers and heads.*'a': \(1, 1\), 'b': \(1, 2\)"),
        ({"weights": {"a": WEIGHTS}, "target": {"b": TARGET}}, r"target is given for \['b'\], weights for \['a'\]"),
        ({"weights": {"a": WEIGHTS}, "gold": {"b": GOLD}}, r"gold is given for \['b'\], weights for \['a'\]"),
        ({"source": {"a": SOURCE}}, r"source is given for \['a'\]"),
        ({"target": []}, "target must have at least one word"),
        ({"gold": [(4, 0)]}, r"\(4, 0\) is outside of 4 target and 3 source"),
        ({"gold": [(0, -1)]}, r"\(0, -1\) is outside"),
        ({"gold": [(0, 3)]}, r"\(0, 3\) is outside"),
        ({"gold": [(0, 1, 2)]}, r"pair .*\(0, 1, 2\)"),
        ({"gold": [(0, 0.5)]}, r"pair .*\(0, 0\.5\)"),
        ({"head": "max"}, "head .*'max'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        view(**changes)


def unpacked(data: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(data), "<u2").reshape(shape) / UNIT


def test_of_many_weights_the_page_gets_those_that_are_looked_at():
    """The size of BERT-base: twelve layers of twelve heads, over sixty words."""
    layers = [drawn(1, 12, 60, 60, seed=n) for n in range(12)]
    figure = view(layers, words(60), words(60), None, layer=3, head=5)

    def assert_sent(layer, head, expected):
        assert [panel["data"] for panel in figure.panels] == [""]
        assert (figure.sent["layer"], figure.sent["head"]) == (layer, head)
        (data,) = figure.sent["maps"]
        assert unpacked(data, 60, 60) == pytest.approx(expected.numpy(), abs=2 / UNIT)

    assert_sent(3, 5, layers[3][0, 5])
    figure.set_state({"layer": 11, "head": "mean"})  # from the browser
    assert_sent(11, "mean", layers[11][0].mean(0))
    assert len(json.dumps({name: figure.get_state(name) for name in ("panels", "sent")})) < 12_000

    whole = figure.state_without_kernel()
    assert whole["sent"] == {}
    all_of_them = np.stack([one[0].numpy() for one in layers])
    assert unpacked(whole["panels"][0]["data"], 12, 12, 60, 60) == pytest.approx(all_of_them, abs=1 / UNIT)


def test_as_many_as_fit_are_sent_at_once_and_one_head_must_fit():
    side = int((LIMIT * 3 / 8 / 12) ** 0.5)
    fitting, more = (view(drawn(1, 12, n, n), words(n), words(n), None) for n in (side, side + 1))
    assert len(json.dumps(fitting.panels)) < 1.01 * LIMIT
    assert (fitting.sent, more.panels[0]["data"]) == ({}, "")
    with pytest.raises(ValueError, match=r"^613 × 613 weights .* one head are 1\.0 MB .* 1 MB: pass a shorter text"):
        view(drawn(613, 613), words(613), words(613), None)


# --- the Python side: what moves


def test_results_follow_layer_and_head():
    layers = [drawn(1, 2, 4, 3, seed=n) for n in range(2)]
    figure = view(layers)
    figure.set_state({"layer": 0, "head": 1})  # from the browser
    shown = layers[0][0, 1].double()
    expected = sum(shown[i, j] for i, j in GOLD) / shown[:3].sum()
    assert figure.gold_share[""] == pytest.approx(expected.item(), abs=1e-4)
    assert figure.gold_hits[""] == len(hard_alignment(shown, 4, 3) & set(GOLD))


def test_gold_by_hand():
    figure = view()  # rows 0, 1, 2 have links: .8, .7 and .9 + .0 of 3
    assert (figure.gold_share[""], figure.gold_hits[""]) == (pytest.approx(2.4 / 3), 3)
    nothing = view([[0.0] * 3] * 4)  # who looks at nothing looks at no gold
    assert (nothing.gold_share, nothing.gold_hits) == ({"": 0.0}, {"": 0})


@pytest.mark.parametrize("shown", ["grid", "lines", "both"])
def test_picture(shown):
    # math signs and blanks are shown as they are
    figure = AlignmentView(
        {"a": WEIGHTS, "b": WEIGHTS}, ["$x$", " ", ""], TARGET, {"a": GOLD}, view=shown, step=1
    ).picture()
    assert len(figure.axes) == (4 if shown == "both" else 2)
    figure.savefig("/dev/null", format="png")
    texts = {
        text.get_text() for ax in figure.axes for text in (*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts)
    }
    assert {"$x$", "␣", "∅", *TARGET} <= texts
    assert not any(text.get_parse_math() for ax in figure.axes for text in (*ax.get_xticklabels(), *ax.texts))


def test_picture_shows_the_state():
    layers = [drawn(1, 2, 4, 3, seed=n) for n in range(2)]
    figure = view(layers, view="grid", layer=0, head=1)
    (ax,) = figure.picture().axes
    cells = [cell for cell in ax.patches if cell.get_gid() == "weight-cell"]
    shown = np.zeros((4, 3))
    for cell in cells:
        x, y = (int(at + 0.5) for at in cell.get_xy())
        shown[y, x] = cell.get_alpha()
    assert shown == pytest.approx(layers[0][0, 1].numpy(), abs=0.004)  # fainter ones are not drawn
    assert len(ax.patches) == len(cells) + 1 + len(GOLD)
    figure.show_gold = False
    assert len(figure.picture().axes[0].patches) == len(cells) + 1
    several = view({"a": WEIGHTS, "b": WEIGHTS})
    several.model = "b"
    assert [ax.get_title() for ax in several.picture().axes] == ["b"]


def test_lines_of_the_picture():
    """From source j on the left to target i on the right, wider with the weight."""
    figure = AlignmentView([[0.0, 1.0], [0.5, 0.0]], ["a", "b"], ["x", "y"], view="lines")
    (ax,) = figure.picture().axes
    lines = [(line.get_ydata().tolist(), line.get_linewidth()) for line in ax.lines]
    assert lines == [([1.5, 0.5], 5.5), ([0.5, 1.5], 3.0)]


def test_repr_is_short_and_does_not_depend_on_training():
    assert repr(view(drawn(1, 2, 4, 3), head=1)) == "AlignmentView(head=1, T=4, S=3, step=0)"
    many = {f"a model with a long name {n}": WEIGHTS for n in range(5)}
    assert repr(view(many)) == "AlignmentView(models=5, T=4, S=3, step=0)"


def test_a_bundle_holds_a_picture_and_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # what Matplotlib says of letters that it cannot draw
        data, _ = view(source=["猫", "chat", "noir"])._repr_mimebundle_()
    assert data["image/png"].startswith("iVBOR")
