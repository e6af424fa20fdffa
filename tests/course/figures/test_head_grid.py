"""HeadGrid: its JavaScript runs a layer of heads as attnlib does, and its Python side never disagrees with it."""

from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnlib.course.figures import HeadGrid
from attnlib.course.figures.heads import HeadsModel
from attnlib.course.figures.weights import unpacked
from benchmarks.examples import head_weights, stored_figures
from tests.node import run_in_node

ESM = str(HeadGrid._esm)
V, D, T, N = 7, 8, 5, 60
WORDS = [f"w{j}" for j in range(V)]
TASKS = ["previous", "first"]
RUN = """argument.cases.map(({ model, ids, off }) => {
    const layer = m.headsModel(argument.models[model]);
    const logits = m.logitsOfRow(layer, m.partsOfHeads(layer, ids), off);
    const made = m.project(layer, ids);
    const weights = Array.from({ length: layer.H }, (_, h) => m.weightsOfHead(layer, made, h, !off.includes(h)));
    return { logits: logits.map((x) => [...x]), weights: weights.map((head) => head.map((x) => [...x])) };
})"""


def model_of(H: int, weights: dict[str, Tensor]) -> HeadsModel:
    return HeadsModel(H, {name: weight.double() for name, weight in weights.items()}, V, V * len(TASKS))


def models() -> dict[str, tuple[int, dict[str, Tensor]]]:
    """Every kind that the figure can run."""

    def some(H, seed, d_ff=None):
        return head_weights(H, V=V, d=D, T=T + 1, d_ff=d_ff, seed=seed)[1]

    kinds = {f"{H} heads": (H, some(H, seed=H)) for H in (1, 2, 4, 8)}
    kinds["no bias"] = (4, {name: w for name, w in some(4, seed=5).items() if "bias" not in name})
    kinds["no positions"] = (2, {name: w for name, w in some(2, seed=6).items() if name != "positions.p"})
    kinds["a hidden layer"] = (2, some(2, 7, d_ff=11))
    kinds["a hidden layer, no bias"] = (2, {name: w for name, w in some(2, 8, d_ff=11).items() if "bias" not in name})
    kinds["nothing but zeros"] = (2, {name: torch.zeros_like(w) for name, w in some(2, seed=9).items()})
    return kinds


def rows(n: int = N, length: int = T, seed: int = 0) -> Tensor:
    return torch.randint(V, (n, length), generator=torch.Generator().manual_seed(seed))


