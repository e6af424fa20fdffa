"""The grading desk in a real browser: a class of twelve is graded by keyboard, and two pages lose nothing."""

import asyncio
import csv
import threading

import pytest
from playwright.sync_api import expect

from attnlib.grading.desk import kept, server
from tests.browser.conftest import Tab, quick
from tests.browser.test_pages import AXE
from tests.grading.desk_class import LONG, MOST, STUDENTS, TEXT, a_class
from tests.grading.handins import NAME

FULL = sum(MOST.values())


class Served:
    """A desk in a thread of its own; it can be stopped, and started again at the same address."""

    def __init__(self, course):
        self.course, self.port, self.token = course, 0, ""
        self.start()

    def start(self):
        ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve(ready)))
        self.thread.start()
        assert ready.wait(60)

    async def serve(self, ready):
        with server.opened(NAME, self.course) as desk:
            desk.token = self.token or desk.token
            listening = await server.listen(desk, self.port)
            self.port, self.token, self.address = desk.port, desk.token, desk.address
            self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
            ready.set()
            await self.over.wait()
            listening.stop()
            await listening.close_all_connections()

    def stop(self):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def desk(tmp_path):
    kept.keep(a_class(), tmp_path)
    served = Served(tmp_path)
    yield served
    served.stop()


@pytest.fixture
def sit(browser, desk):
    """Sit down at the desk: `sit(theme="dark", width=375)` gives a page. Each has a profile of its own."""
    tabs = []

    def down(theme="light", width=1280):
        tabs.append(Tab(browser, touch=False))
        page = tabs[-1].open(desk.address, theme, width).page
        expect(page.locator("#heading")).to_be_visible()
        return page

    yield down
    for tab in tabs:
        assert tab.visit.third_party == []
        assert [words for words in tab.visit.errors if "net::ERR_" not in words] == []
        tab.context.close()


def saved(page):
    expect(page.locator("#status")).to_have_text("All saved")


def keys(page, *pressed):
    for key in pressed:
        page.keyboard.press(key)


def new_item(page, words, points):
    """Write an item of the rubric, by keyboard."""
    keys(page, "n")
    page.keyboard.type(words)
    keys(page, "Tab")
    page.keyboard.type(points)
    keys(page, "Enter", "Escape")


def find(page, words):
    """Go to the answer that begins so, by keyboard."""
    for _ in range(len(STUDENTS)):
        if words in page.locator("section.answer > pre").first.inner_text():
            return
        keys(page, "j")
    raise AssertionError(words)


