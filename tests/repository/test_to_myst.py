"""The copy of the book for Jupyter Book 2 loses nothing, and what MyST says of it is counted, without MyST."""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from scripts import myst_diagnostics, to_myst

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """\
title: A book
author: A and B
copyright: "2026"
bibtex_bibfiles: [book/references.bib]
repository: {url: https://example.org/a/b}
"""
TOC = """\
root: book/index
parts:
  - caption: Part
    chapters:
      - file: book/01_one.ipynb
      - file: book/api
        sections:
          - file: book/sub/more
"""
#: By page: what is written there, and what MyST is given. None: the same.
REFERENCE = "```{eval-rst}\n.. py:data:: a[1](b)\n```\n\n```python\nf[0](query)\n```\n\n{py:class}`~a.B`"
PAGES = {
    "book/index": (
        "[one](01_one), [two](01_one.ipynb#x), [](sub/more), [fig](fig-a), [a *b*](decks), [](#at)\n",
        "[one](01_one), [two](01_one.ipynb#x), [](sub/more), [fig](#fig-a), [a *b*](#decks), [](#at)\n",
    ),
    "book/api": (f"{REFERENCE} [](ex-1)\n", f"{REFERENCE} [](#ex-1)\n"),
    "book/sub/more": ("```{speed-table} decoders\n```\n\n::::{only} latex\n```{nobody} knows\n```\n::::\n", None),
}
GATE = ":::{solution-start} ex-1\n:class: dropdown\n:::\n\n"
EXERCISE = ":::{exercise} Why\n:label: ex-1\n:::\n\n"
FIGURE = {"mystnb": {"figure": {"name": "fig-a", "caption": "A line."}, "image": {"alt": "It rises."}}}
#: By cell of the notebook: kind, what is written there, and what MyST is given.
CELLS = [
    ("markdown", EXERCISE + GATE + "Because:",
     EXERCISE + "::::{solution} ex-1\n:class: dropdown\n\nBecause:\n::::"),
    ("code", "no tag yet", {"tags": ["hide-cell"]}),
    ("markdown", "And [so](ex-1) on:", "::::{dropdown} The solution goes on\nAnd [so](#ex-1) on:\n::::"),
    ("code", "tagged", {"tags": ["no-claim", "hide-cell"]}),
    ("markdown", "The end.\n\n:::{solution-end}\n:::\n\nAfter it.",
     "::::{dropdown} The solution goes on\nThe end.\n\n::::\n\nAfter it."),
    ("code", "outside", {}),
    ("markdown", GATE + "All of it.\n\n:::{solution-end}\n:::",
     "::::{solution} ex-1\n:class: dropdown\n\nAll of it.\n\n::::"),
    ("code", "outside", {}),
    ("markdown", ":::{solution-start} ex-1\n:::\n\nOnce more.", "::::{solution} ex-1\n\nOnce more.\n::::"),
    ("markdown", ":::{solution-end}\n:::\n\n## Next", "## Next"),
    ("code", "figure", {**FIGURE, "label": "fig-a", "caption": "A line."}),
    ("markdown", ":::{glossary}\nkey\n  Asked.\n\ntwo words\n  Many $k$.\n  More.\n  Yet more.\n:::\n\nend\n  of it",
     ":::{glossary}\nkey\n: Asked.\n\ntwo words\n: Many $k$.\n  More.\n  Yet more.\n:::\n\nend\n  of it"),
]  # fmt: skip
METADATA = {"figure": FIGURE, "tagged": {"tags": ["no-claim"]}}
#: Directives that MyST has.
MYST = {"admonition", "bibliography", "dropdown", "exercise", "figure", "glossary", "solution", "tableofcontents"}


@pytest.fixture
def tree(tmp_path) -> Path:
    """A book with everything that is converted, and with what is not."""
    root = tmp_path / "book of tests"
    (root / "book" / "sub").mkdir(parents=True)
    (root / "assets").mkdir()
    (root / "assets" / "a.svg").write_text("<svg/>")
    for name, text in {"_config.yml": CONFIG, "_toc.yml": TOC, "book/references.bib": "@book{a,}\n"}.items():
        (root / name).write_text(text, "utf8")
    for page, (text, _) in PAGES.items():
        (root / f"{page}.md").write_text(text, "utf8")
    cells = [
        {"cell_type": kind, "id": f"c{n}", "metadata": METADATA.get(text, {}), "source": text.splitlines(keepends=True)}
        for n, (kind, text, _) in enumerate(CELLS)
    ]
    book = {"cells": cells, "metadata": {"widgets": {"state": 1}}, "nbformat": 4, "nbformat_minor": 5}
    (root / "book" / "01_one.ipynb").write_text(json.dumps(book), "utf8")
    (root / "book" / "01_one.md").write_text("The source of the notebook, which is no page.")
    return root