def relations(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Targets (N, T, 2), the token before and the first, and where they are asked."""
    targets = torch.stack([tokens.roll(1, 1), tokens[:, :1].expand_as(tokens)], dim=-1)
    asked = torch.ones_like(targets, dtype=torch.bool)
    asked[:, 0, 0] = False
    return targets, asked


def grid(**changes) -> HeadGrid:
    tokens = rows()
    targets, asked = relations(tokens)
    given = {"models": models(), "tokens": tokens, "targets": targets, "asked": asked, "words": WORDS, "tasks": TASKS}
    return HeadGrid(**(given | changes))


def subsets(H: int) -> list[tuple[int, ...]]:
    found = [off for k in range(H + 1) for off in combinations(range(H), k)]
    return found if H <= 4 else found[:: len(found) // 12]


def answers_of(logits: Tensor) -> Tensor:
    """The likeliest word for each of the two tasks."""
    return logits.unflatten(-1, (2, -1)).argmax(-1)


def test_javascript_computes_what_attnlib_computes():
    """Logits and weights: all subsets of heads of every kind of model."""
    cases, expected = [], []
    for label, (H, weights) in models().items():
        reference = model_of(H, weights)
        for n, off in enumerate(subsets(H)):
            for length in (1, 2, T, T):
                ids = rows(1, length, seed=97 * n + length + len(cases))
                cases.append({"model": label, "ids": ids[0].tolist(), "off": list(off)})
                expected.append(reference(ids, off))
    answers = run_in_node(ESM, RUN, {"models": grid().models, "cases": cases})
    for case, answer, (logits, weights) in zip(cases, answers, expected, strict=True):
        np.testing.assert_allclose(answer["logits"], logits[0], rtol=1e-10, atol=1e-10, err_msg=str(case))
        np.testing.assert_allclose(answer["weights"], weights[0], rtol=1e-10, atol=1e-12, err_msg=str(case))


def test_a_map_in_words():
    before = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    first = [[1, 0, 0, 0], [0.7, 0.3, 0, 0], [1, 0, 0, 0], [0, 0.5, 0.2, 0.3]]
    itself, ahead = np.eye(4).tolist(), np.roll(np.eye(4), 1, axis=1).tolist()
    said = run_in_node(ESM, "argument.map(m.inWordsOfMap)", [before, first, itself, ahead, [[1.0]]])
    assert said == [
        "looks most at the token 1 before from 3 of 4 positions; largest weight 1.00 on average",
        "looks most at position 1 from 3 of 4 positions; largest weight 0.80 on average",
        "looks most at itself from 4 of 4 positions; largest weight 1.00 on average",
        "looks most at the token 1 after from 3 of 4 positions; largest weight 1.00 on average",
        "looks most at position 1 from 1 of 1 positions; largest weight 1.00 on average",
    ]


# --- the models that chapter 12 has stored


def test_javascript_runs_the_models_of_the_chapter():
    """The trained ones, on the chapter's rows: the answers of torch, in its own precision too."""
    exported, cases, expected = {}, [], []
    for state in stored_figures("12", "HeadGrid"):
        for label, model in state["models"].items():
            name = f"{len(exported)}: {label}"
            exported[name] = model
            V_of = len(state["words"])
            made = model["heads"], unpacked(model["weights"]), V_of, V_of * len(state["tasks"])
            single, double = HeadsModel(*made).float(), HeadsModel(*made)
            choices = subsets(model["heads"])
            for n, ids in enumerate(state["tokens"][:48]):
                off = choices[n % len(choices)]
                cases.append({"model": name, "ids": ids, "off": list(off)})
                expected.append([reference(torch.tensor([ids]), off)[0][0] for reference in (double, single)])
    expression = f"({RUN}).map(({{ logits }}) => logits)"
    answers = run_in_node(ESM, expression, {"models": exported, "cases": cases})
    for case, answer, (double, single) in zip(cases, answers, expected, strict=True):
        found = torch.tensor(answer, dtype=torch.float64)
        torch.testing.assert_close(found, double, rtol=1e-10, atol=1e-9)
        torch.testing.assert_close(found.float(), single, rtol=1e-5, atol=1e-4)  # logits up to 40 in 32 bits
        assert torch.equal(answers_of(found), answers_of(single)), case


# --- the Python side


def test_results_follow_every_trait():
    figure, tokens = grid(), rows()
    targets, asked = relations(tokens)
    changes = [("off", [0]), ("model", "4 heads"), ("off", [1, 3]), ("model", "2 heads"), ("example", 3), ("off", [])]
    for trait, value in changes:
        setattr(figure, trait, value)
        for shown, off in ((figure.accuracy, figure.off), (figure.before, [])):
            said = answers_of(model_of(*models()[figure.model])(tokens, off)[0])
            share = ((said == targets) & asked).sum((0, 1)) / asked.sum((0, 1))
            assert shown == pytest.approx(share.tolist()), trait
    assert figure.accuracy == figure.before and figure.example == 3


def test_another_model_keeps_the_heads_that_it_has_switched_off():
    figure = grid(model="4 heads", off=[0, 3])
    figure.model = "2 heads"
    assert figure.off == [0]
    assert figure.accuracy == figure.measure([0], "2 heads") != figure.before


def test_measuring_moves_nothing():
    figure = grid(model="4 heads", off=[1])
    before = figure.get_state(["model", "off", "example"]), figure.accuracy
    assert (figure.measure(), figure.measure([1])) == (figure.before, figure.accuracy)
    assert figure.measure([0], "8 heads") == grid(model="8 heads", off=[0]).accuracy
    assert (figure.get_state(["model", "off", "example"]), figure.accuracy) == before
    with pytest.raises(ValueError, match=r"'no such'.*1 heads, 2 heads"):
        figure.measure(model="no such")


def test_arrays_and_tensors_are_welcome():
    H, weights = models()["2 heads"]
    expected = grid(models={"a": (H, weights)}, off=[1])
    targets, asked = relations(rows())
    given = {"tokens": rows().tolist(), "targets": targets.numpy(), "asked": asked.tolist(), "off": {1}}
    for as_given in (lambda w: w.clone().requires_grad_(), lambda w: w.half().numpy(), Tensor.tolist):
        figure = grid(models={"a": (H, {name: as_given(w) for name, w in weights.items()})}, **given)
        assert (figure.accuracy, figure.models) == (expected.accuracy, expected.models)
    for off in (torch.tensor([1]), (1, 1), range(1, 2)):
        figure.off = off
        assert (figure.off, figure.accuracy) == ([1], expected.accuracy)


def test_where_nothing_is_asked_nothing_counts():
    tokens = rows()
    targets, asked = relations(tokens)
    figure = grid()
    assert (np.array(figure.targets)[:, 0, 0] == -1).all()
    assert (np.array(figure.targets)[:, :, 1] == tokens[:, :1].numpy()).all()
    assert figure.accuracy != grid(asked=None).accuracy
    alone = torch.zeros_like(asked)
    alone[0, 1:3] = True
    said = answers_of(model_of(*models()["1 heads"])(tokens)[0])
    assert grid(asked=alone).accuracy == (said == targets)[0, 1:3].double().mean(0).tolist()


def other(**changes) -> dict:
    """Model "a" of two heads with other weights; __ stands for a dot."""
    return {"a": (2, models()["2 heads"][1] | {name.replace("__", "."): w for name, w in changes.items()})}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": {}}, "a token, a task and a model.*0 models"),
        ({"tokens": torch.zeros(0, T), "tasks": []}, r"a token.*\(0, 5\), 0 tasks"),
        ({"tokens": [1, 2]}, r"tokens must have 2 dimensions, got shape \(2,\)"),
        ({"tokens": rows() + 1}, "tokens must be numbers of the 7 words, 0..6, got 7"),
        ({"tokens": rows() - 0.5}, r"0\.\.6, got .*\.5"),
        ({"targets": rows()}, r"targets must have 3 dimensions, got shape \(60, 5\)"),
        ({"targets": torch.zeros(N, T, 3)}, r"targets .*\(60, 5, 2\).*\(60, 5, 3\)"),
        ({"targets": torch.full((N, T, 2), V)}, "targets .*0..6, got 7"),
        ({"asked": torch.ones(N, T)}, r"asked .*\(60, 5, 2\).*\(60, 5\)"),
        ({"asked": torch.tensor([1, 0]).expand(N, T, 2)}, "'first' is asked nowhere"),
        ({"words": [*WORDS, "more"]}, r"embedding.weight.*\[7, 8\].*\[8, 8\]"),
        ({"off": [1]}, "off must be numbers of the 1 heads of '1 heads', 0..0, got 1"),
        ({"off": 0}, r"off must have 1 dimensions, got shape \(\)"),
        ({"models": {"a": (2, {})}}, "a: embedding.weight must be among the weights"),
        ({"models": other(norm__weight=torch.ones(D))}, 'a: the weights .* Unexpected key.*: "norm.weight"'),
        ({"models": other(positions__p=torch.ones(T - 1, D))}, r"a: LearnedPositions knows 0\.\.3, got 0\.\.4"),
        ({"models": other(positions__p=torch.ones(T, D + 1))}, r"positions.p.*\[5, 9\].*\[5, 8\]"),
        ({"models": other(attention__W_q__weight=torch.ones(D, D + 1))}, r"W_q.weight.*\[8, 9\].*\[8, 8\]"),
        ({"models": other(read__bias=torch.full((2 * V,), 0.1))}, r"a: read.bias.*does not fit 16 bits.*rounded"),
        ({"models": other(read__bias=torch.full((2 * V,), float("nan")))}, "read.bias must be finite"),
        ({"models": {"a": (3, models()["2 heads"][1])}}, "a: d_model must be a multiple .*d_model=8 and n_heads=3"),
        ({"models": {"a": (0, models()["2 heads"][1])}}, "'n_heads': 0"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        grid(**changes)


def test_the_picture_shows_maps_and_bars():
    figure = grid(model="8 heads", off=[2], words=["<b>$x$", *WORDS[1:]], tasks=["$previous$", "first"])
    picture = figure.picture()
    *maps, bars = picture.axes
    assert [ax.get_title() for ax in maps] == [f"head {h}: {'off' if h == 2 else 'on'}" for h in range(8)]
    H, weights = models()["8 heads"]
    expected = model_of(H, weights)(rows()[:1], [2])[1][0]
    for ax, wanted in zip(maps, expected, strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), wanted, atol=1e-9)
    assert [bar.get_width() for bar in bars.patches] == figure.accuracy
    assert [line.get_xdata()[0] for line in bars.lines] == figure.before
    assert [label.get_text() for label in bars.get_yticklabels()] == ["$previous$", "first"]
    assert not any(label.get_parse_math() for label in bars.get_yticklabels())
    picture.savefig("/dev/null", format="png")


def test_repr_says_what_the_figure_shows_and_nothing_random():
    figure = grid(model="4 heads", off=[2, 0])
    previous, first = (round(share, 2) for share in figure.accuracy)
    assert (
        repr(figure) == f"HeadGrid(model='4 heads', off=[0, 2], accuracy={{'previous': {previous}, 'first': {first}}})"
    )
