"""MaskedSoftmaxLab on a static page: mouse, keyboard and finger move it, and it shows what attnlib computes."""

import re

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import MaskedSoftmaxLab
from tests.browser.conftest import Seen

SCORES = [[-0.5, 2.0, 1.2, -0.8, 1.0, 2.4], [1.0, 0.4, 2.0, 0.0, 0.0, 0.0], [0.0] * 6]
WORDS = [["The", "poor", "have", "no", "money", "either"], ["They", "have", "none"], []]


class Lab(Seen):
    def __init__(self, mounted, twin: MaskedSoftmaxLab | None = None, **how):
        twin = twin or MaskedSoftmaxLab(SCORES, words=WORDS)
        super().__init__(mounted(twin, **how), twin)
        self.rows = self.root.get_by_role("slider", name="row whose steps")
        self.failures = self.root.locator(".ms-shows button")

    def cells(self) -> list[list[str]]:
        return [row.locator(".ms-weight").all_inner_texts() for row in self.root.locator(".ms-row").all()]

    def column(self, name: str) -> list[str]:
        return self.root.locator(f"tbody td.ms-{name}").all_inner_texts()

    def badges(self) -> list[str]:
        return self.root.locator(".ms-badge").all_inner_texts()

    def assert_is(self, **traits):
        """The page shows what Python computes in this state."""
        self.set(traits)
        wanted = [[f"{weight:.2f}".replace("nan", "NaN") for weight in row] for row in self.twin.weights]
        assert self.cells() == wanted
        assert self.badges() == self.twin.verdicts
        expect(self.rows).to_have_attribute("aria-valuenow", str(self.twin.row + 1))


@pytest.fixture
def lab(mounted):
    return Lab(mounted)


def test_it_begins_with_a_leak(lab):
    lab.assert_is()
    assert lab.badges() == ["ok", "ok", "leaks 1.00"]
    assert lab.column("into") == ["−1e9"] * 6
    expect(lab.sentence).to_have_text(re.compile("1.00 of the attention is on padding. 2 of 3 rows are right."))
    expect(lab.root.locator(".ms-word").first).to_have_text("The")
    assert lab.root.locator(".ms-cell.ms-hidden").count() == 9


def test_every_failure_can_be_called_up_and_attnlib_mends_it(lab, mounted):
    seen = {}
    for control in lab.failures.all():
        control.click()
        expect(control).to_have_attribute("aria-pressed", "true")
        assert lab.root.locator("[aria-pressed=true]").count() == 1
        bad = lab.root.locator(".ms-open .ms-badge").inner_text()
        assert bad != "ok"
        seen[control.inner_text()] = (bad, lab.sentence.inner_text())
        lab.root.get_by_label("hide padding").select_option("ours")
        assert lab.badges() == ["ok"] * 3
        expect(lab.root.get_by_label("subtract the largest first")).to_be_hidden()
    assert len(set(seen.values())) == len(seen) == 6
    lab.button("Reset").click()
    lab.assert_is()
    small = Lab(mounted, MaskedSoftmaxLab([[2.0]]))  # one row of one place: still something that can be set
    for control in small.failures.all():
        control.click()


def test_steps_flow_from_left_to_right(lab):
    lab.button("blank row, −∞").click()
    assert lab.column("into") == ["−∞"] * 6
    assert lab.column("shifted") == lab.column("exp") == ["NaN"] * 6
    lab.assert_is(fill="-inf")
    lab.button("no maximum").click()
    assert lab.column("e") == ["101", "100.4", "102", "100", "100", "100"]
    assert lab.column("exp") == ["∞"] * 3 + ["0"] * 3
    expect(lab.root.locator("thead .ms-shifted")).to_be_hidden()
    lab.assert_is(fill="-inf", row=1, offset=100.0, shift=False)
    lab.root.get_by_label("subtract the largest first").check()
    expect(lab.root.locator("thead .ms-shifted")).to_have_text("− 102")
    lab.assert_is(shift=True)


def test_menus_and_sliders(lab):
    for fill in ("-1e4", "after", "after, shared", "both, shared", "ours", "-inf"):
        lab.root.get_by_label("hide padding").select_option(fill)
        lab.assert_is(fill=fill)
    for precision in ("float64", "float16", "bfloat16"):
        lab.root.get_by_label("precision").select_option(precision)
        lab.assert_is(precision=precision)
    length = lab.root.get_by_label("valid length")
    length.focus()
    for n in (1, 2):
        lab.page.keyboard.press("ArrowRight")
        lab.assert_is(lengths=[6, 3, n])
        assert length.get_attribute("aria-valuetext") == f"{n} of 6"
    lab.root.get_by_label("scores times").press("End")
    lab.assert_is(scale=1e4)
    lab.root.get_by_label("scores times").press("Home")
    plus = lab.root.get_by_label("plus")
    plus.press("Home")
    lab.assert_is(scale=1.0, offset=-1e9)
    assert plus.get_attribute("aria-valuetext") == "−1e9"
    for _ in range(2):
        plus.press("ArrowRight")
    lab.assert_is(offset=-1e4)