def test_every_construct_is_converted_and_the_rest_is_left(tree, tmp_path):
    to = tmp_path / "myst"
    to.mkdir()
    (to / "page_of_yesterday.md").touch()
    made = to_myst.copy(tree, to)
    assert made == ["book/index.md", "book/01_one.ipynb", "book/api.md", "book/sub/more.md"]
    for page, (old, new) in PAGES.items():
        assert (to / f"{page}.md").read_text("utf8") == (old if new is None else new)
    book = json.loads((to / "book" / "01_one.ipynb").read_text("utf8"))
    assert book["metadata"] == {"widgets": {"state": 1}}
    for n, (cell, (kind, old, new)) in enumerate(zip(book["cells"], CELLS, strict=True)):
        source, metadata = (new, {}) if kind == "markdown" else (old, new)
        cell["source"] = "".join(cell["source"])
        assert cell == {"cell_type": kind, "id": f"01_one-c{n}", "metadata": metadata, "source": source}
    files = {path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file()}
    assert files == {*made, "book/references.bib", "assets/a.svg", "myst.yml"}

    api = {"file": "book/api.md", "children": [{"file": "book/sub/more.md"}]}
    assert yaml.safe_load((to / "myst.yml").read_text("utf8")) == {
        "version": 1,
        "project": {
            "title": "A book",
            "authors": [{"name": "A and B"}],
            "copyright": "2026",
            "github": "https://example.org/a/b",
            "bibliography": ["book/references.bib"],
            "toc": [{"file": "book/index.md"}, {"title": "Part", "children": [{"file": "book/01_one.ipynb"}, api]}],
        },
        "site": {"template": "book-theme", "options": {"folders": True}},
    }


def test_as_it_is_means_untouched(tree, tmp_path):
    for page in to_myst.copy(tree, tmp_path / "myst", convert=False):
        assert (tmp_path / "myst" / page).read_bytes() == (tree / page).read_bytes()


LOG = """\
⛔️ book/api.md:3 unknown directive: eval-rst
To suppress this message, add rule: "directive-known" to "error_rules" in your project config
loadFile: loaded book/api.md in 3 ms.
⛔️ book/api.md:9 unknown role: py:class
To suppress this message, add rule: "role-known" to "error_rules" in your project config
⚠️  book/index.md:1 Legacy syntax used for link target, please prepend a '#' to your link url: "decks"
   This may be deprecated in the future.
To suppress this message, add rule: "reference-syntax-valid" with key: "decks" to "error_rules" in your project config
⚠️  book/sub/more.md unknown format for raw content: html
ℹ️  book/index.md Something to know
To suppress this message, add rule: "math-label-lifted" to "error_rules" in your project config
⚠️  book/index.md:2 Legacy syntax used for link target, please prepend a '#' to your link url: "fig-a"
To suppress this message, add rule: "reference-syntax-valid" with key: "fig-a" to "error_rules" in your project config
"""


def run(tree: Path, monkeypatch, script: str) -> None:
    """What `make myst` runs, with a program in MyST's place."""
    program = tree.parent / "myst"
    program.write_text(f'#!/bin/sh\ntest "$*" = "--debug build --site" || exit 9\n{script}\n')
    program.chmod(0o755)
    monkeypatch.setattr(myst_diagnostics, "ROOT", tree)
    monkeypatch.setattr("sys.argv", ["myst_diagnostics", os.path.relpath(program)])
    myst_diagnostics.main()


SITE = "mkdir -p _build/site/content && for n in 1 2 3 4; do echo {} > _build/site/content/$n.json; done"


def test_any_number_of_complaints_is_a_success(tree, monkeypatch, capsys):
    (tree.parent / "log").write_text(LOG)
    theme = "grep -q 'template: theme' myst.yml && test -f theme/template.yml || exit 1"
    run(tree, monkeypatch, f"{theme}; {SITE}; case $PWD in *as-it-is) cat ../../../../log >&2; esac")
    said = capsys.readouterr().out
    assert said.splitlines() == [
        "| MyST complains of | as it is | converted |",
        "| --- | ---: | ---: |",
        "| reference-syntax-valid | 2 | 0 |",
        "| unknown directive: eval-rst | 1 | 0 |",
        "| unknown role: py:class | 1 | 0 |",
        "| other | 1 | 0 |",
        "| in all | 5 | 0 |",
    ]
    assert (tree / "_build" / "myst" / "diagnostics.md").read_text("utf8") == said
    assert (tree / "_build" / "myst" / "as-it-is.log").read_text("utf8") == LOG


@pytest.mark.parametrize("script", [f"{SITE}; echo no node; exit 1", f"{SITE}; echo no node; rm _build/site/*/4.json"])
def test_a_book_that_could_not_be_read_is_a_failure(tree, monkeypatch, capsys, script):
    with pytest.raises(SystemExit, match=r"(?s)no node.*MyST could not read the book") as failed:
        run(tree, monkeypatch, script)
    assert failed.value.code and not capsys.readouterr().out


def test_the_book_keeps_its_links_and_what_is_left_is_written_down(tmp_path):
    prose, labels = [], set()
    for page in to_myst.copy(ROOT, tmp_path / "myst"):
        text = (tmp_path / "myst" / page).read_text("utf8")
        cells = json.loads(text)["cells"] if page.endswith(".ipynb") else [{"cell_type": "markdown", "source": text}]
        labels |= {cell["metadata"]["label"] for cell in cells if "label" in cell.get("metadata", {})}
        prose += [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    text = "\n\n".join(prose)
    labels |= set(re.findall(r"^(?:\(|:label: )([\w-]+)", text, re.M))
    wanted = set(re.findall(r"(?:\]\(#|\{(?:ref|numref)\}`)([\w-]+)", text))
    assert {"decks", "ex-03-twice", "fig-unmasked"} <= wanted <= labels, wanted - labels
    assert "{solution-" not in text
    left = set(re.findall(r"^ *(?:`{3,}|:{3,})\{([\w-]+)\}", text, re.M)) - MYST
    section = (ROOT / "CONTRIBUTING.md").read_text("utf8").split("## Leave Jupyter Book 1")[1].split("\n## ")[0]
    assert {"eval-rst", "speed-table"} <= left <= set(re.findall(r"`([\w-]+)`", section)), left
