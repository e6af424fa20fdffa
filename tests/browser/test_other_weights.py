"""OtherWeights in a page: the buttons, the bars and the answer are those of attnlib, by mouse, keyboard and finger."""

import math

import pytest
import torch
from playwright.sync_api import expect

from attnlib.course.explanations import farthest_weights
from attnlib.course.figures import OtherWeights
from tests.browser import conftest

LONG = ["client", "seven", "has", "no", "group", ".", "unable", "to", "select", "source", "X", "."]
WORDS = [["a", "superb", "and", "witty", "film"], LONG, ["alone"]]


def figure(**changes) -> OtherWeights:
    generator = torch.Generator().manual_seed(5)
    weights = [(1.5 * torch.randn(len(words), generator=generator)).softmax(-1) for words in WORDS]
    votes = [4 * torch.randn(len(words), generator=generator) for words in WORDS]
    given = {
        "own": [torch.tensor([0.0, 1.0, 0.0, 0.0, 0.0]), *weights[1:]],
        "votes": [torch.tensor([0.0, 6.0, 0.0, 6.0, -1.0]), *votes[1:]],
        "answers": [("blame", "praise"), ("no error", "error"), ("blame", "praise")],
        "asked": ["", "room?", ""],
    }
    return OtherWeights(WORDS, **(given | changes))


class Shown(conftest.Seen):
    def __init__(self, visited):
        super().__init__(visited, figure())
        self.bars = self.root.locator(".ow-rows input")
        self.text = self.root.get_by_label("text")
        self.verdict = self.root.locator(".ow-verdict")

    def press(self, name: str):
        self.root.get_by_role("button", name=name, exact=True).click()

    def pressed(self) -> list[str]:
        return self.root.locator(".ow-looks [aria-pressed=true]").all_inner_texts()

    def weights(self) -> list[float]:
        return [float(number) for number in self.root.locator(".ow-share").all_inner_texts()]

    def assert_shows(self, **traits):
        """Numbers, bars and words are those of the figure in Python."""
        self.set(traits)
        python, votes = self.twin, self.twin.votes[self.twin.text]
        assert self.weights() == pytest.approx(python.weights, abs=0.0051)
        log_odds = float(self.root.locator("tfoot .ow-number").inner_text().replace("−", "-"))
        assert log_odds == pytest.approx(python.log_odds, abs=0.0051)
        assert self.root.locator(".ow-says").inner_text() == python.answer
        p, nats = self.root.locator(".ow-measure b").all_inner_texts()
        assert (float(p), float(nats.split()[0])) == pytest.approx((python.p, python.distance), abs=0.0051)
        # a bar is as long as its weight; of a vote as much is filled as it has weight, on its side of the middle
        share = "(bar) => bar.getBoundingClientRect().width / bar.parentElement.getBoundingClientRect().width"
        for fill, weight in zip(self.root.locator(".ow-fill").all(), python.weights, strict=True):
            assert fill.evaluate(share) == pytest.approx(weight, abs=0.01)
        for axis, vote, weight in zip(self.root.locator("tbody .ow-axis").all(), votes, python.weights, strict=True):
            for part, length in ((".ow-pale", vote), (".ow-full", weight * vote)):
                edges = axis.locator(part).evaluate(
                    """(bar) => {
                        const all = bar.parentElement.getBoundingClientRect();
                        const { left, right } = bar.getBoundingClientRect();
                        return [left, right].map((x) => 2 * (x - all.left) / all.width - 1);
                    }"""
                )
                wanted = length / max(map(abs, votes))
                assert edges == pytest.approx([min(0, wanted), max(0, wanted)], abs=0.01)


@pytest.fixture
def shown(mounted):
    return lambda **how: Shown(mounted(figure(), **how))


def test_each_button_gives_the_weights_that_attnlib_computes(shown):
    page = shown()
    for n, words in enumerate(WORDS):
        page.text.select_option(str(n))
        page.assert_shows(text=n, edits={})
        assert (page.pressed(), page.verdict.inner_text()) == (["The model's own"], "= its own answer")
        own, votes = (torch.tensor(of[n], dtype=torch.float64) for of in (page.twin.own, page.twin.votes))
        p = (own * votes).sum().sigmoid()
        farthest = farthest_weights(own, votes, *(torch.logit((p + d).clamp(0, 1)) for d in (-0.05, 0.05)))
        if n == 2:
            continue  # of one word there are no others
        for name, weights in {"Adversarial": farthest, "Even": [1] * len(words), "The model's own": own}.items():
            page.press(name)
            page.assert_shows(edits={n: weights})
            assert page.pressed() == [name]
            if name == "Adversarial":
                assert page.verdict.inner_text() == "= the answer stays"
                assert page.twin.distance > 0.4 or n == 1


