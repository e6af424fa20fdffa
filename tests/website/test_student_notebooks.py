"""website/student_notebooks.py and what it is made of: what people open has no MyST and no solution in it."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
import yaml
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnlib.course.book import BOOK, ROOT, site
from attnlib.figures.page import VIEW
from website import notebook_cells, student_notebooks
from website.plain_markdown import PlainMarkdown
from website.references import References, Unknown

STUDENTS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "notebooks" / "solutions").glob("*.ipynb"))
ASSIGNMENTS = sorted((BOOK / "exercises").glob("*.ipynb"))

BIBLIOGRAPHY = "https://x.org/book/bibliography.html"


@pytest.fixture(scope="module")
def plain() -> PlainMarkdown:
    return PlainMarkdown(References("https://x.org/book", {"fig-plane": "03.html#fig-plane", "ex-a": "03.html#ex-a"}))


# --- plain Markdown ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a {cite}`bahdanau2015neural`.", f"a [[Bahdanau et al. 2015]]({BIBLIOGRAPHY}#bahdanau2015neural)."),
        ("{cite:t}`luong2015effective` say", f"[Luong et al. (2015)]({BIBLIOGRAPHY}#luong2015effective) say"),
        ("in {numref}`fig-plane`", "in [the figure](https://x.org/book/03.html#fig-plane)"),
        ("{ref}`the *first* <ex-a>`", "[the *first*](https://x.org/book/03.html#ex-a)"),
        ("[why $1/\\sqrt{d}$](fig-plane)", "[why $1/\\sqrt{d}$](https://x.org/book/03.html#fig-plane)"),
        ("[](#fig-plane)", "[fig plane](https://x.org/book/03.html#fig-plane)"),
        ("[A](exercises/a03_scores.ipynb)", "[A](https://x.org/book/exercises/a03_scores.html)"),
        ("[web](https://example.org/a)", "[web](https://example.org/a)"),
        ("code `a[0](b)` and $a[0](b)$", "code `a[0](b)` and $a[0](b)$"),
        ("(fig-plane)=\n## Title", "## Title"),
        ("```python\n[a](b)\n```\n[w](fig-plane)", "```python\n[a](b)\n```\n[w](https://x.org/book/03.html#fig-plane)"),
        (":::{exercise} Two $q$\n:label: ex-a\n\nDo `it`.\n:::", "### Exercise: Two $q$\n\nDo `it`."),
        (":::{dropdown} Hint\nUse $a$.\n:::", "<details>\n<summary>Hint</summary>\n\nUse $a$.\n\n</details>"),
        ("::::{admonition} Bet\n:class: tip\n\nA.\n\nB.\n::::", "> **Bet**\n>\n> A.\n>\n> B."),
    ],
)
def test_myst_in_a_notebook(source, shown, plain):
    assert plain.text(source) == shown


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{mermaid}`x`", "role {mermaid}"),
        (":::{tab-set}\nx\n:::", "directive ':::{tab-set}'"),
        ("```{raw} html\nx\n```", "directive '```{raw} html'"),
        (":::{dropdown} Hint\nx", "nothing closes ':::{dropdown} Hint'"),
        ("{cite}`nobody1999`", "no 'nobody1999'"),
        ("{ref}`ex-a` does it", "{ref}`ex-a` has no words"),
        ("[x](fig-nowhere)", "'fig-nowhere' leads nowhere"),
    ],
)
def test_what_a_notebook_does_not_know_is_named(source, words, plain):
    with pytest.raises(Unknown, match=re.escape(words)):
        plain.text(source)


# --- what is whose ----------------------------------------------------------------------------------


def lines(source: str, *tags: str, outputs=(), **mystnb):
    return new_code_cell(source, metadata={"tags": list(tags), "mystnb": mystnb}, outputs=list(outputs))


START, END = ":::{solution-start} ex-a\n:class: dropdown\n:::", ":::{solution-end}\n:::"


def kinds(*cells) -> list[tuple[str, str]]:
    return [(piece.kind, piece.cell.source.strip()) for piece in notebook_cells.pieces(new_notebook(cells=cells))]


def test_an_exercise_lasts_until_the_next_heading_and_a_solution_until_its_gate():
    exercise = ":::{exercise} A\n:label: ex-a\n\nDo.\n:::"
    assert kinds(
        new_markdown_cell(f"Before.\n\n## Exercises\n\nWrite.\n\n{exercise}"),
        lines("def a(): ..."),
        new_markdown_cell(f":::{{dropdown}} Hint\nH.\n:::\n\n{START}\n\nSo."),
        lines("def a(): return 1"),
        new_markdown_cell(f"More.\n\n{END}\n\n{exercise}\n\n{START}\n\nProof.\n\n{END}\n\n## After\n\nEnd."),
        lines("x = 1"),
    ) == [
        ("chapter", "Before."),
        ("chapter", "## Exercises\n\nWrite."),
        ("exercise", exercise),
        ("exercise", "def a(): ..."),
        ("exercise", ":::{dropdown} Hint\nH.\n:::"),
        ("solution", "So."),
        ("solution", "def a(): return 1"),
        ("solution", "More."),
        ("exercise", exercise),
        ("solution", "Proof."),
        ("chapter", "## After\n\nEnd."),
        ("chapter", "x = 1"),
    ]


def test_what_follows_a_repair_belongs_to_it():
    found = kinds(
        new_markdown_cell(f":::{{exercise}} A\nx\n:::\n\n{START}"),
        lines("fixed()", "repair"),
        new_markdown_cell(f"{END}\n\n## The bill"),
        lines("both()"),
    )
    assert [kind for kind, _ in found] == ["exercise", "solution", "solution", "solution"]


def test_a_live_figure_is_its_picture_and_says_where_it_is_alive(plain):
    data = {VIEW: {"model_id": "a"}, "image/png": "aGk=", "text/plain": "Figure"}
    output = new_output("execute_result", data=data, execution_count=4)
    cell = lines("Figure(1)", "hide-input", "slide", outputs=[output], image={"alt": "A  plane."})
    shown, below = notebook_cells.code(cell, plain, "https://x.org/03.html")
    assert shown.outputs[0].data == {"image/png": "aGk=", "text/plain": "Figure"}
    assert shown.outputs[0].metadata == {"image/png": {"alt": "A plane."}}
    assert shown.metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    assert "[the page](https://x.org/03.html)" in below.source


def test_a_caption_stands_below_its_figure(plain):
    caption = {"name": "fig-a", "caption": "As in {numref}`fig-plane`."}
    cell = lines("draw()", "nbval-ignore-output", "hide-output", figure=caption)
    shown, below = notebook_cells.code(cell, plain, "")
    assert below.source == "**Figure.** As in [the figure](https://x.org/book/03.html#fig-plane)."
    assert shown.metadata == {"tags": ["nbval-ignore-output"]}


# --- the notebooks of the book ----------------------------------------------------------------------


def test_every_notebook_is_what_its_page_gives():
    assert student_notebooks.problems() == []
    without_solutions = {p.name for p in STUDENTS} - {p.name for p in SOLUTIONS}
    assert len(STUDENTS) == 26 and without_solutions == {"your_own_weights.ipynb"}


def test_a_notebook_that_differs_is_named_and_one_too_many(tmp_path, monkeypatch):
    source = BOOK / "03_attention_step_by_step.md"
    monkeypatch.setattr(student_notebooks, "sources", lambda: [source])
    shutil.copy(ROOT / "_toc.yml", tmp_path)
    monkeypatch.setattr(student_notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(student_notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    both = ["notebooks/03_attention_step_by_step.ipynb", "notebooks/solutions/03_attention_step_by_step.ipynb"]
    assert student_notebooks.problems() == both
    student_notebooks.write()
    assert student_notebooks.problems() == []
    # JupyterLab keeps checkpoints there, and people save their own notebooks
    theirs = [tmp_path / "notebooks" / name for name in ("Untitled.ipynb", ".ipynb_checkpoints/03-checkpoint.ipynb")]
    for path in (tmp_path / "notebooks" / "04_old.ipynb", *theirs):
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    (tmp_path / both[1]).write_text((tmp_path / both[1]).read_text().replace("softmax(-1)", "softmax(0)", 1))
    assert student_notebooks.problems() == ["notebooks/04_old.ipynb", both[1]]
    student_notebooks.write()
    assert student_notebooks.problems() == [] and not (tmp_path / "notebooks" / "04_old.ipynb").exists()
    assert all(path.exists() for path in theirs)


EXTENSIONS = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["parse"]["myst_enable_extensions"]
PARSER = create_md_parser(MdParserConfig(enable_extensions=set(EXTENSIONS)), RendererHTML)


def tokens(text: str) -> list:
    """All tokens that the pages' own parser finds in a text."""
    return [inner for token in PARSER.parse(text) for inner in (token, *(token.children or []))]


