"""LookBack in the browser: the page shows the weights and the next tokens of attnlib, whatever is typed."""

import re

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import LookBack
from attnlib.language_models import AttentionLM
from benchmarks.examples import characters, reader_weights

VOCABULARY = characters("Q?")
TEXT = "to be or not to be?Q"


class Look:
    """The figure, by what a reader sees of it, and the same state in Python."""

    def __init__(self, mounted, **how):
        weights = reader_weights(len(VOCABULARY), AttentionLM)
        self.python = LookBack(weights, VOCABULARY, TEXT, {"the text": TEXT, "another": "Q? or not"})
        self.visited = mounted(self.python, **how)
        self.page = self.visited.page
        self.root = self.page.locator(".attn-frame")
        self.text = self.root.get_by_label("text", exact=True)
        self.slider = self.root.get_by_role("slider", name="has read up to")
        self.sentence = self.root.locator(".attn-sentence")

    def assert_as_in_python(self, **state):
        """The page shows what Python computes for this state."""
        for name, value in state.items():
            setattr(self.python, name, value)
        python = self.python
        seen = "".join(self.root.locator(".lm-cell:visible .lm-letter").all_inner_texts())
        assert seen.replace("␣", " ").replace("⏎", "\n") == "".join(python.tokens)
        heights = self.root.locator(".lm-cell:visible:not(.lm-none) .lm-bar").evaluate_all(
            "bars => bars.map((bar) => parseFloat(bar.style.height) / 100)"
        )
        assert heights == pytest.approx(python.alpha, abs=0.0006)
        expect(self.root.locator(".lb-here:visible")).to_have_count(1)
        assert self.root.locator(".lb-unread:visible").count() == len(python.tokens) - 1 - python.place
        rows = [row.locator("th, td").all_inner_texts() for row in self.root.locator(".lm-next tbody tr").all()]
        order = sorted(range(len(VOCABULARY)), key=lambda token: -python.chances[token])[: len(rows)]
        names = [VOCABULARY[token].replace(" ", "␣").replace("\n", "⏎") for token in order]
        assert [name for name, _ in rows] == names
        for (_, shown), token in zip(rows, order, strict=True):
            assert float(re.search(r"\d+", shown)[0]) == pytest.approx(100 * python.chances[token], abs=0.51)


@pytest.fixture
def look(mounted):
    look = Look(mounted)
    yield look
    assert look.visited.errors == [] and look.visited.third_party == []


def test_it_begins_at_the_end_of_the_text(look):
    look.assert_as_in_python()
    alpha = look.python.alpha
    best = alpha.index(max(alpha))
    expect(look.sentence).to_contain_text(
        f"After “Q” (place 20) it looks most at “{TEXT[best].replace(' ', '␣')}” (place {best + 1}), {max(alpha):.2f}"
    )
    assert look.root.bounding_box()["height"] <= 640


def test_typing_leads_to_the_end(look):
    look.slider.press("Home")
    look.assert_as_in_python(position=0)
    expect(look.sentence).to_contain_text("there is nothing to look back at")
    look.text.press("End")
    look.page.keyboard.type(" or")
    look.assert_as_in_python(text=f"{TEXT} or", position=63)
    expect(look.text).to_be_focused()
    look.root.get_by_role("button", name="another").click()
    look.assert_as_in_python(text="Q? or not")
    expect(look.root.get_by_role("button", name="another")).to_have_attribute("aria-pressed", "true")


def test_a_place_is_chosen_by_key_by_mouse_and_by_finger(look, mounted):
    look.slider.press("ArrowLeft")
    look.assert_as_in_python(position=18)
    assert look.slider.get_attribute("aria-valuetext") == "19 of 20: “?”"
    look.root.locator(".lm-cell").nth(5).click()
    look.assert_as_in_python(position=5)
    small = Look(mounted, width=320, touch=True)
    small.root.locator(".lm-cell").nth(3).tap()
    small.assert_as_in_python(position=3)
    assert small.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_what_cannot_be_read_is_said(look):
    alert = look.root.get_by_role("alert")
    look.text.fill("")
    expect(alert).to_have_text("Type something.")
    expect(look.sentence).to_have_text("There is nothing to read yet.")
    look.text.fill("ÉÉ")
    expect(alert).to_have_text("“É” is unknown to the model and left out. Type something.")
    look.text.fill("<img src=x> constructor")
    look.assert_as_in_python(text="<img src=x> constructor", position=63)
    expect(alert).to_have_text("“<”, “=”, “>” are unknown to the model and left out.")
    look.text.fill("ab " * 30)
    look.assert_as_in_python(text="ab " * 30)
    expect(alert).to_have_text("Only the first 64 characters are read: 26 too many.")


def test_everything_follows_within_a_frame(look):
    """What is typed, and before the browser paints again, what is seen."""
    changed = look.text.evaluate("""async (field) => {
        const seen = () => field.closest(".attn-frame").querySelector(".attn-sentence").textContent;
        const before = seen();
        field.value = "not to be";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((painted) => requestAnimationFrame(painted));
        return seen() !== before;
    }""")
    assert changed
    look.assert_as_in_python(text="not to be")


def test_the_numbers_of_the_table(look):
    look.root.get_by_text("The numbers").click()
    rows = look.root.locator(".attn-numbers tbody tr")
    expect(rows).to_have_count(len(look.python.alpha))
    found = [row.locator("th, td").all_inner_texts() for row in rows.all()]
    assert [float(row[2]) for row in found] == pytest.approx(look.python.alpha, abs=6e-5)
    assert [row[1].replace("␣", " ") for row in found] == list(TEXT[:-1])