def test_each_press_permutes_anew_and_in_the_same_order_in_every_page(shown):
    rows = []
    for _ in range(2):
        page = shown()
        page.text.select_option("1")
        rows.append([])
        for _ in range(3):
            page.press("Permuted")
            rows[-1].append(tuple(page.weights()))
            assert page.pressed() == ["Permuted"]
    assert rows[0] == rows[1]
    own = sorted(figure().own[1])
    assert len(set(rows[0])) == 3
    for row in rows[0]:
        assert sorted(row) == pytest.approx(own, abs=0.0051)
        assert row != pytest.approx(figure().own[1], abs=0.0051)
    page.text.select_option("2")  # one word: there is no other order, and no harm
    page.press("Permuted")
    assert page.weights() == [1.0]


def test_the_verdict_says_what_has_become_of_the_answer(shown):
    page = shown()
    page.bars.nth(3).fill("1")  # witty: the same vote
    assert page.verdict.inner_text() == "= the answer stays"
    expect(page.sentence).to_have_text(
        "Adversarial weights, 0.69 nats from its own: the model says praise, p of praise 1.00, was 1.00. "
        "The answer stays."
    )
    page.bars.nth(1).fill("0")
    page.bars.nth(3).fill("0.3")
    assert page.verdict.inner_text() == "≈ less or more sure"
    page.bars.nth(4).fill("1")
    assert page.verdict.inner_text() == "≠ another answer"
    assert page.root.locator(".ow-says").inner_text() == "blame"
    expect(page.sentence).to_contain_text("says blame, p of praise 0.27, was 1.00. Another answer.")
    page.bars.nth(0).fill("1")
    assert page.root.locator(".ow-says").inner_text() == "neither"


def test_a_bar_is_drawn_by_mouse_and_the_others_share_the_rest(shown):
    page = shown()
    page.text.select_option("1")
    box = page.bars.nth(2).bounding_box()
    y = box["y"] + box["height"] / 2
    page.page.mouse.move(box["x"] + 4, y)
    page.page.mouse.down()
    for share in (0.2, 0.5, 0.8):
        page.page.mouse.move(box["x"] + share * box["width"], y)
    page.page.mouse.up()
    assert page.weights()[2] == pytest.approx(0.8, abs=0.03)
    assert page.pressed() == []
    expect(page.sentence).to_contain_text("Your weights")
    rest = torch.tensor(page.twin.own[1])
    rest[2] = 0
    drawn = float(page.bars.nth(2).input_value())
    wanted = rest / rest.sum() * (1 - drawn)
    wanted[2] = drawn
    page.assert_shows(text=1, edits={1: wanted})


def test_the_rows_are_one_stop_of_tab_and_the_arrow_keys_go_and_draw(shown):
    page = shown()
    page.root.get_by_role("button", name="Even").focus()
    page.page.keyboard.press("Tab")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.page.evaluate(focused) == "weight of “a”, word 1 of 5, vote 0.00"
    page.page.keyboard.press("ArrowRight")
    assert page.weights()[:2] == [0.01, 0.99]
    scrolled = page.page.evaluate("scrollY")
    for key, word in (("ArrowDown", "superb"), ("ArrowUp", "a"), ("ArrowUp", "film"), ("ArrowDown", "a")):
        page.page.keyboard.press(key)
        assert f"“{word}”" in page.page.evaluate(focused)
    assert page.page.evaluate("scrollY") == scrolled
    page.page.keyboard.press("End")
    assert page.weights() == [1, 0, 0, 0, 0]
    assert page.bars.first.get_attribute("aria-valuetext") == "1.00"
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Tab")  # to the numbers, not to the next word
    assert page.page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.page.keyboard.press("Shift+Tab")
    assert "“superb”" in page.page.evaluate(focused)


def test_a_text_keeps_what_was_done_to_it_and_the_question_gets_no_weight(shown):
    page = shown()
    page.press("Even")
    page.text.select_option("1")
    assert page.root.locator("tbody tr").first.inner_text().split() == ["room?", "asks,", "and", "gets", "no", "weight"]
    assert page.bars.count() == len(LONG)
    assert page.root.locator(".ow-sides").inner_text().split("\n") == ["← no error", "error →"]
    page.text.select_option("0")
    assert page.pressed() == ["Even"]
    assert page.root.locator("tbody tr").count() == 5


def test_the_table_has_all_numbers(shown):
    page = shown()
    page.press("Even")
    rows = page.numbers()
    assert len(rows) == 6
    assert rows[1] == ["superb", "0.200", "1.000", "6.000", "1.200"]
    assert rows[-1] == ["all together", "1.000", "1.000", "–", "z = 2.200"]


def test_where_the_answer_stays_is_dashed(shown):
    page = shown()
    low = 1 / (1 + math.exp(-6)) - 0.05
    at = 50 + 50 * math.log(low / (1 - low)) / 6  # on the axis of log-odds, from -6 to 6
    for place, left in ((".ow-gauge", 100 * low), ("tfoot", at)):
        style = page.root.locator(f"{place} .ow-same").evaluate("e => [e.style.left, e.style.width].map(parseFloat)")
        assert style == pytest.approx([left, 100 - left], abs=1e-3)
