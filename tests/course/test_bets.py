"""The bets of the live figures: few words, and answers that attnlib computes. (The browser shows the others.)"""

import base64

import numpy as np
import pytest

from attnlib.course import bets
from attnlib.course.figures import FadingTrace, LookBack, MaskedSoftmaxLab, OtherWeights, ScoreExplorer, Translate
from attnlib.decoders import BahdanauDecoder
from attnlib.figures import CostCurve
from attnlib.figures.alignments import UNIT
from attnlib.figures.figure import Figure
from attnlib.figures.questions import checked
from benchmarks.examples import stand_in, stored_figures

LEFT, ABOVE = ("a", "butterfly", "left", "of", "an", "elephant"), ("an", "elephant", "above", "a", "butterfly")
GROUPS = [
    bets.plane(), bets.masks(), bets.compass(), bets.alignment(), bets.surgery("jeudi 14 mars 2024"), bets.late(),
    bets.asking(), bets.costs(), bets.gate("call Ada"), bets.heads(0), bets.captions(0, LEFT, ABOVE, 4), bets.film(),
    bets.forgetting("The queen is"), bets.looking("aA1bB2?B", "A", "C"), bets.translating("the hub", "the hubs"),
    bets.one_vector(), bets.born(), bets.order(),
]  # fmt: skip


def shown(figure: Figure, question: dict) -> Figure:
    """The figure after "Show me"."""
    for trait, value in question["show"].items():
        setattr(figure, trait, value)
    return figure


@pytest.mark.parametrize("group", GROUPS)
def test_a_figure_asks_three_things_in_few_words_and_shows_each(group):
    assert len(checked(group, {trait for one in group for trait in one["show"]})) == 3
    for one in group:
        assert len(one["ask"]) <= 115 and len(one["because"]) <= 125, one["ask"]
        assert one["show"], one["ask"]


def test_no_place_wins_most_of_the_time():
    rights = [one["right"] for group in GROUPS for one in group]
    assert max(map(rights.count, rights)) < 0.6 * len(rights)


def test_plane():
    (state,) = stored_figures("03", "ScoreExplorer")
    figure = ScoreExplorer(state["words"], state["query"], state["key"])
    longer, hidden, nothing = bets.plane()
    before = np.array(figure.weights)
    assert state["words"][-1] == "money" and f"{before[-1]:.2f}" in longer["ask"]
    assert np.allclose(longer["show"]["query"], 2 * np.array(state["query"]))
    assert f"it grows to {shown(figure, longer).weights[-1]:.2f}" == longer["answers"][longer["right"]]
    after = np.array(shown(figure, hidden).weights)
    assert after[-1] == 0 and np.allclose(after[:-1], before[:-1] / before[:-1].sum())
    assert f"{1 / before[:-1].sum():.1f}" in hidden["because"]
    figure = shown(figure, nothing)
    assert np.allclose(figure.weights, 1 / 6) and np.allclose(figure.context, np.mean(state["key"], axis=0))
    assert np.linalg.norm(figure.context) > 0.3  # not at the origin


def test_compass():
    (state,) = stored_figures("05", "ScoreExplorer")
    figure = ScoreExplorer(state["words"], state["query"], state["key"])
    cosine, nothing, moved = bets.compass()
    assert state["questions"] == checked([cosine, nothing, moved], figure.trait_names())
    words = state["words"]
    assert np.allclose(cosine["show"]["key"], state["key"]) and cosine["show"]["query"] == state["query"]
    assert words[int(np.argmax(figure.weights))] == "east"
    assert words[int(np.argmax(shown(figure, cosine).weights))] == "inside"
    assert np.allclose(shown(figure, nothing).weights[0], 0.58, atol=0.005) and np.argmax(figure.weights) == 0
    figure.score = "dot"
    assert np.allclose(figure.weights, 0.2)
    before = np.array(shown(figure, moved | {"show": moved["show"] | {"key": cosine["show"]["key"]}}).weights)
    after = np.array(shown(figure, moved).weights)
    assert np.array_equal(before, after) and f"{after[3]:.2f}" in moved["answers"][0]
    assert np.allclose(figure.key[3], figure.key[1]) and f"{after[1]:.2f}" in moved["answers"][1]


def test_forgetting():
    (state,) = stored_figures("01", "FadingTrace")
    figure = FadingTrace(*(state[name] for name in ("weights", "vocabulary", "text", "word", "becomes")))
    longer, straight, cut = bets.forgetting(state["text"])
    assert state["questions"] == checked([longer, straight, cut], figure.trait_names())
    before = figure.left_after
    assert len(longer["show"]["becomes"]) > 2 * len("queen") and abs(shown(figure, longer).left_after - before) <= 1
    figure = shown(figure, straight)
    powers = -np.log10(figure.shares)[:20]
    assert figure.logarithmic and np.corrcoef(powers, range(20))[0, 1] > 0.97 and powers[-1] > 4
    assert f"{100 * shown(figure, cut).moved:.0f} %" in cut["answers"][cut["right"]]
    assert figure.text == "The queen " and 0.25 < figure.shares[-1] < 0.4 and not figure.logarithmic


def test_looking():
    (state,) = stored_figures("06", "LookBack")
    figure, row = LookBack(state["weights"], state["vocabulary"], state["text"]), state["text"]
    other = dict(state["examples"])["the other key"][-1]
    same, turned, nowhere = bets.looking(row, other, dict(state["examples"])["a key that is not there"][-1])
    assert state["questions"] == checked([same, turned, nowhere], figure.trait_names())
    first = int(np.argmax(shown(figure, same).alpha))
    answer = int(np.argmax(figure.chances))
    assert first == row.index(row[-1]) + 1 and row[first] == state["vocabulary"][answer]
    second = int(np.argmax(shown(figure, turned).alpha))
    assert second == row.index(other) + 1 and int(np.argmax(figure.chances)) != answer
    token = state["vocabulary"][int(np.argmax(shown(figure, nowhere).chances))]
    assert token in {row[first], row[second]} and max(figure.chances) > 0.8 and figure.tokens[-1] not in row


