"""FadingTrace in the browser: the page shows the trace that attnlib finds, by mouse, keyboard and finger."""

import math
import re

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import FadingTrace
from benchmarks.examples import characters, reader_weights
from tests.browser.conftest import Seen

VOCABULARY = characters("Q")
TEXT = "the Queen is ill and so the doctor came to see h"


class Trace(Seen):
    def __init__(self, mounted, **how):
        weights = reader_weights(len(VOCABULARY), spread=0.2)
        twin = FadingTrace(weights, VOCABULARY, TEXT, word=1, becomes="king")
        super().__init__(mounted(twin, **how), twin)
        self.text, self.becomes = (self.root.get_by_label(name, exact=True) for name in ("text", "becomes"))
        self.slider = self.root.get_by_label("word", exact=True)

    def bars(self) -> list[float]:
        """The bars that are seen, as shares of their room."""
        return self.root.locator(".lm-cell:visible:not(.lm-none) .lm-bar").evaluate_all(
            "bars => bars.map((bar) => parseFloat(bar.style.height) / 100)"
        )

    def letters(self, kind: str = "lm-cell") -> str:
        return "".join(self.root.locator(f".{kind}:visible .lm-letter").all_inner_texts()).replace("␣", " ")

    def assert_as_in_python(self, **state):
        """The page shows what Python computes for this state."""
        self.set(state)
        tokens, shares, (start, end) = self.twin.tokens, self.twin.shares, self.twin.place
        assert self.letters() == "".join(tokens)
        assert self.letters("lm-word") == "".join(tokens[start:end])
        assert self.bars() == pytest.approx(shares, abs=0.0006)
        gone = len(shares) if self.twin.left_after is None else self.twin.left_after
        little = sum(share < 0.1 for share in shares[1:])
        assert self.root.locator(".lm-little:visible").count() == little >= len(shares) - max(gone, 1)
        for row in self.root.locator(".lm-next tbody tr:visible").all():
            name, *shown = row.locator("th, td").all_inner_texts()
            token = VOCABULARY.index({"␣": " ", "⏎": "\n"}.get(name, name))
            for percent, chances in zip(shown, self.twin.chances, strict=True):
                assert float(re.search(r"\d+", percent)[0]) == pytest.approx(100 * chances[token], abs=0.51)
        places = range(end - 1, len(tokens))
        found = [(int(place) - 1, token.replace("␣", " "), int(n)) for place, token, n, _ in self.numbers()]
        assert found == [(place, tokens[place], n) for n, place in enumerate(places)]
        assert [float(row[3]) for row in self.numbers()] == pytest.approx(shares, abs=1e-6)


@pytest.fixture
def trace(mounted):
    return Trace(mounted)


def test_it_begins_with_what_attnlib_finds(trace):
    trace.assert_as_in_python()
    n = trace.twin.left_after
    assert n >= 2  # or the sentence would not be that of several
    expect(trace.sentence).to_contain_text(f"Less than 10 % of what “Queen” made different is left {n} characters")
    expect(trace.root.locator(".lm-next thead")).to_contain_text("with “king”")


def test_text_and_word_are_typed(trace):
    trace.becomes.fill("doctor")
    trace.assert_as_in_python(becomes="doctor")
    trace.text.fill("the king of all the land is here")
    trace.assert_as_in_python(text="the king of all the land is here")
    trace.becomes.fill("")
    trace.assert_as_in_python(becomes="")
    expect(trace.root.locator(".lm-next thead")).to_contain_text("without it")
    trace.becomes.fill("king")
    expect(trace.sentence).to_have_text("“king” becomes itself: type another word.")
    trace.text.fill("so the king")
    trace.slider.press("End")
    trace.becomes.fill("queen")
    trace.assert_as_in_python(text="so the king", becomes="queen", word=2)
    expect(trace.sentence).to_contain_text("At the end of the text 100 % of what “king” made different is left")
    moved = float(re.search(r"moved by (\d+\.\d)", trace.sentence.inner_text())[1])
    assert moved == pytest.approx(100 * trace.twin.moved, abs=0.06) and moved > 0.1


def test_a_word_is_chosen_by_key_and_by_mouse(trace):
    trace.slider.press("ArrowRight")
    trace.assert_as_in_python(word=2)
    assert trace.slider.get_attribute("aria-valuetext") == "3 of 12: “is”"
    trace.root.locator(".lm-cell").nth(TEXT.index("doctor") + 2).click()
    trace.assert_as_in_python(word=7)
    trace.root.locator(".lm-cell").nth(TEXT.index("doctor") - 1).click()  # a blank is of no word
    trace.assert_as_in_python()


def test_logarithmic_bars(trace):
    trace.root.get_by_label("logarithmic bars").check()
    wanted = [max(0, 1 + math.log10(share) / 6) for share in trace.twin.shares]
    assert trace.bars() == pytest.approx(wanted, abs=0.0006)
    line = "e => parseFloat(getComputedStyle(e).getPropertyValue('--lm-line'))"
    assert trace.root.locator(".lm-letters").evaluate(line) == pytest.approx(100 * 5 / 6, abs=0.01)


def test_what_cannot_be_read_is_said(trace):
    alerts = trace.root.get_by_role("alert")
    for text in ("", "  ", "É"):
        trace.text.fill(text)
        expect(alerts.first).to_contain_text("Type at least one word.")
        expect(trace.sentence).to_have_text("There is nothing to read yet.")
    trace.text.fill("café <b>x</b>")
    trace.assert_as_in_python(text="café <b>x</b>")
    expect(alerts.first).to_have_text("“é”, “<”, “>”, “/” are unknown to the model and left out.")
    trace.text.fill("ab " * 40)
    trace.assert_as_in_python(text="ab " * 40)
    expect(alerts.first).to_have_text("Only the first 96 characters are read: 24 too many.")
    trace.becomes.fill("KING")
    expect(alerts.last).to_contain_text("“K”, “I”, “N”, “G” are unknown")
