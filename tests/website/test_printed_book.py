"""website/printed_book.py: what a page does by itself has a form on paper. A small book is built, without TeX."""

import base64
import datetime
import gc
import io
import json
import re
import shutil
import subprocess
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image
from sphinx.application import Sphinx
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util.docutils import docutils_namespace
from sphinx_external_toc import collectors

from attnlib.course.book import site
from website import printed_book

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/someone/some-book"
SITE = f"{site()}/"

TOC = """
root: index
subtrees:
- caption: Before
  entries: [{file: one.ipynb}]
- caption: Appendices
  entries: [{file: two}, {file: teacher}]
"""
INDEX = """
# The book

What it is about.

## For whom

You. See [one](one.ipynb), [two](two.md) and [the teacher](teacher.md).

```{raw} html
<svg viewBox="0 0 10 10"><text>a map</text></svg>
```

![](drawn.svg)

## Contents

Nothing of its own.
"""
ONE = [
    "# 1 · Beginnings\n\nAn arrow, $\\color{#0b5fa5}{q}$,\\\nand a formula:\n\n$$\n{\\color{#b3186d}{c}} = 1\n$$",
    "## Move it",
    "## Exercises\n\n:::{exercise} Twice\n:label: ex-twice\n\nWhat is twice one?\n:::\n\n"
    ":::{dropdown} Hint\nAdd.\n:::\n\n:::{solution} ex-twice\n:class: dropdown\n\nIt is two.\n:::",
    "## Summary\n\nThe last words.",
]
TWO = f"# Words\n\n|{' a |' * 8}\n|{'---|' * 8}\n|{' 1 |' * 7} |\n"
TEACHER = "# For the teacher\n\nNot for print.\n"
PYTHON = {"name": "python", "pygments_lexer": "ipython3"}


def cell(source: str, tags=(), **forms) -> dict:
    outputs = [{"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": forms}] if forms else []
    made = {"cell_type": "code", "execution_count": 1, "outputs": outputs, "source": source}
    return {**made, "metadata": {"tags": list(tags)}}


def write(folder: Path, one: list[str] = ONE, two: str = TWO) -> None:
    text = [{"cell_type": "markdown", "metadata": {}, "source": source} for source in one]
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "png")
    shown = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": "Figure()"}
    view = {printed_book.VIEW: {"model_id": "m"}, **shown}
    source = {
        "text/html": "<div>coloured</div>",
        "text/latex": "\\begin{Verbatim}\ncoloured\n\\end{Verbatim}",
        "text/plain": "def shown():\n    return None",
    }
    wide = {"text/plain": "w" * 120}
    cells = [
        text[0],
        cell("print('unfolded')"),
        cell("print('folded')", ["hide-input"], **{"text/plain": "what it shows"}),
        cell("print('folded and silent')", ["hide-input"]),
        cell("show(shown)", ["hide-output"], **source),
        cell("print(wide)", **wide),
        cell("\n".join(["long = 1"] * 30)),
        text[1],
        cell("Figure()", **view),
        *text[2:],
    ]
    notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {"language_info": PYTHON}, "cells": cells}
    files = {"one.ipynb": json.dumps(notebook), "index.md": INDEX, "two.md": two, "_toc.yml": TOC, "conf.py": ""}
    files |= {"teacher.md": TEACHER, "drawn.svg": '<svg viewBox="0 0 10 10"><text>a file</text></svg>'}
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


def build(folder: Path) -> tuple[str, str]:
    """The LaTeX of a book in a folder, and the warnings."""
    settings = {
        "extensions": ["myst_nb", "sphinx_external_toc", "sphinx_exercise", "sphinx_design", "website.printed_book"],
        "external_toc_path": "_toc.yml",
        "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath"],
        "nb_execution_mode": "off",
        "numfig": True,
        "latex_engine": "xelatex",
        "latex_documents": [("index", "book.tex", "The book", "Someone", "manual")],
        "html_theme_options": {"repository_url": REPOSITORY},
        "pdf_leaves_out": ["teach*"],
    }
    warnings = io.StringIO()
    with docutils_namespace():  # what one book registers, the next one would be warned of
        app = Sphinx(folder, folder, folder / "out", folder / "trees", "latex", settings, status=None, warning=warnings)
        app.build()
    return (folder / "out" / "book.tex").read_text("utf8").split(r"\begin{document}")[1], warnings.getvalue()