def table(path):
    with path.open(encoding="utf8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_a_class_is_graded_by_keyboard_and_the_table_has_what_was_given(sit, desk):
    page = sit()
    expect(page.locator("#tabs [aria-current]")).to_contain_text("q4 · text")  # where something is to be done
    new_item(page, "Weight leaks when scores are low", "1")
    new_item(page, "The blank row is uniform", "1.5")
    new_item(page, "Half precision", "0.5")
    find(page, "With −100 weight leaks to hidden keys when the visible")
    expect(page.locator("#heading")).to_contain_text("2 students")
    keys(page, "1", "c")
    page.keyboard.type("And then?  Say it.")
    keys(page, "Escape")
    expect(page.locator("#result")).to_have_text("1 of 3 points")
    keys(page, "k") if page.locator("#next").is_disabled() else keys(page, "j", "k")
    expect(page.locator("#comment")).to_have_value("And then?  Say it.")
    plan = {"In half precision −1e9 is −inf, so a blank row is NaN. With": "13", "A row in which": "2"}
    for words, items in plan.items():
        keys(page, *["k"] * len(STUDENTS))
        find(page, words)
        keys(page, *items)
    while not page.locator("#next-open").is_disabled():  # all others get nothing, but one
        keys(page, "u")
        expect(page.locator("#heading")).to_be_focused()
        if "All work" in page.locator("section.answer > pre").first.inner_text():
            keys(page, "p", "3", "Escape")
        else:
            keys(page, "0")
        expect(page.locator("#groups [aria-current] .sign")).to_have_text("✓")
    saved(page)
    expect(page.locator(".progress")).to_contain_text("11 of 11 graded")
    keys(page, "]", "]", "]")
    expect(page.locator("#heading")).to_have_text("Give back")
    page.locator("#write").press("Enter")
    expect(page.locator("#said li").first).to_contain_text("grades.csv")
    rows = table(desk.course / NAME / "given" / "grades.csv")
    got = {
        "ann": 1,
        "ben": 1,
        "cem": 0,
        "dee": 1.5,
        "eva": 1.5,
        "fox": 0,
        "gus": 1.5,
        "hal": 0,
        "ida": 0,
        "jim": 0,
        "kim": 3,
    }
    assert {student: row[f"{TEXT}/3"] for student, row in rows.items()} == {
        **{student: f"{points:g}" for student, points in got.items()},
        "lea": "",
    }
    lost = {student: len([cell for cell in failed if cell in MOST]) for student, (_, failed, _) in STUDENTS.items()}
    totals = {student: f"{FULL - 3 - lost[student] + got[student]:g}" for student in got}
    assert {student: row["total"] for student, row in rows.items()} == {**totals, "lea": ""}
    assert {rows[student]["status"] for student in got} == {"graded"}
    assert rows["ben"]["q4 comment"] == "Weight leaks when scores are low (+1) And then? Say it."
    assert rows["ann"]["q4 comment"] == rows["ben"]["q4 comment"] and rows["kim"]["q4 comment"] == ""


def test_two_pages_see_each_other_and_what_they_write_stays(sit):
    first, second = sit(), sit(theme="dark")
    new_item(first, "One", "1")
    expect(second.locator(".items")).to_contain_text("One")
    new_item(second, "Two", "2")
    expect(first.locator(".items")).to_contain_text("Two")
    for page, words in ((first, "With −100"), (second, "A row in which")):
        find(page, words)
    keys(first, "c")
    first.keyboard.type("While I am writing")  # another page changes what I do not look at
    keys(second, "1")
    saved(second)
    first.keyboard.type(", it stays.")
    expect(first.locator("#comment")).to_have_value("While I am writing, it stays.")
    expect(first.locator("#comment")).to_be_focused()
    keys(first, "Escape", "2")
    saved(first)
    keys(second, *["k"] * 12)
    find(second, "With −100")
    expect(second.locator("#comment")).to_have_value("While I am writing, it stays.")
    expect(second.locator("#result")).to_have_text("2 of 3 points")


@pytest.mark.parametrize("mine", [True, False])
def test_who_was_slower_sees_both_and_chooses(sit, desk, mine):
    first, second = sit(), sit()
    for page in (first, second):
        find(page, "With −100 weight leaks to hidden keys when the unhidden")
    second.context.set_offline(True)
    keys(second, "p", "2", "Escape", "c")
    second.keyboard.type("Mine.")
    expect(second.locator("#status")).to_contain_text("Not saved (1 change)")
    keys(first, "p", "1", "Escape")
    saved(first)
    second.context.set_offline(False)
    box = second.get_by_role("dialog", name="Somebody else has decided this, too")
    expect(box).to_be_visible()
    expect(box).to_contain_text("1 points by hand")
    expect(box).to_contain_text("2 points by hand; comment: Mine.")
    assert "cem" not in box.inner_text()  # names are hidden
    expect(second.locator("#status")).to_have_text("Not saved: 1 conflict")
    keys(second, "Escape", "Escape")
    expect(box).to_be_visible()  # it has to be decided
    box.get_by_role("button", name="Keep mine" if mine else "Keep what is in the file").press("Enter")
    expect(box).to_be_hidden()
    saved(second)
    for page in (first, second):
        keys(page, "Escape")
        expect(page.locator("#result")).to_have_text(f"{2 if mine else 1} of 3 points")
        expect(page.locator("#comment")).to_have_value("Mine." if mine else "")


def test_who_goes_on_writing_does_not_overwrite_what_came_meanwhile(sit):
    first, second = sit(), sit()
    for page in (first, second):
        find(page, "With −100 weight leaks to hidden keys when the unhidden")
    second.route("**/change", lambda route: route.abort())
    keys(second, "c")
    second.keyboard.type("Mi")
    keys(first, "p", "1", "Escape")
    expect(second.locator("#groups [aria-current] .got")).to_have_text("1 of 3")  # it has heard of the other one
    second.keyboard.type("ne.")
    second.unroute("**/change")
    expect(second.get_by_role("dialog")).to_contain_text("comment: Mine.")


def test_conflicts_of_a_whole_group_are_settled_at_once(sit):
    first, second = sit(), sit()
    for page in (first, second):
        find(page, "A row in which")
    second.context.set_offline(True)
    keys(second, "p", "2", "Escape")
    expect(second.locator("#status")).to_contain_text("Not saved (2 changes)")
    keys(first, "p", "1", "Escape")
    saved(first)
    second.context.set_offline(False)
    expect(second.locator("#status")).to_have_text("Not saved: 2 conflicts")
    second.get_by_role("button", name="Keep all of mine").press("Enter")
    saved(second)
    for page in (first, second):
        expect(page.locator("#result")).to_have_text("2 of 3 points")


def test_a_desk_that_is_gone_is_noticed_and_what_is_not_saved_is_sent_later(sit, desk):
    page = sit()
    find(page, "A row in which")
    keys(page, "p", "1", "Escape")
    saved(page)
    desk.stop()
    keys(page, "p")
    page.locator("#points").fill("2")
    keys(page, "Escape")
    expect(page.locator("#status")).to_have_text(
        "Not saved (2 changes): the desk does not answer. Leave this page open."
    )
    desk.start()
    saved(page)
    expect(page.locator("#result")).to_have_text("2 of 3 points")
    page.reload()
    find(page, "A row in which")
    expect(page.locator("#result")).to_have_text("2 of 3 points")


def test_what_students_write_is_only_text(sit):
    page = sit()
    keys(page, *["k"] * 12)
    find(page, "<script>document.title = 'owned'</script>")
    text = page.locator("section.answer > pre").first
    expect(text).to_contain_text("<img src=x onerror=")
    expect(text.locator(".hidden-character").first).to_have_text("U+202E")
    assert "\u202e" not in page.locator("body").inner_text()
    assert page.locator("main img, main script").count() == 0 and "owned" not in page.title()
    keys(page, *["k"] * 12)
    find(page, "All work and no play.")
    expect(page.get_by_role("button", name=f"Show all {len(LONG):,} characters")).to_be_visible()
    assert len(text.inner_text()) < 21_000
    page.get_by_role("button", name="Show all").press("Enter")
    assert text.text_content() == LONG
    page.locator("#tab-0").press("Enter")
    assert page.locator("main script").count() == 0 and "owned" not in page.title()


def test_names_are_hidden_until_somebody_asks(sit):
    page = sit()
    for number in range(4):
        page.locator(f"#tab-{number}").press("Enter")
        words = page.locator("body").inner_text().split()
        assert not [student for student in STUDENTS if student in words]
    keys(page, "b")
    find(page, "A row in which")
    expect(page.locator(".members")).to_have_text("deeeva")
    page.locator("#target").select_option("eva")
    keys(page, "Escape", "p", "1", "Escape", "t")
    saved(page)
    expect(page.locator(".whom .note")).to_contain_text("They are graded differently")
    expect(page.locator("#result")).to_have_text("–, 1 of 3 points")


def test_points_of_a_test_are_corrected_with_a_reason(sit, desk):
    page = sit()
    page.locator("#tab-0").press("Enter")
    find(page, "return 2")
    page.locator("#correct-q1_blank").press("Enter")
    page.locator("#corrected-points").fill("0.5")
    keys(page, "Enter")
    expect(page.locator("#corrected-reason")).to_be_visible()  # without a reason nothing is corrected
    page.locator("#corrected-reason").fill("half of it")
    keys(page, "Enter")
    saved(page)
    expect(page.locator("#result")).to_have_text("3.5 of 4 points")
    expect(page.locator(".tests")).to_contain_text("By hand: half of it")
    expect(page.locator(".tests .old")).to_have_text("0 of 1")
    page.locator("#correct-q1_blank").press("Enter")
    page.get_by_role("button", name="Undo the correction").press("Enter")
    saved(page)
    expect(page.locator("#result")).to_have_text("3 of 4 points")


def test_late_rules_are_written_on_the_page(sit):
    page = sit()
    page.get_by_role("button", name="Late rules").press("Enter")
    for field, value in (("due", "2026-11-02T23:59"), ("grace", "10"), ("amount", "10"), ("cap", "30")):
        page.locator(f"#{field}").fill(value)
    page.locator("#unit").select_option("percent of all points")
    saved(page)
    keys(page, "Escape")
    expect(page.locator("tbody tr").first).to_contain_text("nobody knows when it was handed in")
    page.get_by_role("button", name="What holds for ben").press("Enter")
    page.locator("#mine-handed").fill("2026-11-04T12:00")
    page.locator("#mine-reason").fill("by mail")
    keys(page, "Enter")
    saved(page)
    expect(page.locator("tr", has_text="ben")).to_contain_text("2 days late: due 2026-11-02 23:59")
    expect(page.locator("tr", has_text="ben")).to_contain_text("(by mail); −2.6 points")  # of all 13
    for field, value in (("due", "2026-11-02T23:59"), ("grace", "10"), ("amount", "10"), ("cap", "30")):
        expect(page.locator(f"#{field}")).to_have_value(value)


WINDOWS = [("light", 1280), ("dark", 1280), ("light", 375), ("dark", 375)]


@pytest.mark.parametrize("window", quick(WINDOWS, WINDOWS[-1:]))
def test_nothing_for_axe_to_find_and_nothing_too_wide(browser, desk, window):
    theme, width = window
    context = browser.new_context(
        color_scheme=theme, viewport={"width": width, "height": 800}, bypass_csp=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(desk.address)
    expect(page.locator("#heading")).to_be_visible()
    new_item(page, "A" + 80 * "h" + " so it goes", "1")
    find(page, "A row in which")
    keys(page, "1", "b")
    saved(page)
    page.evaluate(AXE)
    for number in range(7):
        page.locator(f"#tab-{number}").press("Enter")
        expect(page.locator("#tabs [aria-current]")).to_have_id(f"tab-{number}")
        expect(page.locator("#heading")).to_be_visible()
        if number == 0:
            page.locator("#correct-q1_axis").press("Enter")
        if number == 5:
            page.locator("#mine-ann").press("Enter")
            expect(page.locator("#mine-due")).to_be_visible()
        closed = page.locator("main details:not([open]) > summary")
        while closed.count():
            closed.first.press("Enter")
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
    keys(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    assert [one["id"] for one in found] == []
    context.close()


def test_pictures_have_their_numbers_in_words(sit):
    page = sit()
    page.get_by_role("button", name="Statistics").press("Enter")
    picture = page.get_by_role("img", name="Failing tests")
    assert picture.locator("desc").text_content().startswith("q1_blank: 4 of 11; q2_past: 3 of 11; q3_large: 3 of 11; ")
    assert page.get_by_role("img", name="Totals").locator("desc").text_content() == "1 student from 0 to below 1"
    page.get_by_text("What they said").press("Enter")
    expect(page.locator("main")).to_contain_text("4 × the sum of row 8 is 0.5, not 1")


def test_a_page_without_the_token_shows_nothing(browser, desk):
    tab = Tab(browser, touch=False)
    page = tab.open(desk.address.split("#")[0], "light", 1280).page
    expect(page.locator("main")).to_contain_text("The token is missing or wrong")
    expect(page.locator("#tabs li")).to_have_count(0)
    tab.context.close()
