"""CopyGate in the browser: what the page writes is what attnlib writes, by mouse, keyboard and finger."""

import re

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import CopyGate
from benchmarks.examples import stored_figures
from tests.browser.conftest import Seen

EXAMPLES = {
    "two new names": "send the umbrella to Ottilie and a copy to Bartek",
    "three words": "my name is Ottilie Clara Schwarz",
}


class Gate(Seen):
    def __init__(self, mounted, **how):
        trained = (stored_figures("10", "CopyGate")[0][name] for name in ("weights", "vocabulary", "unknown"))
        twin = CopyGate(*trained, EXAMPLES["two new names"], EXAMPLES)
        super().__init__(mounted(twin, **how), twin)
        self.text = self.root.get_by_label("request")
        self.slider = self.root.locator("input[type=range]")
        self.everywhere = self.root.get_by_label("at every word")
        self.own = self.button("the model’s own")
        self.words = self.root.get_by_role("slider", name="words of the answer")

    def chips(self) -> list[list[str]]:
        """Word, said or copied, p_gen: of every word that is shown."""
        return [chip.inner_text().split() for chip in self.root.locator(".cg-chip:visible").all()]

    def bars(self, which: int) -> list[list[str]]:
        lines = self.root.locator(".cg-distribution").nth(which).locator("li:not(.cg-empty)").all()
        return [line.inner_text().split() for line in lines]

    def assert_as_in_python(self, **state):
        """Answer and table are those that Python computes for this state."""
        self.set(state)
        output, gates, shares = self.twin.output, self.twin.gates, self.twin.shares
        chips, rows = self.chips(), self.numbers()
        assert [chip[:2] for chip in chips] == [
            [word, "said" if share >= 0.5 else "copied"] for word, share in zip(output, shares, strict=True)
        ]
        assert [float(chip[2]) for chip in chips] == pytest.approx(gates, abs=0.0051)
        assert [row[0] for row in rows] == output
        assert [float(row[2]) for row in rows] == pytest.approx(gates, abs=0.0006)
        assert [float(row[5]) for row in rows] == pytest.approx(shares, abs=0.0006)


@pytest.fixture
def gate(mounted) -> Gate:
    return Gate(mounted)


def test_it_begins_with_the_models_own_answer(gate):
    gate.assert_as_in_python()
    assert gate.root.locator(".cg-new").all_inner_texts() == ["Ottilie\n<unk>", "Bartek\n<unk>"]
    expect(gate.sentence).to_contain_text("2 words are not in its vocabulary")
    assert gate.own.is_hidden()
    say, copied, both = gate.bars(0), gate.bars(1), gate.bars(2)
    assert copied[0][0] == both[0][0] == gate.twin.output[0] == "Ottilie"
    assert say[0][0] != "Ottilie"
    assert float(copied[0][1]) == pytest.approx(gate.twin.copy_weights[0][4], abs=0.006)


def test_a_name_nobody_has_seen_is_copied_as_it_is_typed(gate):
    gate.text.fill("call Xiphoteuthis on monday")
    gate.assert_as_in_python(text="call Xiphoteuthis on monday")
    assert ["Xiphoteuthis", "copied"] in [chip[:2] for chip in gate.chips()]
    gate.text.press("End")
    gate.page.keyboard.type(" constructor")  # to JavaScript, a word that every object knows
    gate.assert_as_in_python(text="call Xiphoteuthis on monday constructor")
    assert gate.root.locator(".cg-new").count() == 2
    expect(gate.text).to_be_focused()


def test_nothing_and_too_much_are_answered_in_words(gate):
    alert = gate.root.get_by_role("alert")
    for text, answer in [("", "at least one word"), ("   ", "at least one word"), ("a " * 33, "33 words.*at most 32")]:
        gate.text.fill(text)
        expect(alert).to_have_text(re.compile(answer))
        assert gate.chips() == []
        assert gate.text.get_attribute("aria-invalid") == "true"
    gate.text.fill("a " * 32)
    expect(alert).to_be_empty()
    gate.assert_as_in_python(text="a " * 32)