GONE = weakref.proxy(set())  # other tests leave such behind, now and then


@pytest.fixture(scope="module", autouse=True)
def only_collectors():
    """The table of contents asks every object of the process for its class, and one that stands for another may raise.

    A book is built in a process of its own; here it shares one with all tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        mine = SimpleNamespace(get_objects=lambda: [o for o in gc.get_objects() if type(o) is TocTreeCollector])
        patch.setattr(collectors, "gc", mine)
        yield


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> tuple[str, dict[str, str]]:
    """The LaTeX of the small book, and the drawings that it asks for."""
    drawn = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printed_book, "draw", lambda wanted, folder: drawn.update(wanted))
        folder = tmp_path_factory.mktemp("book")
        write(folder)
        text, warnings = build(folder)
    assert warnings == ""
    return text, drawn


@pytest.fixture(scope="module")
def tex(book) -> str:
    return book[0]


PREFACE, NUMBERED = r"\setcounter{secnumdepth}{-1}", r"\setcounter{secnumdepth}{0}"
UNLISTED = r"\addtocontents{toc}{\protect\setcounter{tocdepth}{0}}"  # the sections that every chapter has


@pytest.mark.parametrize(
    "parts",
    [
        # the start page is a preface, and captions are parts
        [PREFACE, r"\chapter{Preface}", "What it is about.", r"\section{For whom}", NUMBERED, r"\part{Before}"],
        [NUMBERED, r"\part{Before}", r"\chapter{Beginnings}", r"\part{Appendices}\appendix", r"\chapter{Words}"],
        [r"\chapter{Beginnings}", r"\section{Move it}", UNLISTED, r"\section{Exercises}", r"\chapter{Words}"],
        # solutions stand at the end of the chapter, and hints with their exercise
        ["What is twice one?", r"\begin{sphinxuseclass}{hint}", r"\sphinxstylestrong{Hint.} Add.", "The last words."],
        [
            "The last words.",
            r"\section{Solutions}",
            r"\subsection{Exercise 1 (Twice)}",
            "It is two.",
            r"\chapter{Words}",
        ],
    ],
)
def test_each_part_stands_behind_the_one_before_it_and_once(parts, tex):
    assert [tex.count(part) for part in parts] == [1] * len(parts)
    assert sorted(parts, key=tex.index) == parts


def test_a_page_that_is_left_out_is_linked_to_on_the_site(tex):
    assert "Not for print" not in tex and "Nothing of its own" not in tex
    assert rf"\sphinxhref{{{SITE}teacher.html}}" in tex.replace(r"\sphinxhyphen{}", "-")
    assert f"{SITE}two.html" not in tex and "two::doc" in tex


@pytest.mark.parametrize(
    ("printed", "not_printed"),
    [
        (["unfolded", "what it shows"], [r"\PYG{l+s+s1}{folded"]),  # of folded code, its output
        ([r"\PYG{k}{def}\PYG{+w}{ }\PYG{n+nf}{shown}"], ["coloured"]),  # source in an output is code in our colours
        ([r"\color[HTML]{0B5FA5}{q}", r"{\color[HTML]{B3186D}{c}} = 1"], [r"\color{#"]),  # in LaTeX's own words
    ],
)
def test_code_and_formulas_have_their_form_on_paper(printed, not_printed, tex):
    assert [part for part in printed if part not in tex] == [part for part in not_printed if part in tex] == []


def test_a_live_figure_is_a_picture_above_the_middle_of_its_address(tex):
    picture = r"{\\hspace\*{\\fill}(\\sphinxincludegraphics\[scale=0\.8\]\{\{[0-9a-f]{64}\}\.png\})\\hspace\*{\\fill}}"
    (found,) = re.finditer(picture, tex)
    address = tex[found.end() :].split(r"\end{sphinxuseclass}")[0]
    assert r"\begin{sphinxuseclass}{live}" in address
    assert rf"\sphinxhref{{{SITE}one.html\#move-it}}" in address.replace(r"\sphinxhyphen{}", "-")


def needed(tex: str, code: str) -> tuple[float, str]:
    """Points that a cell asks for, and what stands between the question and its code."""
    code = tex.index(code)
    question = tex.rindex(r"\bookneed{", 0, code)
    return float(tex[question:code].split("{")[1].split("pt")[0]), tex[question:code]


def test_a_short_cell_asks_for_room_for_all_of_it_and_for_what_stands_above(tex):
    height, between = needed(tex, "unfolded")
    assert "An arrow" in between and r"\begin{equation*}" in between  # the paragraph, its formula, the code
    formula, frame, code, line = (printed_book.HEIGHTS[key] for key in ("formula", "frame", "code", "line"))
    assert height == pytest.approx(formula + line + frame + code, abs=0.5)
    printing, between = needed(tex, r"\PYG{n}{wide}")
    assert printing == pytest.approx(2 * frame + 2 * code, abs=0.5) and "An arrow" not in between
    assert needed(tex, r"\PYG{n}{long}")[0] < frame + 10 * code  # thirty lines may part
    assert r"\section{Move it}" in needed(tex, r"\PYG{n}{Figure}")[1]


def test_long_lines_have_smaller_letters_and_others_do_not(tex):
    before, after = tex.split("w" * 120)
    assert before.count(r"\begingroup\bookcode=") == tex.count(r"\bookcode") / 2 == 1
    assert 106 / 120 == pytest.approx(float(re.search(r"\\bookcode=([\d.]+)", before)[1]), abs=0.001)
    assert after.split(r"\endgroup")[0].strip() == r"\end{sphinxVerbatim}"


def test_a_table_of_many_columns_has_smaller_letters_and_an_empty_place_is_no_line(tex):
    assert tex.count(r"\begin{sphinxuseclass}{manycolumns}") == 1
    table = tex.split(r"\begin{sphinxuseclass}{manycolumns}")[1]
    assert r"\begin{tabulary}" in table
    last_row = table.split(r"\sphinxbottomrule")[0].split(r"\\")[-2]
    assert last_row.count("&") == 7 and last_row.count("\n1\n") == last_row.count("AtStartPar") == 7


def test_drawings_in_files_and_in_pages_are_drawn(book):
    tex, drawn = book
    assert sorted(re.search("<text>(.*)</text>", markup)[1] for markup in drawn.values()) == ["a file", "a map"]
    for name in drawn:
        assert rf"\sphinxincludegraphics[scale=0.8]{{{{{name.removesuffix('.pdf')}}}.pdf}}" in tex
    assert ".svg" not in tex


@pytest.mark.parametrize(
    ("changed", "warning"),
    [
        ({"two": "# Words\n\n<p>lost</p>"}, "raw HTML has no form in the PDF: '<p>lost</p>"),
        ({"one": ["# 2 · Beginnings", *ONE[1:]]}, "one is chapter 1 of the printed book, and called 2"),
    ],
)
def test_what_paper_would_lose_or_number_otherwise_is_a_warning(tmp_path, monkeypatch, changed, warning):
    monkeypatch.setattr(printed_book, "draw", lambda wanted, folder: None)
    write(tmp_path, **changed)
    assert warning in build(tmp_path)[1]


def test_the_date_is_that_of_the_release():
    assert printed_book.released({"date-released": datetime.date(2027, 3, 1)}) == "1 March 2027"
    assert printed_book.released({"version": "0.1.0"}) == "not released yet"


@pytest.mark.parametrize(
    ("programs", "finds_fonts", "named"),
    [
        (["kpsewhich"], True, "xelatex latexmk"),
        (["xelatex", "latexmk", "kpsewhich"], False, "texgyreheros-regular.otf"),
    ],
)
def test_make_names_the_programs_and_fonts_that_are_missing(tmp_path, programs, finds_fonts, named):
    for name in programs:
        program = tmp_path / name
        program.write_text("#!/bin/sh\n" + ("" if finds_fonts else 'test "$1" != texgyreheros-regular.otf\n'), "utf8")
        program.chmod(0o755)
    said = subprocess.run([shutil.which("make"), "tex", f"PATH={tmp_path}"], cwd=ROOT, capture_output=True, text=True)
    assert said.returncode != 0
    assert f"these are missing: {named}. Debian and Ubuntu: apt-get install texlive-xetex" in said.stdout
    assert "MacTeX" in said.stdout
