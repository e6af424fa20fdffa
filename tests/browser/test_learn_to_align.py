"""LearnToAlign in the browser: in a thread of its own it learns what the lesson learns, pauses, and begins anew."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attnlib.course.figures.learn_to_align import MODELS, LearnToAlign
from tests.browser.conftest import Seen
from tests.course.figures.test_lesson import LESSON
from tests.node import run_in_node

SETTINGS = {"task": "reverse", "longest": 5, "width": 8, "rate": 0.01, "mask": True, "seed": 4}
#: A step of so small a model takes milliseconds; what is waited for is the thread's start on a busy machine.
PATIENCE = 60_000


class Learning(Seen):
    def __init__(self, mounted, **how):
        twin = LearnToAlign(models=["general", "none"], **SETTINGS)
        super().__init__(mounted(twin, **how), twin)
        self.waits()

    def waits(self):
        """Nothing is learned before somebody asks for it."""
        expect(self.sentence).to_contain_text("Nothing is learned yet: general (Luong) and no attention will learn to ")

    def wait_for(self, steps: int):
        expect(self.sentence).to_contain_text(f"After {steps} steps, ", timeout=PATIENCE)

    def shown(self) -> tuple[list[list[str]], list[str], list[list[float]]]:
        """Rows of the numbers, what the models write, and the weights of the first."""
        wrote = self.root.locator(".lr-wrote:visible").all_inner_texts()
        cells = self.root.locator(".lr-model-0 .attn-heat-cell").evaluate_all(
            "cells => cells.map((cell) => Number(cell.getAttribute('fill-opacity')))"
        )
        columns = self.root.locator(".lr-model-0 .attn-heat-drawing .attn-heat-name").count()
        weights = [cells[n : n + columns] for n in range(0, len(cells), columns)]
        return self.numbers(), [text.rstrip("✓✗ ") for text in wrote], weights


@pytest.fixture
def learning(mounted):
    return Learning(mounted)


def looks(steps: int, kind: dict, sentence=None, **changes) -> dict:
    """What the lesson says after so many steps, in node."""
    lesson = """(() => {
      const lesson = m.newLesson(argument.settings);
      for (let n = 0; n < argument.steps; n++) lesson.learn();
      return lesson.look();
    })()"""
    settings = SETTINGS | {"kind": kind, "sentence": sentence} | changes
    return run_in_node(LESSON, lesson, {"steps": steps, "settings": settings})


def test_the_page_learns_what_the_lesson_learns(learning):
    learning.button("10 steps").click()
    learning.wait_for(10)
    learning.button("1 step").click()
    learning.wait_for(11)
    attention, none = (looks(11, MODELS[name]) for name in ("general", "none"))
    rows, wrote, weights = learning.shown()
    mine = [row for row in rows if row[0] == "11"]
    assert mine == [
        ["11", "general (Luong)", f"{attention['right']:.2f}", f"{attention['error']:.2f}"],
        ["11", "no attention", f"{none['right']:.2f}", "none"],
    ]
    said = ["".join(look["written"]).removesuffix("end") for look in (attention, none)]
    assert wrote == [f"{''.join(attention['source'])} → {one}".strip() for one in said]
    assert [row for row in weights] == [pytest.approx(row, abs=0.0011) for row in attention["weights"]]
    learning.root.get_by_label("look back").press("Home")
    learning.wait_for(0)


def held_still(seen: Learning) -> str:
    """What is said once the models rest."""
    seen.page.wait_for_function(
        """() => {
          const now = document.querySelector(".attn-sentence").textContent;
          const same = now === window.before;
          window.before = now;
          return same;
        }""",
        polling=1_000,
        timeout=PATIENCE,
    )
    return seen.sentence.inner_text()


def starts(seen: Learning):
    expect(seen.root.locator(".lr-curves .lr-scale").nth(2)).not_to_have_text("20 steps", timeout=PATIENCE)


def test_it_trains_until_it_is_paused_and_begins_anew_with_another_task(learning):
    learning.button("▶ Train").click()
    starts(learning)
    learning.button("⏸ Pause").click()
    expect(learning.button("▶ Train")).to_be_visible()
    steps = int(held_still(learning).split()[1])
    assert steps > 0
    learning.button("1 step").click()
    learning.wait_for(steps + 1)
    learning.button("Reset").click()
    learning.waits()
    learning.button("1 step").click()
    learning.wait_for(1)
    learning.root.get_by_label("task").select_option("look up")
    learning.waits()
    assert {row[0] for row in learning.numbers()} == {"0"}


def test_what_is_set_is_what_it_learns_with(learning):
    learning.root.locator("summary").filter(has_text="Settings").click()
    learning.root.get_by_label("learning rate").press("ArrowRight")
    learning.root.get_by_label("mask padding").uncheck()
    learning.button("10 steps").click()
    learning.wait_for(10)
    *_, shown = learning.shown()
    unmasked, masked = (looks(10, MODELS["general"], rate=0.013, mask=mask)["weights"] for mask in (False, True))
    np.testing.assert_allclose(shown, unmasked, atol=0.0011)
    assert np.abs(np.subtract(shown, masked)).max() > 0.01
    learning.root.get_by_label("learning rate").press("ArrowLeft")  # and goes on
    learning.root.get_by_label("mask padding").check()
    learning.button("1 step").click()
    learning.wait_for(11)


def test_another_model_begins_anew(learning):
    learning.button("1 step").click()
    learning.wait_for(1)
    learning.root.get_by_label("beside").select_option("self-attention, no positions")
    expect(learning.sentence).to_contain_text("general (Luong) and self-attention, no positions will learn")


def test_a_hidden_page_pauses(learning):
    learning.button("▶ Train").click()
    starts(learning)
    learning.page.evaluate(
        """() => {
          Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    expect(learning.button("▶ Train")).to_be_visible()
    assert held_still(learning).startswith("After ")


def test_the_speed_can_be_chosen(learning):
    learning.root.get_by_label("speed").select_option("slow")
    learning.button("10 steps").click()
    learning.wait_for(10)
    assert [int(row[0]) for row in learning.numbers()[::2]] == [*range(11)]  # one after the other, and each is seen
    learning.root.get_by_label("speed").select_option("full")
    learning.button("10 steps").click()
    learning.wait_for(20)
    assert [int(row[0]) for row in learning.numbers()[::2]] == [*range(11), 20]


def test_a_question_lets_it_learn_what_it_asked(mounted):
    """The reader bets, then the models run, and the figure says who was first."""
    question = {"ask": "Who?", "answers": ["one", "other"], "right": 0, "because": "So.",
                "show": {"task": "copy", "models": ["dot"], "until": 3}}  # fmt: skip
    twin = LearnToAlign(models=["general", "none"], questions=[question], **SETTINGS)
    seen = Seen(mounted(twin), twin)
    seen.button("one").click()
    seen.button("Show me").click()
    expect(seen.sentence).to_contain_text("After 3 steps, dot (Luong) writes ", timeout=PATIENCE)


def test_a_sentence_of_ones_own_is_written(learning):
    own = learning.root.get_by_label("your own")
    own.fill("abc")
    expect(learning.root.locator(".lr-wrote").first).to_contain_text("abc → ", timeout=PATIENCE)
    own.fill("<b>")
    expect(learning.root.get_by_text("No sentence of this task: shown is one of its own.")).to_be_visible()
    expect(learning.root.locator(".lr-wrote").first).not_to_contain_text("<b>", timeout=PATIENCE)


def test_a_small_screen_gets_a_smaller_model_and_says_so(mounted):
    twin = LearnToAlign(models=["dot"], **SETTINGS | {"width": 32})
    seen = Seen(mounted(twin, width=375), twin)
    expect(seen.sentence).to_contain_text("A smaller model, for a small screen.", timeout=PATIENCE)
