"""website/folded_cells.py: bars that say what they hold, and claims that are sentences."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document

from attnlib.figures.page import view
from website.folded_cells import FoldedCells, content


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import torch\nfrom torch import nn\nn = 3", "Code: set up"),
        ("def share(x):\n    return fit(x)\n\nclass Model:\n    pass", "Code: define share, define Model"),
        ("runs = compare('race', arms)\nassert runs", "Code: train, check"),
        ("assert_close(a, b)\nassert a", "Code: check"),
        ("x = 1\nprint(x)", "Code: prepare what follows"),
    ],
)
def test_a_bar_says_what_the_code_does(code, words):
    assert content(code, None, "input") == words


def test_a_bar_above_a_table_says_so():
    assert content("print(x)", nodes.container("", nodes.literal_block()), "input") == "Code: make what stands below"
    output = nodes.container("", nodes.table())
    assert content("def row(x): ...\nrun.table('right')", output, "input") == "Code: make this table"
    assert content("show.source(x)", output, "output") == "What it says"
    live = nodes.container("", nodes.raw("", view("a0"), format="html"))
    assert content("import torch\nFigure()", live, "input") == "Code: make this live figure"


def cell(code: str, said: str = "", fold: str | None = None, figure: bool = False) -> nodes.container:
    source = nodes.container("", nodes.literal_block(code, code), nb_element="cell_code_source")
    output = nodes.container("", nodes.literal_block(said, said), nb_element="cell_code_output")
    if figure:
        output += nodes.figure("", ids=["fig-plane"])
    show = "Show code cell {type}"
    made = nodes.container("", source, output, nb_element="cell_code", prompt_show=show, prompt_hide=show)
    if fold:
        made["hide_mode"] = fold
    return made


def transformed(*cells: nodes.container) -> nodes.document:
    document = new_document("book/03", get_default_settings())
    numbers = {"book/03": {"figure": {"fig-plane": (3, 2)}}}
    document.settings.env = SimpleNamespace(docname="book/03", toc_fignumbers=numbers)
    document += cells
    FoldedCells(document).run()
    return document


def test_claims_fold_into_their_sentences_and_an_exercise_that_waits_says_nothing():
    said = "✓ exact match: 0.9\n  held to ≥ 0.5 · cannot\n✓ error: 0.1\n  held to ≤ 0.2"
    document = transformed(
        cell("race.claim(...)", said),
        cell("checks.score(score)", "Not written yet: score returns None."),
        cell("checks.score(score)", "Right: 3 of 3."),
        cell("draw()", fold="input", figure=True),
        cell("x = 1", "an output"),
    )
    claims, waiting, right, figure, plain = document.children
    assert (claims["hide_mode"], claims["classes"]) == ("all", ["claims"])
    assert claims["prompt_show"] == claims["prompt_hide"] == "✓ exact match: 0.9\n✓ error: 0.1"
    assert [len(found.children) for found in (claims, waiting, right)] == [2, 1, 2]
    assert figure["prompt_show"] == "Draw Fig. 3.2"
    assert plain.get("hide_mode") is None
