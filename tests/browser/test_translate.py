"""Translate in the browser: it is loaded once, translates what is typed, and says in words what it cannot do."""

import json
import re
import shutil

import pytest
from playwright.sync_api import expect

from attnlib.course.figures import Translate
from attnlib.course.figures.translator_file import AFTER, BEFORE
from benchmarks.examples import page_of, stand_in
from tests.browser.conftest import Seen, stop_clock, swipe

TEXT = "Turn on the light"


class Translating(Seen):
    def __init__(self, visited, twin: Translate):
        expect(visited.page.locator("[data-live=true] .attn-sentence").first).to_be_visible()  # it has come
        super().__init__(visited, twin)
        self.text = self.root.get_by_label("English", exact=True)
        self.search = self.root.get_by_label("search", exact=True)
        self.bars = self.root.locator(".as-bar")
        self.grid = self.root.locator(".attn-heat")

    def assert_is(self, **traits):
        """The page shows what the twin computes in Python, once it is given the same."""
        self.set(traits)
        rows = self.numbers()
        assert [row[2] for row in rows] == self.twin.written
        assert [[float(cell) for cell in row[4:]] for row in rows] == [
            pytest.approx(row, abs=0.00051) for row in self.twin.weights
        ]
        own, now = (line.get_attribute("aria-label") for line in self.root.locator(".tl-written").all())
        assert (own, now) == (self.twin.original, self.twin.output)
        assert self.root.locator(".tl-piece").all_inner_texts() == self.twin.pieces


@pytest.fixture
def file(tmp_path):
    return stand_in(tmp_path, max_length=12)


@pytest.fixture
def translating(mounted, file):
    """A figure whose translator lies beside the page, as in the book."""

    def open_figure(how=None, **changes) -> Translating:
        given = {"text": TEXT, "examples": ["the hub"], "file": file} | changes
        return Translating(mounted(Translate(**given), **(how or {})), Translate(**given))

    return open_figure


def test_what_is_typed_is_translated(translating):
    figure = translating()
    figure.assert_is()
    expect(figure.sentence).to_contain_text("Step 1, “")
    figure.text.fill("The HUB is restarted")
    figure.assert_is(text="The HUB is restarted")
    figure.text.press_sequentially(", or")
    figure.assert_is(text="The HUB is restarted, or")
    figure.root.get_by_label("or", exact=True).select_option("the hub")
    figure.assert_is(text="the hub")
    expect(figure.text).to_have_value("the hub")
    figure.text.fill("the 日本 hub")
    figure.set({"text": "the 日本 hub"})
    expect(figure.root.locator(".tl-unknown")).to_have_text("日本 → <unk>")


def test_beams_are_shown_to_whom_asks(translating):
    figure = translating()
    beams = figure.root.locator(".tl-beams li")
    expect(figure.root.locator(".tl-details")).to_be_hidden()
    figure.search.select_option("3 beams")
    figure.assert_is(beams=3)
    figure.root.get_by_text("The 3 beams").click()
    for row, (text, score) in zip(beams.all(), figure.twin.found, strict=True):
        assert row.inner_text().startswith(f"{text.strip()} {score:.2f} (log P".replace("-", "−"))
    figure.search.select_option("greedy")
    figure.assert_is(beams=1)
    expect(figure.root.locator(".tl-details")).to_be_hidden()


def test_it_writes_piece_by_piece(translating):
    figure = translating({"alone": True})
    pieces = figure.root.locator(".tl-written").first.locator(".tl-token")
    n = pieces.count()
    stop_clock(figure.page)
    figure.button("first step").click()
    expect(pieces).to_have_count(1)
    figure.button("next step").click()
    expect(pieces).to_have_count(2)
    figure.button("▶ Play").click()
    figure.page.clock.run_for(500 * n)
    expect(pieces).to_have_count(n)
    expect(figure.button("▶ Play")).to_be_visible()


