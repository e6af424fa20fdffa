"""website/slides.py and website/slide_text.py: what the tags of cells make of a chapter, and MyST on a slide."""

import json
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnlib.course.book import BOOK
from attnlib.figures.page import STATE, VIEW
from website.references import References, Unknown, labels
from website.slide_room import joined, picture_of, shows_figure, split
from website.slide_text import PAGES, SlideText
from website.slides import build, cut, html_of, slides_of, with_decks

HEAD = """# 3 · A chapter

| Time | soon |
|---|---|
| **You will be able to** | add $a$ and $b$; multiply |
| **Slides** | S0 |"""


@pytest.fixture(scope="module")
def text() -> SlideText:
    places = {"fig-plane": "03.html#fig-plane", "what-a-bound-costs": "05.html#what-a-bound-costs"}
    return SlideText(References(PAGES, places))


def prose(source: str, *tags: str):
    return new_markdown_cell(source, metadata={"tags": list(tags)})


def lines(source: str, *tags: str, output=None, **mystnb):
    outputs = [] if output is None else [new_output("execute_result", data=output, execution_count=1)]
    return new_code_cell(source, metadata={"tags": list(tags), "mystnb": mystnb}, outputs=outputs)


def deck_of(*cells, **metadata) -> str:
    """The page of the deck of a chapter with these cells."""
    notebook = new_notebook(cells=[prose(HEAD), lines("import torch"), *cells], metadata=metadata)
    references = References(PAGES, {"ex-one": "03.html#ex-one"})
    return html_of(cut(notebook, "03_attention_step_by_step"), SlideText(references))


def sections(page: str) -> list[str]:
    return re.findall(r"<section.*?</section>", page, re.S)


# --- MyST -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a {cite}`bahdanau2015neural`", '<a class="cite" href="../book/bibliography.html#bahdanau2015neural">[Bahd'),
        ("{cite}`luong2015effective,vaswani2017attention`", "[Luong et al. 2015; Vaswani et al. 2017]"),
        ("{cite:t}`bahdanau2015neural` say", "Bahdanau et al. (2015)"),
        ("in {numref}`fig-plane`", 'in <a href="../book/03.html#fig-plane">the figure</a>'),
        ("{numref}`Fig. {number} <fig-plane>`", ">the figure</a>"),
        ("{ref}`the plane <fig-plane>`", '<a href="../book/03.html#fig-plane">the plane</a>'),
        ("{eq}`fig-plane`", ">the equation</a>"),
        ("[maps](fig-plane)", '<a href="../book/03.html#fig-plane">maps</a>'),
        ("[](#what-a-bound-costs)", '<a href="../book/05.html#what-a-bound-costs">what a bound costs</a>'),
        ("[next](04_masked_softmax)", '<a href="../book/04_masked_softmax.html">next</a>'),
        ("[next](04_masked_softmax.ipynb#x)", '<a href="../book/04_masked_softmax.html#x">next</a>'),
        ("[A](exercises/a03_scores.ipynb)", '<a href="../book/exercises/a03_scores.html">A</a>'),
        ("[web](https://example.org/a)", '<a href="https://example.org/a">web</a>'),
        ("(fig-plane)=\n## Title", "<h2>Title</h2>"),
        ("so $a<b$", r'<span class="math">\(a&lt;b\)</span>'),
        ("$$\na < b\n$$ (eq-one)", '<div class="math">\\[a &lt; b\\]</div>'),
        ("$$\na \\tag{1}\n$$", '<div class="math">\\[a \\tag{1}\\]</div>'),
        ("\\begin{align}\na\n\\end{align}", '<div class="math">\\[\\begin{align}\na\n\\end{align}\\]</div>'),
        (":::{dropdown} Hint\nUse $a$.\n:::", "<details><summary>Hint</summary><p>Use"),
        (":::{admonition} Bet\n:class: tip\n\n*Which?*\n:::", '<p class="title">Bet</p><p><em>Which?</em></p>'),
        (":::{note}\nOne.\n:::", '<p class="title">Note</p><p>One.</p>'),
        (":::{exercise} Two words\n:label: ex\n\nDo.\n:::", '<div class="box exercise"><p class="title">Two words</p>'),
        (":::{solution-start} ex\n:class: dropdown\n:::", ""),
        ("word[^1].\n\n[^1]: More.", '<section class="footnotes">'),
        ("```python\nx = 1\n```", '<div class="highlight">'),
        ("| a | b |\n|---|---|\n| $x$ | **y** |", "<td><strong>y</strong></td>"),
        ("% a remark\n\nword", "<p>word</p>"),
    ],
)
def test_myst_on_a_slide(source, shown, text):
    html = text.html(source)
    assert shown in html and (shown or not html)
    assert [raw for raw in ("{cite", "{numref", "{ref", ":::", "$", ")=", ":class:", ":label:") if raw in html] == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{mermaid}`x`", "role {mermaid}"),
        (":::{tab-set}\nx\n:::", "directive {tab-set}"),
        ("{cite}`nobody1999`", "no 'nobody1999'"),
        ("[x](fig-nowhere)", "'fig-nowhere' leads nowhere"),
        ("[S1](decks.md)", "'decks.md' leads nowhere"),
    ],
)
def test_what_a_slide_does_not_know_is_named(source, words, text):
    with pytest.raises(Unknown, match=re.escape(words)):
        text.html(source)


