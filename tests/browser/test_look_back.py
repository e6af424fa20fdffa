"""LookBack in the browser: the page shows the weights and the next tokens of attnlib, whatever is typed."""

import re

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import LookBack
from attnlib.language_models import AttentionLM
from benchmarks.examples import characters, reader_weights
from tests.browser.conftest import Seen

VOCABULARY = characters("Q?")
TEXT = "to be or not to be?Q"


class Look(Seen):
    def __init__(self, mounted, **how):
        weights = reader_weights(len(VOCABULARY), AttentionLM)
        twin = LookBack(weights, VOCABULARY, TEXT, {"the text": TEXT, "another": "Q? or not"})
        super().__init__(mounted(twin, **how), twin)
        self.text = self.root.get_by_label("text", exact=True)
        self.slider = self.root.get_by_role("slider", name="has read up to")

    def assert_as_in_python(self, **state):
        """The page shows what Python computes for this state."""
        self.set(state)
        tokens, alpha, chances, place = self.twin.tokens, self.twin.alpha, self.twin.chances, self.twin.place
        seen = "".join(self.root.locator(".lm-cell:visible .lm-letter").all_inner_texts())
        assert seen.replace("␣", " ").replace("⏎", "\n") == "".join(tokens)
        heights = self.root.locator(".lm-cell:visible:not(.lm-none) .lm-bar").evaluate_all(
            "bars => bars.map((bar) => parseFloat(bar.style.height) / 100)"
        )
        assert heights == pytest.approx(alpha, abs=0.0006)
        expect(self.root.locator(".lb-here:visible")).to_have_count(1)
        assert self.root.locator(".lb-unread:visible").count() == len(tokens) - 1 - place
        rows = [row.locator("th, td").all_inner_texts() for row in self.root.locator(".lm-next tbody tr").all()]
        order = sorted(range(len(VOCABULARY)), key=lambda token: -chances[token])[: len(rows)]
        names = [VOCABULARY[token].replace(" ", "␣").replace("\n", "⏎") for token in order]
        assert [name for name, _ in rows] == names
        for (_, shown), token in zip(rows, order, strict=True):
            assert float(re.search(r"\d+", shown)[0]) == pytest.approx(100 * chances[token], abs=0.51)


@pytest.fixture
def look(mounted):
    return Look(mounted)


def test_it_begins_at_the_end_of_the_text(look):
    look.assert_as_in_python()
    alpha = look.twin.alpha
    best = alpha.index(max(alpha))
    expect(look.sentence).to_contain_text(
        f"After “Q” (place 20) it looks most at “{TEXT[best].replace(' ', '␣')}” (place {best + 1}), {max(alpha):.2f}"
    )


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


def test_a_place_is_chosen_by_key_and_by_mouse(look):
    look.slider.press("ArrowLeft")
    look.assert_as_in_python(position=18)
    assert look.slider.get_attribute("aria-valuetext") == "19 of 20: “?”"
    look.root.locator(".lm-cell").nth(5).click()
    look.assert_as_in_python(position=5)


def test_what_cannot_be_read_is_said(look):
    alert = look.root.get_by_role("alert")
    look.text.fill("")
    expect(alert).to_have_text("Type something.")
    expect(look.sentence).to_have_text("There is nothing to read yet.")
    look.text.fill("<img src=x> constructor")
    look.assert_as_in_python(text="<img src=x> constructor", position=63)
    expect(alert).to_have_text("“<”, “=”, “>” are unknown to the model and left out.")


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
    assert [float(row[2]) for row in look.numbers()] == pytest.approx(look.twin.alpha, abs=6e-5)
    assert [row[1].replace("␣", " ") for row in look.numbers()] == list(TEXT[:-1])
