"""website/section_search.py: what is written down of a page, and what is not."""

import json
from types import SimpleNamespace

import pytest
from lxml import html
from sphinx.errors import ExtensionError

from website import section_search
from website.section_search import index, readable, replace_search, sections, weight

PAGE = """<html><body><article><section id="masks"><span id="other"></span>
<h1>4 · <em>Masks</em><a class="headerlink" href="#masks">#</a></h1>
<!-- a comment --><p>Of <span class="math">\\(\\sqrt d\\)</span> and<br>more.</p>
<div class="cell"><div class="cell_input"><pre>code</pre></div>
<details class="hide"><summary>Show code cell source</summary></details>
<div class="cell_output"><div class="output text_plain">0.5</div>
<figure><figcaption>A <b>b</b>ig caption</figcaption></figure>
<div class="output text_markdown"><table><tr><td>computed</td><td>table</td></tr></table></div></div></div>
<section id="holes"><h2>Holes</h2><p>Seven.</p>
<div class="exercise admonition" id="ex-04-two"><p class="admonition-title">Exercise 1 (Two)</p>
<section id="exercise-content"><p>Find it.</p></section></div>
<div class="solution admonition" id="s"><p>secret</p></div><p>After the exercise.</p></section>
</section></article></body></html>"""


def read(text: str) -> list[list[str]]:
    return [list(section) for section in sections(html.fromstring(text))]


def test_a_page_is_read_section_by_section_without_code_and_solutions():
    assert read(PAGE) == [
        ["masks", "4 · Masks", "Of √d and more. A big caption computed table", ""],
        ["holes", "Holes", "Seven. After the exercise.", ""],
        ["ex-04-two", "Exercise 1 (Two)", "Find it.", ""],
    ]


TERMS = """<div><dl class="glossary"><dt id="term-a">a term<a class="headerlink">#</a></dt>
<dd><p>What it is. → <a href="03_step.html#here">3</a></p></dd>
<dt id="term-b">other</dt><dd><p>None.</p></dd></dl></div>"""
NAMES = """<div><dl class="py class"><dt class="sig sig-object py" id="m.A">class <span>A</span>(x)</dt>
<dd><p>First of <a href="x.html">A</a>.</p><p>Second.</p>
<dl class="py method"><dt class="sig sig-object py" id="m.A.go">go()</dt><dd><p>Goes.</p></dd></dl>
</dd></dl></div>"""
WORK = '<div><div class="citation" id="b15"><span class="label">[B15]</span><p>Bahdanau. Jointly.</p></div></div>'


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (TERMS, [["term-a", "a term", "What it is. → 3", "03_step.html"], ["term-b", "other", "None.", ""]]),
        (NAMES, [["m.A", "m.A", "First of A.", ""], ["m.A.go", "m.A.go", "Goes.", ""]]),
        (WORK, [["b15", "[B15]", "Bahdanau. Jointly.", ""]]),
    ],
)
def test_terms_names_and_works_have_places_of_their_own(page, found):
    assert read(page) == found


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"\({\color{#0b5fa5}{q}}^\top {\color{#b8400e}{k_j}} / \sqrt{d}\)", "qᵀ k_j / √d"),
        (r"\[\frac{\exp(e_j)}{\sum_{k} \exp(e_k)}\]", "exp(e_j)/Σ_k exp(e_k)"),
        (r"\(\tfrac{1}{\sqrt{d_{\text{model}}}}\)", "1/√d_model"),
        (r"\[\begin{split}\begin{aligned} a &= \operatorname{softmax}(b) \\ c &\le 1 \end{aligned}\end{split}\]",
         "a = softmax(b) c ≤ 1"),
        (r"\(\bigl(\alpha_{ij},\, \hat{y}\bigr)\)", "(α_ij, y)"),
        (r"\(f{x}{y}\)", "fxy"),  # two groups are a fraction only where TeX says so
    ],
)  # fmt: skip
def test_a_formula_can_be_read_in_a_line(formula, text):
    assert readable(formula) == text


def test_chapters_weigh_more_than_what_lists_and_sums_up():
    ranking = [
        ("book/04_masked_softmax", "fill-in-place"),
        ("book/glossary", "term-mask"),
        ("book/04_masked_softmax", "ex-04-causal"),
        ("book/exercises/a04_masked_softmax", "question-1"),
        ("book/api_attention", "attnlib.masks"),
    ]
    weights = [weight(*place) for place in ranking]
    assert weights == sorted(set(weights), reverse=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "04_masks.html").write_text(PAGE, "utf8")
    return tmp_path


def test_the_index_is_a_script_with_every_page(folder):
    script = index(folder, ["book/04_masks"])
    [[page, title, found]] = json.loads(script.removeprefix("const BOOK = ").removesuffix(";\n"))
    assert (page, title) == ("book/04_masks.html", "4 · Masks")
    assert [(anchor, weight) for anchor, *_, weight in found] == [("masks", 1.0), ("holes", 1.0), ("ex-04-two", 0.7)]


def test_an_index_that_is_too_heavy_stops_the_build(folder, monkeypatch):
    size = len(index(folder, ["book/04_masks"]).encode())
    monkeypatch.setattr(section_search, "LARGEST", size - 1)
    with pytest.raises(ExtensionError, match=f"weighs {size:,} bytes, and may weigh {size - 1:,}"):
        index(folder, ["book/04_masks"])


def built(folder, format="html"):
    return SimpleNamespace(
        outdir=folder, builder=SimpleNamespace(format=format), env=SimpleNamespace(found_docs={"book/04_masks"})
    )


def test_the_search_page_loads_our_scripts_and_no_longer_those_of_sphinx(folder):
    tags = [f'<script src="{file}"></script>' for file in ("_static/other.js", *section_search.THEIRS)]
    (folder / "search.html").write_text("<head>" + "\n  ".join(tags) + "</head>", "utf8")
    replace_search(built(folder), None)
    page = html.fromstring((folder / "search.html").read_text("utf8"))
    files = ["_static/other.js", "_static/language_data.js", "sections.js", "_static/section-search.js"]
    assert page.xpath("//script/@src") == files
    assert page.xpath("//script[@defer]/@src") == files[1:]  # in this order, when the page is there
    assert (folder / "sections.js").read_text("utf8") == index(folder, ["book/04_masks"])


def test_another_theme_stops_the_build_rather_than_leaving_two_searches(folder):
    (folder / "search.html").write_text('<script src="_static/searchtools.js"></script>', "utf8")
    with pytest.raises(ExtensionError, match="other scripts"):
        replace_search(built(folder), None)


def test_a_build_that_failed_and_one_for_paper_are_left_alone(tmp_path):
    replace_search(built(tmp_path), ValueError())
    replace_search(built(tmp_path, "latex"), None)
    assert list(tmp_path.iterdir()) == []