def test_the_labels_of_the_book_are_found():
    found = labels()
    assert found["fig-plane"] == "03_attention_step_by_step.html#fig-plane"  # a figure
    assert found["fig-alignment-date"] == "07_alignment.html#fig-alignment-date"  # a target
    assert found["ex-03-hull"] == "03_attention_step_by_step.html#ex-03-hull"  # a directive
    assert found["decks"] == "notation.html#decks"
    assert "python3" not in found  # the name of a kernel


def test_the_prose_of_every_chapter_can_be_shown():
    shown = SlideText()
    for source in with_decks():
        for cell in json.loads(source.with_suffix(".ipynb").read_text("utf8"))["cells"]:
            if cell["cell_type"] == "markdown":
                assert isinstance(shown.html("".join(cell["source"])), str), source


# --- tags -------------------------------------------------------------------------------------------


IN_CODE = "told too\n\n```python\n# no heading\n```"


def test_tags_make_slides_and_untagged_prose_the_notes():
    cells = [
        prose("before"),
        prose("## One\n\nshown", "slide"),
        prose("told"),
        lines("hidden()"),
        lines("shown()", "same-slide"),
        prose("clicked", "fragment"),
        prose(IN_CODE),
        lines("two()", "slide"),
    ]
    one, two = slides_of(new_notebook(cells=cells))
    assert [cell.source for cell in one["cells"]] == ["## One\n\nshown", "shown()", "clicked"]
    assert one["notes"] == ["told", IN_CODE]
    assert [cell.source for cell in two["cells"]] == ["## One", "two()"], "it gets the heading of its section"


def test_a_heading_at_the_end_of_a_cell_is_that_of_the_next_slide():
    cells = [prose("## One\n\nsaid\n\n(place)=\n## Two", "slide"), prose("more", "slide"), prose("# Alone", "slide")]
    one, two, alone = slides_of(new_notebook(cells=cells))
    assert [cell.source for cell in one["cells"]] == ["## One\n\nsaid"]
    assert [cell.source for cell in two["cells"]] == ["## Two", "more"]
    assert [cell.source for cell in alone["cells"]] == ["# Alone"]
    assert cells[0].source.endswith("## Two"), "the chapter is not changed"


SHOWN = {VIEW: {"model_id": "a"}, "text/plain": "Figure"}
RECORD = {"model_module": "anywidget", "state": {"_esm": "//# one.js\nlet a = '</script>';\n"}}
STORED = {"widgets": {STATE: {"version_major": 2, "version_minor": 0, "state": {"a": RECORD, "b": RECORD}}}}


def test_a_live_figure_is_a_slide_and_the_sentence_before_it_is_the_speakers():
    figure, state = lines("Figure()", output=SHOWN), STORED
    _, live, _ = sections(deck_of(prose("## It: one\n\nLook.", "slide"), figure, **state))
    notes = re.search(r"<aside.*?</aside>", live, re.S)[0]
    assert live.startswith('<section class="live"') and "<h2>It: one</h2>" in live and "model_id" in live
    assert "Look." in notes and "Look." not in live.replace(notes, "")
    _, said, live, _ = sections(deck_of(prose("## It: one\n\n$$\na\n$$", "slide"), figure, **state))
    assert "\\[a\\]" in said and "model_id" in live, "a formula is not for the speaker alone"


# --- room -------------------------------------------------------------------------------------------


def drawing(width: int = 340, tall: int = 225):
    svg = f'<svg width="{width}pt" height="{tall}pt" viewBox="0 0 {width} {tall}"></svg>'
    return lines("draw()", "slide", output={"image/svg+xml": svg}, image={"alt": "a"}, figure={"caption": "b"})


def test_a_picture_stands_beside_the_formula_that_comes_before_it():
    _, both, _ = sections(deck_of(prose("## One\n\nSay:\n\n$$\na = b\n$$", "slide"), drawing()))
    width = int(re.search(r'<section class="beside" style="--picture: (\d+)px"', both)[1])
    assert 340 * 16 / 11 <= width <= 740, "as wide as its letters need"
    assert both.index("a = b") < both.index('<div class="fragment">') < both.index("<svg")
    assert both.count("<h2>") == 1


def test_what_is_too_wide_or_too_long_stands_alone():
    formula = prose("## One\n\nSay:\n\n$$\na = b\n$$", "slide")
    assert 'class="beside"' not in deck_of(formula, drawing(width=628, tall=250)), "its letters would be too small"
    long = prose("## One\n\n" + "Many words. " * 80, "slide")
    assert len(sections(deck_of(long, drawing()))) == 4