def test_weights_are_overruled_by_keys_button_and_finger(translating):
    figure = translating({"touch": True, "width": 375})
    S = len(figure.twin.pieces)
    expect(figure.sentence).not_to_contain_text("painted")
    figure.bars.nth(0).press("ArrowRight")
    figure.bars.nth(1).press("End")
    only_second = [int(j == 1) for j in range(S)]
    figure.assert_is(edits={0: only_second})
    expect(figure.bars.nth(1)).to_have_attribute("aria-label", f"weight on “{figure.twin.pieces[1]}”, piece 2 of {S}")
    figure.grid.press("ArrowDown")
    figure.button(re.compile("^All on")).click()
    figure.assert_is(edits={0: only_second, 1: only_second})
    expect(figure.sentence).to_contain_text("painted: steps 1, 2")
    figure.button("Reset step").click()
    figure.assert_is(edits={0: only_second})
    figure.button("Reset all").click()
    figure.assert_is(edits={})
    figure.bars.nth(2).scroll_into_view_if_needed()
    box = figure.bars.nth(2).locator(".as-track").bounding_box()
    swipe(figure.page, box["x"] + box["width"] / 2, box["y"] + box["height"] - 3, 0, 3 - 0.9 * box["height"])
    assert float(figure.bars.nth(2).get_attribute("aria-valuetext")) == pytest.approx(0.9, abs=0.04)
    figure.text.fill("the hub")
    figure.assert_is(text="the hub", edits={})


@pytest.mark.parametrize("text", ["", "日本", "the hub " * 50, "\u202e\u0000"])
def test_what_cannot_be_translated_is_said(text, translating):
    figure = translating()
    figure.text.fill(text)
    figure.set({"text": text})
    complaint = figure.root.locator(".attn-complaint").first
    expect(complaint).to_have_text(figure.twin.problem)
    assert figure.twin.problem
    expect(figure.root.locator(".as-body")).to_be_hidden()
    expect(figure.sentence).to_have_text("Nothing is translated.")
    figure.text.fill(TEXT)
    figure.assert_is(text=TEXT)


def test_a_page_loads_the_translator_once_and_when_a_reader_comes(visit, tmp_path, file):
    one, other = (Translate(text, file=file) for text in ("the hub", TEXT))
    page_file, space = tmp_path / "page.html", '<div style="height: 4000px"></div>'
    page_file.write_text(page_of([one, other]).replace("<h1>", f"{space}<h1>"), "utf8")
    visited = visit(page_file, alone=True)
    page, asked = visited.page, []
    page.context.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    expect(page.locator(".tl-waiting").first).to_have_text("The translator is being loaded, 0.2 MB.")
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert asked == []
    page.locator(".tl-waiting").first.scroll_into_view_if_needed()
    expect(page.locator(".tl .attn-sentence")).to_have_count(2)
    assert asked == ["stand-in.js"]


def test_a_saved_page_carries_the_translator(visit, tmp_path, file):
    figure = Translate(TEXT, file=file)
    (tmp_path / "elsewhere").mkdir()
    visited = visit(figure.save(tmp_path / "elsewhere" / "look.html"))
    Translating(visited, figure).assert_is()


def test_a_missing_a_damaged_and_another_translator_are_told_in_words(visit, tmp_path, file):
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "page.html").write_text(page_of([Translate(TEXT, file=file)]), "utf8")
    other = stand_in(tmp_path, seed=1)
    text = other.read_text("utf8")
    detail = json.loads(text[len(BEFORE) : -len(AFTER)])
    shown = json.loads(stand_in(tmp_path, max_length=12).read_text("utf8")[len(BEFORE) : -len(AFTER)])
    damaged = shown | {"data": shown["data"][:2000]}
    cases = {
        "The translator is missing: there is no stand-in.js beside this page.": None,
        "The translator is missing: stand-in.js holds nothing that can be read.": "'nothing';",
        "stand-in.js holds another translator": f"{BEFORE}{json.dumps(detail)}{AFTER}",
        "stand-in.js was damaged: ": f"{BEFORE}{json.dumps(damaged)}{AFTER}",
    }
    for words, content in cases.items():
        if content:
            (folder / "stand-in.js").write_text(content, "utf8")
        visited = visit(folder / "page.html")
        expect(visited.page.locator(".tl-waiting[role=alert]")).to_contain_text(words)
        visited.errors.clear()  # of the file that is not there
    shutil.copy(file, folder)
    Translating(visit(folder / "page.html"), Translate(TEXT, file=file)).assert_is()