def test_masks():
    (state,) = stored_figures("04", "MaskedSoftmaxLab")
    figure = MaskedSoftmaxLab(state["start"]["scores"], state["start"]["lengths"], state["words"])
    empty, low, stored = bets.masks()
    assert shown(figure, empty).verdicts[2] == "NaN"
    padding = shown(figure, low).weights[1][3:]
    assert 0.17 < sum(padding) < 0.23  # a fifth
    right = np.exp(state["start"]["scores"][0]) / np.exp(state["start"]["scores"][0]).sum()
    figure = shown(figure, stored)
    assert np.abs(figure.weights[0] - right).max() > 0.04
    assert figure.weights[0][1] == figure.weights[0][5]  # of the scores 2.0 and 2.4
    figure.precision = "float16"
    assert np.abs(figure.weights[0] - right).max() < 0.015


def test_asking():
    (state,) = [state for state in stored_figures("11", "AlignmentView") if state["questions"]]
    (panel,) = state["panels"]
    words = panel["source"]
    weights = np.frombuffer(base64.b64decode(panel["data"]), "<u2").reshape(6, 6) / UNIT
    back, even, moved = bets.asking()
    lamp, it = words.index("lamp"), words.index("it")
    assert f"weight {weights[it, lamp]:.2f}" in back["ask"] and back["show"]["step"] == lamp
    assert f"gives {weights[lamp, it]:.2f}" in back["because"]
    assert words[even["show"]["step"]] == "the"
    assert f"{weights[0].min():.2f} to {weights[0].max():.2f}" in even["because"]
    assert words[moved["show"]["step"]] == "it"


def test_costs():
    (state,) = stored_figures("09", "CostCurve")
    bills = {
        quantity["name"]: {
            one["name"]: {
                part["name"]: [(c, {"S": s, "T": t, "d": d}) for c, s, t, d in part["terms"]] for part in one["parts"]
            }
            for one in quantity["costs"]
        }
        for quantity in state["costs"]
    }
    figure = CostCurve(bills)
    again, narrow, alone = bets.costs()
    counts = {name: sum(parts.values()) for name, parts in shown(figure, again).counts.items()}
    ratio = counts["additive, keys at every step"] / counts["additive"]
    assert f"{ratio:.0f} times" in again["because"]
    assert figure.crossovers["dot"] == [3072]
    assert shown(figure, narrow).crossovers["dot"] == [1536]
    assert figure.S == figure.crossovers["dot"][0] == 6 * figure.d
    assert shown(figure, alone).crossovers["dot"] == [] and figure.T == 50
    assert sum(figure.counts["dot"].values()) < sum(figure.counts["recurrence"].values())


def test_film():
    (state,) = [state for state in stored_figures("14", "OtherWeights") if state["questions"]]
    figure = OtherWeights(state["words"], state["own"], state["votes"])
    before, (praise, cancel, least) = figure.p, bets.film()
    assert shown(figure, praise).answer == "praise" and f"{figure.log_odds:.1f}" == "2.4"
    assert f"by {before - figure.p:.2f} only" in praise["because"]
    assert shown(figure, cancel).answer == "neither" and figure.votes[1][1] == -figure.votes[1][3] == 6
    assert "superb" in figure.words[1][1] and " ".join(figure.words[1]) in cancel["ask"]
    figure = shown(figure, least)
    assert f"{figure.weights[1]:.2f}" == f"{figure.farthest[1]:.2f}" == "0.48"
    assert figure.votes[1][2] == 0 and 0.045 < before - figure.p < 0.05 and f"z = {figure.log_odds:.1f}" == "z = 2.9"
    assert f"p = {figure.p:.2f}" in least["because"]
    figure.edits = {1: [0, 0.47, 0.53, 0, 0]}  # a little less, and it is too little
    assert before - figure.p > 0.05


def test_translating(tmp_path):
    """With weights at random: what is said of them is said of any."""
    word, painted, beam = bets.translating("turn on the light, or off", "turn the heater on")
    figure = Translate("the hub", file=stand_in(tmp_path, spread=0.4, decoder=BahdanauDecoder))
    assert "ter" not in word["show"]["text"].split() and "<unk>" not in shown(figure, word).pieces
    assert len(figure.pieces) > len(figure.text.split())
    shown(figure, painted)
    S, step, before, same = len(figure.pieces), figure.step, (figure.written, figure.weights), 0
    for place in range(S):
        figure.edits = {step: [0.9 * own + 0.1 * (j == place) for j, own in enumerate(before[1][step])]}
        if figure.written[: step + 1] == before[0][: step + 1]:
            same += 1
            assert figure.weights[step + 1] != before[1][step + 1]
    assert same > 0
    beams, longer = beam["show"]["beams"], []
    for seed in range(12):
        file = stand_in(tmp_path, spread=0.8, ends=1.0, seed=seed)
        greedy, best = (Translate("the hub", beams=n, file=file) for n in (1, beams))
        of_greedy, of_best = (f.found[0][1] * (5 + len(f.written)) / 6 for f in (greedy, best))
        if of_best < of_greedy:
            longer.append(len(best.written) > len(greedy.written))
            assert longer[-1] or best.found[0][1] <= greedy.found[0][1]
    assert True in longer