def test_the_gate_of_one_word(gate):
    before = gate.chips()
    gate.slider.focus()
    gate.page.keyboard.press("End")
    gate.assert_as_in_python(p_gen=1.0, step=0)
    after = gate.chips()
    assert after[0][0] != before[0][0]
    assert after[0][1:] == ["said", "1.00"]
    assert gate.bars(2)[0][0] == gate.bars(0)[0][0] == after[0][0]
    assert gate.slider.get_attribute("aria-valuetext") == "1.00"
    expect(gate.root.get_by_text("left alone")).to_contain_text(" ".join(chip[0] for chip in before[:-1]))
    gate.own.click()
    gate.assert_as_in_python(p_gen=None)
    assert gate.chips() == before
    expect(gate.slider).to_be_focused()  # not lost with the button


def test_the_mixture_is_the_sum_of_its_parts(gate):
    gate.slider.fill("0.4")
    gate.assert_as_in_python(p_gen=0.4)
    said, copied = (dict(gate.bars(k)) for k in (0, 1))
    for word, together in gate.bars(2):
        parts = 0.4 * float(said.get(word, 0)) + 0.6 * float(copied.get(word, 0))
        assert float(together) == pytest.approx(parts, abs=0.011), word


def test_the_gate_of_every_word(gate):
    gate.everywhere.check()
    gate.slider.fill("1")
    gate.assert_as_in_python(p_gen=1.0, everywhere=True)
    assert {how for _, how, _ in gate.chips()} == {"said"}
    expect(gate.sentence).to_contain_text("loses “Ottilie”, “Bartek”")
    gate.slider.fill("0")
    gate.assert_as_in_python(p_gen=0.0)
    assert len(gate.chips()) == 25
    expect(gate.sentence).to_contain_text("does not end")
    gate.text.fill(EXAMPLES["three words"])  # typing leaves what is held at every word
    gate.assert_as_in_python(text=EXAMPLES["three words"])
    gate.root.get_by_label("or", exact=True).select_option("two new names")  # an example begins anew
    gate.assert_as_in_python(text=EXAMPLES["two new names"], p_gen=None, everywhere=False)


def test_a_word_is_chosen_by_key_and_by_mouse(gate):
    gate.words.focus()
    strokes = {"ArrowRight": 1, "ArrowDown": 2, "ArrowLeft": 1, "End": 9, "ArrowUp": 8, "Home": 0}
    for stroke, step in strokes.items():
        gate.page.keyboard.press(stroke)
        assert gate.words.get_attribute("aria-valuenow") == str(step + 1), stroke
    gate.root.locator(".cg-chip").nth(5).click()
    word = gate.twin.output[5]
    expect(gate.root.locator(".cg-step")).to_contain_text(f"Word 6, “{word}”: ")
    assert gate.words.get_attribute("aria-valuetext").startswith(f"6 of 10: “{word}”, copied, p_gen 0.")
    grid = gate.root.locator(".attn-heat")
    assert f"“{word}” looks most at “Bartek”" in grid.get_attribute("aria-valuetext")
    gate.slider.fill("1")
    gate.assert_as_in_python(step=5, p_gen=1.0)
    grid.focus()
    gate.page.keyboard.press("ArrowUp")  # another word: its own gate again
    gate.assert_as_in_python(step=4, p_gen=None)
    expect(gate.root.locator(".cg-step")).to_contain_text("Word 5")


def test_a_finger_chooses_and_moves(mounted):
    gate = Gate(mounted, width=375, touch=True)
    gate.root.locator(".cg-chip").nth(3).tap()
    expect(gate.root.locator(".cg-step")).to_contain_text("Word 4")
    box = gate.slider.bounding_box()
    gate.page.touchscreen.tap(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    gate.assert_as_in_python(step=3, p_gen=float(gate.slider.input_value()))
    assert float(gate.slider.input_value()) > 0.9
    top = gate.slider.bounding_box()["y"]
    gate.everywhere.tap()
    gate.slider.fill("0")  # an answer of 25 words
    assert gate.slider.bounding_box()["y"] == top, "the slider must stay under the finger"