def test_rows_open_by_mouse_and_by_keys(lab):
    lab.root.locator(".ms-row").first.click()
    lab.assert_is(row=0)
    assert lab.root.locator("tbody .ms-place bdi").all_inner_texts() == WORDS[0]
    scrolled = lab.page.evaluate("scrollY")
    lab.rows.focus()
    for key, row in (("ArrowUp", 0), ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowDown", 2), ("Home", 0), ("End", 2)):
        lab.page.keyboard.press(key)
        lab.assert_is(row=row)
    assert lab.rows.get_attribute("aria-valuetext") == "row 3, 0 of 6 visible: leaks 1.00"
    assert lab.page.evaluate("scrollY") == scrolled


def test_a_score_follows_keys_and_mouse(lab):
    lab.root.locator(".ms-row").nth(1).click()
    score = lab.root.get_by_label("none, score of place 3")
    score.focus()
    for _ in range(5):
        lab.page.keyboard.press("ArrowLeft")
    scores = [list(row) for row in SCORES]
    scores[1][2] = 1.5
    lab.assert_is(row=1, scores=scores)
    hidden = lab.root.get_by_label("‹pad›, score of place 4, hidden")
    before = lab.cells()
    box = hidden.bounding_box()
    lab.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    assert hidden.input_value() == "6"
    assert lab.cells() == before, "a hidden score has changed a weight"
    scores[1][3] = 6.0
    lab.root.get_by_label("hide padding").select_option("after")
    lab.assert_is(fill="after", scores=scores)
    goal, bar = (lab.root.locator(f"tbody tr:nth-child(3) .ms-{part}").bounding_box() for part in ("goal", "bar"))
    right = 0.51  # e^1.5 / (e^1 + e^0.4 + e^1.5)
    assert (goal["x"] + 1 - bar["x"]) / bar["width"] == pytest.approx(right, abs=0.02)


def test_where_rows_scroll_the_open_one_is_brought_into_view(mounted):
    many = MaskedSoftmaxLab([[0.1 * j for j in range(32)]] * 32, lengths=range(32), fill="-inf")
    lab = Lab(mounted, many)
    assert lab.badges() == many.verdicts
    rows = lab.rows.element_handle()
    at_end = "rows => rows.scrollTop > 0 && rows.scrollTop + rows.clientHeight >= rows.scrollHeight - 8"
    lab.page.wait_for_function(at_end, arg=rows)  # the open row is the last
    for key, place in {"Home": "rows => rows.scrollTop === 0", "End": at_end}.items():
        lab.rows.press(key)
        lab.page.wait_for_function(place, arg=rows)


def test_the_table_of_numbers(lab):
    first, *_ = lab.numbers()
    table = lab.root.locator(".attn-numbers")
    expect(table.locator("caption")).to_have_text("Row 3: leaks 1.00")
    expect(table.locator("tbody tr").first).to_have_text("1: ‹pad›no00−1e901.000.170.170")
    assert table.locator("thead th").count() == len(first) == 10


SHADES = """row => {
    const shade = (colour) => Number(colour.match(/\\/ ([\\d.]+)\\)/)?.[1] ?? 1);
    const cells = [...row.querySelectorAll(".ms-cell")];
    if (cells.length) return cells.map((cell) => shade(getComputedStyle(cell).backgroundColor));
    return getComputedStyle(row.querySelector(".ms-cells")).backgroundImage.match(/color\\([^)]*\\)/g)
        .filter((_, n) => n % 2 === 0).map(shade); // each has a beginning and an end
}"""


@pytest.mark.parametrize("S", [6, 12])
def test_a_cell_is_as_dark_as_its_weight(S, mounted):
    scores = [[0.4 * j for j in range(S)], [1.5] + [0.0] * (S - 1)]
    lab = Lab(mounted, MaskedSoftmaxLab(scores, words=[["w"] * S] * 2, lengths=[S, S]))
    rows = lab.root.locator(".ms-row")
    for b in (0, 1):
        assert rows.nth(b).evaluate(SHADES) == pytest.approx(lab.twin.weights[b], abs=0.006)
    lab.root.get_by_label("scores times").fill("3")
    lab.twin.scale = 10.0
    assert rows.first.evaluate(SHADES) == pytest.approx(lab.twin.weights[0], abs=0.006)


def test_many_narrow_cells_show_what_is_hidden_and_what_is_no_number(mounted):
    scores = [[0.1 * j for j in range(12)]] * 2
    lab = Lab(mounted, MaskedSoftmaxLab(scores, words=[["w"] * 12] * 2, lengths=[12, 3], fill="-inf"))
    strips = lab.root.locator(".ms-cells")
    width, left = strips.nth(1).evaluate("e => [e.clientWidth, e.querySelector('.ms-veil').offsetLeft]")
    assert left == pytest.approx(width * 3 / 12, abs=1.5)
    assert strips.nth(0).evaluate("e => e.querySelector('.ms-veil').offsetLeft >= e.clientWidth")
    lab.button("blank row, −∞").click()  # the last row: 0 / 0
    black = strips.nth(1).evaluate("e => getComputedStyle(e).backgroundImage")
    assert "rgb(0, 0, 0) 0%" in black and "/ " not in black
