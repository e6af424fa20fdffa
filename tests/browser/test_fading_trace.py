"""FadingTrace in the browser: the page shows the trace that attnlib finds, by mouse, keyboard and finger."""

import math
import re

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import FadingTrace
from benchmarks.examples import characters, reader_weights

VOCABULARY = characters("Q")
TEXT = "the Queen is ill and so the doctor came to see h"


class Trace:
    """The figure, by what a reader sees of it, and the same state in Python."""

    def __init__(self, mounted, **how):
        weights = reader_weights(len(VOCABULARY), spread=0.2)
        self.python = FadingTrace(weights, VOCABULARY, TEXT, word=1, becomes="king")
        self.visited = mounted(self.python, **how)
        self.page = self.visited.page
        self.root = self.page.locator(".attn-frame")
        self.text, self.becomes = (self.root.get_by_label(name, exact=True) for name in ("text", "becomes"))
        self.slider = self.root.get_by_label("word", exact=True)
        self.sentence = self.root.locator(".attn-sentence")

    def bars(self) -> list[float]:
        """The bars that are seen, as shares of their room."""
        return self.root.locator(".lm-cell:visible:not(.lm-none) .lm-bar").evaluate_all(
            "bars => bars.map((bar) => parseFloat(bar.style.height) / 100)"
        )

    def letters(self, kind: str = "lm-cell") -> str:
        return "".join(self.root.locator(f".{kind}:visible .lm-letter").all_inner_texts()).replace("␣", " ")

    def assert_as_in_python(self, **state):
        """The page shows what Python computes for this state."""
        for name, value in state.items():
            setattr(self.python, name, value)
        python = self.python
        assert self.letters() == "".join(python.tokens)
        assert self.letters("lm-word") == "".join(python.tokens[slice(*python.place)])
        assert self.bars() == pytest.approx(python.shares, abs=0.0006)
        gone = len(python.shares) if python.left_after is None else python.left_after
        little = sum(share < 0.1 for share in python.shares[1:])
        assert self.root.locator(".lm-little:visible").count() == little >= len(python.shares) - max(gone, 1)
        for row in self.root.locator(".lm-next tbody tr:visible").all():
            name, *shown = row.locator("th, td").all_inner_texts()
            token = VOCABULARY.index({"␣": " ", "⏎": "\n"}.get(name, name))
            for percent, chances in zip(shown, python.chances, strict=True):
                assert float(re.search(r"\d+", percent)[0]) == pytest.approx(100 * chances[token], abs=0.51)


@pytest.fixture
def trace(mounted):
    trace = Trace(mounted)
    yield trace
    assert trace.visited.errors == [] and trace.visited.third_party == []


def test_it_begins_with_what_attnlib_finds(trace):
    trace.assert_as_in_python()
    n = trace.python.left_after
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
    assert moved == pytest.approx(100 * trace.python.moved, abs=0.06) and moved > 0.1


def test_a_word_is_chosen_by_key_by_mouse_and_by_finger(trace, mounted):
    trace.slider.focus()
    trace.page.keyboard.press("ArrowRight")
    trace.assert_as_in_python(word=2)
    assert trace.slider.get_attribute("aria-valuetext") == "3 of 12: “is”"
    trace.root.locator(".lm-cell").nth(TEXT.index("doctor") + 2).click()
    trace.assert_as_in_python(word=7)
    trace.root.locator(".lm-cell").nth(TEXT.index("doctor") - 1).click()  # a blank is of no word
    trace.assert_as_in_python()
    small = Trace(mounted, width=320, touch=True)
    small.root.locator(".lm-cell").nth(0).tap()
    small.assert_as_in_python(word=0)
    assert small.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_logarithmic_bars(trace):
    trace.root.get_by_label("logarithmic bars").check()
    wanted = [max(0, 1 + math.log10(share) / 6) for share in trace.python.shares]
    assert trace.bars() == pytest.approx(wanted, abs=0.0006)
    line = trace.root.locator(".lm-letters").evaluate(
        "e => parseFloat(getComputedStyle(e).getPropertyValue('--lm-line'))"
    )
    assert line == pytest.approx(100 * 5 / 6, abs=0.01)


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


def test_the_numbers_of_the_table(trace):
    trace.root.get_by_text("The numbers").click()
    rows = trace.root.locator(".attn-numbers tbody tr")
    expect(rows).to_have_count(len(trace.python.shares))
    found = [row.locator("th, td").all_inner_texts() for row in rows.all()]
    assert [float(row[3]) for row in found] == pytest.approx(trace.python.shares, abs=1e-6)
    assert [int(row[2]) for row in found] == list(range(len(found)))
    assert [TEXT[int(row[0]) - 1] for row in found] == [row[1].replace("␣", " ") for row in found]


def test_all_of_it_is_in_one_view(trace):
    assert trace.root.bounding_box()["height"] <= 640