def texts(notebook: Path) -> list[str]:
    """All Markdown of a notebook, that of its outputs too."""
    cells = nbformat.read(notebook, as_version=4).cells
    shown = [o.data.get("text/markdown", "") for c in cells for o in c.get("outputs", []) if "data" in o]
    return [cell.source for cell in cells if cell.cell_type == "markdown"] + shown


@pytest.mark.parametrize("notebook", STUDENTS + SOLUTIONS + ASSIGNMENTS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_there_is_no_myst_in_any_notebook(notebook):
    headings = re.findall(r"^#+ (.+)$", "\n".join(texts(notebook)), re.M)
    anchors = {f"#{heading.replace(' ', '-')}" for heading in headings}
    for text in texts(notebook):
        for token in tokens(text):
            assert not token.type.startswith("myst_") and token.type != "colon_fence", (token.type, text)
            assert token.type not in ("math_block_label", "footnote_ref", "span_open"), (token.type, text)
            assert not (token.type == "fence" and token.info.startswith("{")), text
            if token.type in ("link_open", "image"):
                address = token.attrGet("href") or token.attrGet("src")
                here = (notebook.parent / str(address)).resolve()
                assert str(address) in anchors or re.match(r"https?://", str(address)) or here.is_file(), text


def halves(source: Path) -> tuple[str, str]:
    """A page without its solutions, and its solutions alone."""
    parts = re.split(r"^:::\{solution-(?:start|end)\}.*?^:::$", source.read_text("utf8"), flags=re.M | re.S)
    return "\n".join(parts[::2]), "\n".join(parts[1::2])


def strings(node) -> str:
    """All that stands in a notebook."""
    if isinstance(node, dict):
        return strings(list(node.values()))
    return "\n".join(map(strings, node)) if isinstance(node, list) else str(node)


@pytest.mark.parametrize("notebook", STUDENTS, ids=lambda p: p.stem)
def test_no_line_of_a_solution_is_in_the_notebook_of_a_student(notebook):
    given, solved = halves(BOOK / f"{notebook.stem}.md")
    package = "\n".join(path.read_text("utf8") for path in (ROOT / "attnlib").glob("*.py"))  # chapters show some of it
    own = {line.strip() for line in solved.splitlines() if len(line.strip()) > 15}
    own = {line for line in own if line not in given and line not in package}
    shown = strings(json.loads(notebook.read_text("utf8")))
    assert [line for line in own if line in shown] == []
    assert own or notebook.stem == "your_own_weights"


@pytest.mark.parametrize("notebook", SOLUTIONS, ids=lambda p: p.stem)
def test_every_exercise_waits_in_one_notebook_and_is_solved_in_the_other(notebook):
    given, solved = halves(BOOK / notebook.name.replace(".ipynb", ".md"))
    titles = re.findall(r"^:::\{exercise\} (.+)$", given, re.M)
    stubs = re.findall(r"^def \w+\([^)]*\):\n(?:    .*\n)*?    \.\.\.  # yours", given, re.M)
    student = nbformat.read(ROOT / "notebooks" / notebook.name, as_version=4)
    answers = nbformat.read(notebook, as_version=4)
    waiting = [cell for cell in student.cells if cell.cell_type == "code" and "# yours" in cell.source]
    for stub, cell in zip(stubs, waiting, strict=True):
        assert stub in cell.source and cell.outputs == []
    for cells in (student.cells, answers.cells):
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        assert re.findall(r"^### Exercise: (.+)$", text, re.M) == titles
    code = "\n".join(cell.source for cell in answers.cells if cell.cell_type == "code")
    for block in re.findall(r"^```\{code-cell\} ipython3\n(?::tags:.*\n\n)?(.*?)^```$", solved, re.M | re.S):
        assert block.strip() in code
    assert "# yours" not in code
    said = [o.data["text/plain"] for c in answers.cells for o in c.get("outputs", []) if "data" in o]
    assert sum(words.startswith("Right: ") for words in said) == len(set(re.findall(r"^checks\.(\w+)\(", solved, re.M)))


@pytest.mark.parametrize("notebook", STUDENTS + SOLUTIONS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_the_head_leads_to_colab_to_binder_and_to_the_page_and_asks_for_a_gpu_where_it_pays(notebook):
    stored = nbformat.read(notebook, as_version=4)
    head, path = stored.cells[0].source, notebook.relative_to(ROOT).as_posix()
    assert re.search(rf"\[!\[Open in Colab\]\(https:\S+\.svg\)\]\(https://colab\S+/{re.escape(path)}\)", head)
    assert re.search(rf"\[!\[Binder\]\(https:\S+\.svg\)\]\(https://mybinder\S+/{re.escape(path)}\)", head)
    assert f"[The page]({site()}/book/{notebook.stem}.html)" in head
    trains_longer = "\nSCALE = 4 if device" in (BOOK / f"{notebook.stem}.md").read_text("utf8")
    assert stored.metadata.get("accelerator") == ("GPU" if trains_longer else None)
    if notebook in STUDENTS:
        assert ("4 times as many steps" in head) == trains_longer


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("03_attention_step_by_step", "04_masked_softmax"),
        ("09_cost_and_gradients", "10_copy_attention"),
        ("15_scaling_up", None),  # an exhibit is no chapter
        ("bug_perplexity", "bug_questions"),  # in the order of the museum, which is not that of the alphabet
        ("bug_places", None),
        ("your_own_weights", None),
    ],
)
def test_a_notebook_leads_to_the_next_one(name, after):
    text = student_notebooks.onward(BOOK / f"{name}.md")
    here = r"\*\*Next:\*\* \[.+?\]\((\w+)\.ipynb\)"
    in_colab = r"Next:.+ \(\[in Colab\]\(https://colab\S+/notebooks/(\w+)\.ipynb\)\)\.$"
    assert re.findall(here, text) == re.findall(in_colab, text) == ([after] if after else [])
    assert (f"(solutions/{name}.ipynb)" in text) == name.startswith("bug_")
