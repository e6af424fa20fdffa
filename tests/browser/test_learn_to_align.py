"""LearnToAlign in the browser: in a thread of its own it learns what the lesson learns, pauses, and begins anew."""

import pytest
from playwright.sync_api import expect

from attnlib.course.figures.learn_to_align import LearnToAlign
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
        self.wait_for(0)

    def wait_for(self, steps: int):
        expect(self.sentence).to_contain_text(f"After {steps} steps, ", timeout=PATIENCE)

    def shown(self) -> tuple[list[list[str]], list[str], list[list[float]]]:
        """Rows of the numbers, what the models write, and the weights of the first."""
        wrote = self.root.locator(".lr-wrote:visible").all_inner_texts()
        cells = self.root.locator(".lr-model-0 .attn-heat-cell").evaluate_all(
            "cells => cells.map((cell) => Number(cell.getAttribute('fill-opacity')))"
        )
        columns = self.root.locator(".lr-model-0 .attn-heat-drawing .attn-heat-name").count()
        return self.numbers(), wrote, [cells[n : n + columns] for n in range(0, len(cells), columns)]


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
    attention, none = (looks(11, kind) for kind in (
        {"decoder": "luong", "score": "general"}, {"decoder": "initial_state", "score": None},
    ))  # fmt: skip
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


def test_it_trains_until_it_is_paused_and_begins_anew_with_another_task(learning):
    learning.button("▶ Train").click()
    expect(learning.root.locator(".lr-curves .lr-scale").nth(2)).not_to_have_text("20 steps", timeout=PATIENCE)
    learning.button("⏸ Pause").click()
    expect(learning.button("▶ Train")).to_be_visible()
    learning.page.wait_for_function(
        """() => {
          const now = document.querySelector(".attn-sentence").textContent;
          const same = now === window.before;
          window.before = now;
          return same;
        }""",
        polling=1_000,
        timeout=PATIENCE,
    )
    assert not learning.sentence.inner_text().startswith("After 0 steps")
    learning.root.get_by_label("task").select_option("look up")
    learning.wait_for(0)
    assert {row[0] for row in learning.numbers()} == {"0"}


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
