"""attnlib/grading/similarity.py against a comparison of tokens by hand."""

import csv

import pytest

from attnlib.grading import similarity
from attnlib.grading.similarity import Pair, pairs, tokens

STUB = "\n\n".join(f"def {name}(scores, mask):\n    raise NotImplementedError()\n" for name in "fg")
ONE = """def f(scores, mask):
    hidden = mask.expand_as(scores)
    filled = scores.masked_fill(hidden, -torch.inf)
    return torch.softmax(filled, dim=-1)
"""
RENAMED = ONE.replace("hidden", "h").replace("filled", "x").replace("    h =", "    # mine\n\n    h =")
OTHER = """def f(scores, mask):
    top = scores.max(dim=-1, keepdim=True).values
    parts = (scores - top).exp() * ~mask
    return parts / parts.sum(-1, keepdim=True)
"""
CLASS = {"ann": {"q1": ONE}, "bob": {"q1": RENAMED}, "cy": {"q1": OTHER}, "dee": {"q1": STUB}, "eve": {"q1": "f = ("}}


def agreement(a: list[str], b: list[str]) -> float:
    """Twice the longest common subsequence, by the table of its definition, over both lengths."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    return 2 * table[-1][-1] / (len(a) + len(b))


def test_tokens_are_what_is_left_without_comments_and_space():
    given = frozenset(tokens(STUB)[0])
    one, renamed = tokens(ONE, given), tokens(RENAMED, given)
    assert one[0] != renamed[0] and one[1] == renamed[1]
    assert one[0][:5] == ["def", "f", "(", "scores", ","] and one[0].count("{") == one[0].count("}") == 1
    assert {"masked_fill", "scores"} <= {*one[1]} and "hidden" not in one[1]  # a method is nobody's own name
    assert tokens("f = (") == ([], [])


def test_pairs_are_what_the_definition_says():
    found = {pair.students: pair for pair in pairs(CLASS, {"q1": STUB})}
    assert next(iter(found)) == ("ann", "bob") and set(found) == {("ann", "bob"), ("ann", "cy"), ("bob", "cy")}
    given = frozenset(tokens(STUB)[0])
    for (a, b), pair in found.items():
        (one, one_renamed), (other, other_renamed) = tokens(CLASS[a]["q1"], given), tokens(CLASS[b]["q1"], given)
        assert pair.written == pytest.approx(agreement(one, other), abs=1e-6)
        assert pair.renamed == pytest.approx(agreement(one_renamed, other_renamed), abs=1e-6)
        assert pair.tokens == min(len(one), len(other))
    assert found["ann", "bob"].renamed == 1 > found["ann", "bob"].written > 0.8
    low, middle, high = sorted(pair.written for pair in found.values())
    quarters = (middle - low) / 2, (high - middle) / 2  # numpy's percentiles of three numbers
    assert found["ann", "bob"].above == pytest.approx((high - middle) / sum(quarters), abs=1e-5)


def test_a_class_that_does_not_differ_stands_out_nowhere():
    same = {name: {"q1": ONE} for name in ("ann", "bob", "cy")}
    assert [(pair.written, pair.above) for pair in pairs(same, {"q1": STUB})] == [(1.0, 0.0)] * 3
    assert pairs({"ann": {"q1": ONE}}, {"q1": STUB}) == pairs({}, {"q1": STUB}) == []
    short = {name: {"q1": "x = 1"} for name in ("ann", "bob")}
    assert pairs(short, {"q1": STUB}) == []


def test_the_table_holds_the_first_pairs(tmp_path):
    found = [Pair(("ann", "b,ob"), "q1", 0.987, 1.0, 2.345, 40), Pair(("ann", "cy"), "q2", 0.5, 0.5, -0.1, 30)]
    similarity.write(found, tmp_path / "similar.csv", most=1)
    with open(tmp_path / "similar.csv", newline="", encoding="utf8") as file:
        assert list(csv.reader(file)) == [similarity.COLUMNS, ["ann", "b,ob", "q1", "0.99", "1.00", "+2.3", "40"]]
