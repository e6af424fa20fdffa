"""The map of the chapters: it follows two lists, and no arrow runs over a box."""

import copy
import itertools
import re

import pytest
import yaml
from sphinx.errors import ExtensionError

from website.chapter_map import BELOW, HEIGHT, LISTS, RIM, WIDTH, Chapter, drawing, layout, listed, parts, rows

TOC, KNOWN = (yaml.safe_load(path.read_text("utf8")) for path in LISTS)


def chapter(number: int, *needs: int) -> Chapter:
    return Chapter(number, f"{number:02}_x", f"<{number}>", "what?", list(needs))


def test_a_chapter_stands_below_what_it_needs_and_three_side_by_side():
    chapters = [chapter(3, 1), chapter(4, 3), chapter(5, 3), chapter(6, 5), *(chapter(n, 4) for n in (7, 8, 9))]
    assert [[one.number for one in row] for row in rows(chapters)] == [[3], [4, 5], [6, 7, 8], [9]]
    drawn = drawing({"Part <b>": [chapter(1)]}, {"01_x": 5})
    assert "1 · &lt;1&gt;" in drawn and "<b>" not in drawn


def test_the_list_says_what_the_arrows_say():
    found = listed({"Part <b>": [chapter(1), chapter(2, 1), chapter(3, 1, 2)]}, {"01_x": 5, "02_x": 6, "03_x": 70})
    assert re.findall(r'<li><a href="(.+?)">(.+?)</a><br>(.+?)</li>', found) == [
        ("01_x.html", "1 · &lt;1&gt;", "what? · 5 s"),
        ("02_x.html", "2 · &lt;2&gt;", "what? · 6 s · after 1"),
        ("03_x.html", "3 · &lt;3&gt;", "what? · 70 s · after 1 and 2"),
    ]
    assert "<p>Part &lt;b&gt;</p>" in found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda toc, known: known.pop("03_attention_step_by_step"), "says nothing of 03_attention_step_by_step"),
        (lambda toc, known: toc["parts"][2]["chapters"].pop(), "that _toc.yml has not: 15_scaling_up"),
        (lambda toc, known: known["04_masked_softmax"].update(needs=[3, 4]), r"chapter 4 needs \[4\]"),
        (lambda toc, known: known["04_masked_softmax"].update(needs=[0]), r"chapter 4 needs \[0\]"),
    ],
)
def test_the_two_lists_must_agree(change, words):
    toc, known = copy.deepcopy([TOC, KNOWN])
    change(toc, known)
    with pytest.raises(ExtensionError, match=words):
        parts(toc, known)


def test_every_chapter_has_its_box_and_every_need_an_arrow_that_runs_over_none():
    book = parts(TOC, KNOWN)
    chapters = [one for part in book.values() for one in part]
    drawn = drawing(book, {one.file: 10 + one.number for one in chapters})
    assert [one.number for one in chapters] == list(range(1, 16))
    assert sorted(re.findall(r'href="(\w+)\.html"', drawn)) == [one.file for one in chapters]
    assert sorted(re.findall(r'href="(\d\d)(?:(?!href).)*· (\d+) s', drawn)) == [
        (f"{one.number:02}", str(10 + one.number)) for one in chapters
    ]
    found = re.findall(r'<path d="M([\d. L-]+)" marker.*?|href="(\w+)\.html"', drawn)
    ways, waiting = {}, []  # the arrows to a chapter stand before it
    for d, file in found:
        if file:
            ways[int(file[:2])], waiting = waiting, []
        else:
            waiting.append([tuple(map(float, point.split())) for point in d.split("L")])
    assert {n: len(arrows) for n, arrows in ways.items()} == {one.number: len(one.needs) for one in chapters}
    boxes, _, height = layout(book)
    arrows = [(one.number, *arrow) for one in chapters for arrow in zip(one.needs, ways[one.number], strict=True)]
    for number, needs, ends in arrows:
        start, end = (next(box for box in boxes if box.chapter.number == n) for n in (needs, number))
        assert start.x < ends[0][0] < start.x + start.width and ends[0][1] == start.y + HEIGHT
        assert end.x < ends[-1][0] < end.x + end.width and end.y - BELOW < ends[-1][1] < end.y
        for (x, y), (to, down) in itertools.pairwise(ends):
            for share in (n / 50 for n in range(1, 50)):
                at, deep = x + (to - x) * share, y + (down - y) * share
                assert not [b for b in boxes if b.x < at < b.x + b.width and b.y < deep < b.y + HEIGHT], (number, needs)
                assert -RIM <= at <= WIDTH + RIM and 0 <= deep <= height