def test_slides_that_would_be_mostly_empty_are_joined():
    one, two = prose("## One\n\nA sentence.", "slide"), prose("Another.", "slide")
    other, full = prose("## Two\n\nA third.", "slide"), prose("Many words. " * 100, "slide")
    _, joined_, _ = sections(deck_of(one, two, other))
    assert re.findall("<h2>(.*?)</h2>", joined_) == ["One", "Two"]
    assert joined_.count('<div class="fragment">') == 2, "each comes with the click that would have brought its slide"
    assert len(sections(deck_of(one, full, full))) == 5, "there is no room"


def test_code_that_only_builds_a_table_is_not_shown():
    table = {"text/markdown": "| a |\n|---|\n| **b** |"}
    for code in ('found.table("right", 0)', 'rows = 3\nMarkdown("\\n".join(rows))', "display(a.table(), b.table())"):
        shown = sections(deck_of(lines(code, "slide", output=table)))[1]
        assert "<td><strong>b</strong></td>" in shown and "highlight" not in shown, code
    assert "highlight" in sections(deck_of(lines("e = q @ k\ne", "slide", output=table)))[1]


@pytest.mark.parametrize("source", with_decks(), ids=lambda source: source.stem)
def test_every_deck_keeps_the_rules_of_room(source):
    notebook = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    asked = [slide["cells"] for slide in joined(slides_of(notebook))]
    live = [cells for cells in asked if any(map(shows_figure, cells))]
    assert len(live) == sum(map(shows_figure, notebook.cells))
    assert {len(cells) for cells in live} <= {1, 2}, "a heading and the figure"
    for cells in asked:
        formula = any("$$" in cell.source for cell in cells if cell.cell_type == "markdown")
        if formula and any(map(picture_of, cells)):
            assert split(cells), cells[0].source[:60]
    deck = cut(notebook, source.stem)
    for cell in deck.cells:
        if cell.cell_type == "code" and not cell.metadata.hide_input:
            assert "hide-input" not in cell.metadata.get("tags", [])
            assert not re.search(r"\.table\(|^Markdown\(", cell.source, re.M), cell.source


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([prose("a")], "no cell is tagged `slide`"),
        ([prose("a", "fragment"), prose("b", "slide")], "`fragment` before any"),
        ([prose("a", "slide", "fragment")], "fragment and slide"),
    ],
)
def test_tags_that_make_no_deck_are_named(cells, words):
    with pytest.raises(Unknown, match=words):
        slides_of(new_notebook(cells=cells))


def test_a_deck_has_a_first_and_a_last_slide():
    exercise = prose(":::{exercise} Try\n:label: ex-one\n\nDo.\n:::")
    page = deck_of(prose("## One", "slide"), exercise)
    assert re.findall(r'(?:src|href)="(https?:|//)', page) == []
    first, middle, last = sections(page)
    assert "<h1>3 · A chapter</h1>" in first and "Attention, Derived and Executed" in first
    promises = [r'add <span class="math">\(a\)</span> and <span class="math">\(b\)</span>', "multiply"]
    assert re.findall("<li>(.*?)</li>", first) == promises
    assert "<h2>One</h2>" in middle
    assert '<a href="../book/03_attention_step_by_step.html">' in last
    assert '<a href="../book/03.html#ex-one">Try</a>' in last


def test_inputs_and_outputs_are_shown_as_tagged():
    for tags, shown in (((), [True, True]), (["hide-input"], [False, True]), (["hide-output"], [True, False])):
        page = deck_of(lines("call()", "slide", *tags, output={"text/plain": "<said>"}))
        assert "import torch" not in page, "the setup cell"
        assert [words in page for words in ("call", "&lt;said&gt;")] == shown


def test_notes_stand_outside_of_fragments_and_hold_captions():
    image = {"image": {"alt": 'a "b"'}, "figure": {"caption": "The $x$ axis."}}
    page = deck_of(
        prose("## One", "slide"),
        lines("draw()", "fragment", output={"image/png": "AAAA"}, **image),
        prose("told"),
    )
    section = sections(page)[1]
    notes = re.search(r'<aside class="notes">(.*?)</aside>', section, re.S)
    assert notes.start() < section.index('<div class="fragment">')
    assert "told" in notes[1] and r"\(x\)" in notes[1]
    assert """<img alt='a "b"' src="data:image/png;base64,AAAA"/>""" in section


def test_a_figure_comes_with_its_code_once_and_without_the_line_that_made_it():
    page = deck_of(lines("Figure(1)", "slide", output=SHOWN), **STORED)
    assert "Figure(1)" not in page and "let a = '</script>" not in page
    assert page.count("one.js") == page.count('src="shared/anywidget-static.js"') == 1
    assert 'src="shared/anywidget-static.js"' not in deck_of(prose("## One", "slide"), **STORED)


def test_a_chapter_without_a_slide_is_named(tmp_path):
    for kind in (".md", ".ipynb"):
        text = (BOOK / "notation").with_suffix(kind).read_text("utf8")
        (tmp_path / "99_plain").with_suffix(kind).write_text(text)
    with pytest.raises(SystemExit, match=r"book/99_plain\.md: "):
        build([tmp_path / "99_plain.md"], tmp_path / "decks")
