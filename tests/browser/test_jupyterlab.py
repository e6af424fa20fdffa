"""The figures in JupyterLab, with a kernel behind them: what the page shows and what Python holds agree."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from benchmarks.examples import EXAMPLES
from tests.browser.conftest import LOOK, centre, quick

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab with a notebook of three empty cells, and with that of a student beside it."""
    home = tmp_path_factory.mktemp("lab")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell() for _ in range(3)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, home / "figures.ipynb")
    shutil.copy(ROOT / "notebooks" / "03_attention_step_by_step.ipynb", home / "student.ipynb")
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={home}", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    own = {"PYTHONPATH": str(ROOT), "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config")}
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **own}
    )
    try:
        told = []
        for line in server.stderr:
            told.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+/lab", line):
                break
        else:
            pytest.fail("JupyterLab did not start:\n" + "".join(told))
        # Nobody else reads what it has to say: a full pipe would stop it.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        yield f"{found[0]}/tree"
    finally:
        server.terminate()
        server.wait(20)


def again(act: Callable[[], None], otherwise: str):
    """Do what a user would do once more: while JupyterLab is busy with itself, it may not listen."""
    for _ in range(10):
        try:
            return act()
        except AssertionError:
            continue
    pytest.fail(otherwise)


class Notebook:
    """A notebook of three cells that is open in JupyterLab; its kernel stays the same for all that is run in it."""

    def __init__(self, page):
        self.page = page
        self.cells = page.locator(".jp-Notebook .jp-CodeCell")
        expect(self.cells).to_have_count(3)
        expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first).to_be_visible()

    def write(self, *texts: str):
        for cell, text in zip(self.cells.all(), texts, strict=True):
            content = cell.locator(".cm-content")

            def type_anew(content=content, text=text):
                content.click()
                self.page.keyboard.press("Control+a")
                self.page.keyboard.press("Delete")
                self.page.keyboard.insert_text(text)  # whole: typed by letters, brackets would close themselves
                expect(content).to_have_text(text.replace("\n", ""), timeout=2_000)

            again(type_anew, "a cell does not take a text")

    def run(self, n: int):
        prompt = self.cells.nth(n).locator(".jp-InputPrompt")
        before = prompt.inner_text()

        def start():
            self.cells.nth(n).locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            expect(prompt).not_to_have_text(before, timeout=2_000)

        again(start, f"cell {n} does not run")
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"))

    def said(self) -> str:
        self.run(1)
        output = self.cells.nth(1).locator(".jp-OutputArea-output")
        return output.first.inner_text().strip() if output.count() else ""

    def says(self, right: Callable[[str], bool]) -> str:
        """Ask until the kernel gives the right answer: a change travels to it by a way of its own."""
        for _ in range(25):
            if right(said := self.said()):
                return said
        pytest.fail(f"the kernel says {said!r}")


@pytest.fixture(scope="module")
def notebook(lab, browser):
    context = browser.new_context(viewport={"width": 1400, "height": 1600})
    context.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    page = context.new_page()
    page.goto(f"{lab}/figures.ipynb?reset")
    yield Notebook(page)
    expect.set_options(timeout=5_000)
    context.close()


# The way to the kernel is the same for all of them. `make test` tries it with one, and with what a mouse draws.
@pytest.mark.parametrize("name", quick(EXAMPLES, ["AttentionSurgery"]))
def test_every_figure_follows_its_kernel_and_the_other_way_round(name, notebook):
    example, page = EXAMPLES[name], notebook.page
    notebook.write(
        f"from benchmarks.examples import EXAMPLES\ne = EXAMPLES[{name!r}].make('word')\ne",
        f"print('it is', repr(e.{example.trait}))",
        f"e.{example.trait} = {example.other!r}",
    )
    notebook.run(0)
    control = page.locator(f".attn {example.control}").first
    expect(control).to_be_visible()
    began = notebook.says(lambda said: said.startswith("it is"))

    # with keys that JupyterLab would like to have for itself
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        control.focus()
        page.keyboard.press(key)
    notebook.says(lambda said: said.startswith("it is") and said != began)

    frame = page.locator(".attn .attn-frame").first
    before = frame.evaluate(LOOK)
    notebook.run(2)
    page.wait_for_function(f"([frame, before]) => ({LOOK})(frame) !== before", arg=[frame.element_handle(), before])
    assert page.locator(".attn-stopped").count() == 0
    assert notebook.says(lambda said: said == f"it is {example.other!r}")


@pytest.mark.thorough
def test_of_a_whole_bert_the_kernel_sends_what_is_looked_at(notebook):
    """Twelve layers of twelve heads over sixty tokens."""
    notebook.write(
        "import torch\nfrom attnlib.figures import AlignmentView\n"
        "layers = torch.rand(12, 1, 12, 60, 60).softmax(-1)\n"
        "e = AlignmentView(tuple(layers), range(60), range(60))\ne",
        "print(e.layer, e.head, [round(w, 3) for w in e.weights[''][0][:2]])",
        "e.layer, e.head = 0, 2",
    )
    notebook.run(0)
    figure = notebook.page.locator(".av .attn-frame").first
    cells = figure.locator(".attn-heat-cell")
    assert cells.count() == 3600

    def shows(layer: int, head: int | str):
        said = notebook.says(lambda said: said.startswith(f"{layer} {head} "))
        expected = [float(weight) for weight in re.findall(r"0\.\d+", said)]
        notebook.page.wait_for_function(
            """expected => [...document.querySelectorAll(".av .attn-heat-cell")].slice(0, 2).every((cell, n) =>
                Math.abs(cell.getAttribute("fill-opacity") - expected[n]) < 0.0011)""",
            arg=expected,
        )
        assert figure.locator(".av-missing").is_hidden()

    shows(11, "mean")
    figure.get_by_label("layer").select_option("4")
    figure.get_by_label("head").select_option("7")
    shows(4, 7)
    notebook.run(2)
    shows(0, 2)


def test_what_the_mouse_draws_reaches_the_kernel(notebook):
    notebook.write(
        "from attnlib.course.figures import ScoreExplorer\n"
        "e = ScoreExplorer(['left', 'right'], query=[1, 0], keys=[[-1, 0], [1, 0]])\ne",
        "print([round(w, 2) for w in e.weights])",
        "",
    )
    page = notebook.page
    notebook.run(0)
    weights = page.locator(".attn-frame tbody .se-weight .se-number")
    expect(weights).to_have_text(["0.12", "0.88"])
    x, y = centre(page.locator(".se-query[role=slider] .se-dot"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 400, y, steps=6)  # beyond the rim of the plane, where it stops
    page.mouse.up()
    expect(weights).not_to_have_text(["0.12", "0.88"])
    shown = [float(text) for text in weights.all_inner_texts()]
    notebook.says(lambda said: said == str(shown))


# --- the notebook of a student ------------------------------------------------------------------------


@pytest.mark.thorough  # `make test` runs every cell of it without a window
def test_a_student_runs_all_of_a_notebook_and_then_answers(lab, browser):
    context = browser.new_context(viewport={"width": 1400, "height": 1600})
    page = context.new_page()
    page.goto(f"{lab}/student.ipynb?reset")
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=60_000)
    page.get_by_text("Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()

    def cell(text: str):
        found = page.locator(".jp-Notebook .jp-CodeCell").filter(has_text=text)
        found.scroll_into_view_if_needed()
        return found

    # The last one answers last; none has stopped the run, though nothing is written.
    waiting = cell("checks.looks_everywhere(")
    expect(waiting.locator(".jp-OutputArea-output")).to_contain_text("Not written yet: ", timeout=120_000)
    expect(cell("checks.repeated_words(").locator(".jp-OutputArea-output")).to_contain_text("Not written yet: ")
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0

    figure = page.locator(".jp-Notebook .attn-frame").first  # the code that makes it is folded
    figure.scroll_into_view_if_needed()
    expect(figure).to_be_visible()
    numbers = figure.locator("tbody").first
    before = numbers.inner_text()
    figure.locator(".se-query[role=slider]").focus()
    page.keyboard.press("ArrowLeft")
    expect(numbers).not_to_have_text(before, use_inner_text=True)

    for answer, words in (
        ("torch.linalg.svd(keys).Vh[-1]", "Not yet: "),
        ("torch.linalg.svd(keys[1:] - keys[:1]).Vh[-1]", "Right: "),
    ):
        cell("checks.looks_everywhere(").locator(".cm-content").click()
        page.keyboard.press("Control+a")
        lines = ["def looks_everywhere(keys):", f"return {answer}"]
        page.keyboard.insert_text(f"{lines[0]}\n    {lines[1]}\nchecks.looks_everywhere(looks_everywhere)")
        page.keyboard.press("Control+Enter")
        expect(cell("checks.looks_everywhere(").locator(".jp-OutputArea-output")).to_contain_text(words)
    context.close()


@pytest.mark.thorough
def test_a_translator_is_asked_of_the_kernel(notebook):
    """A notebook does not carry it: the figure's state is light, and the file lies where only Python is."""
    page = notebook.page
    notebook.write(
        "import tempfile\nfrom attnlib.course.figures import Translate\nfrom benchmarks.examples import stand_in\n"
        "e = Translate('the hub', file=stand_in(tempfile.mkdtemp()))\ne",
        "print('it is', e.text, len(e.get_state()['carried']))",
        "e.beams = 2",
    )
    notebook.run(0)
    expect(page.locator(".attn .as-bar").first).to_be_visible()
    page.locator(".attn").get_by_label("English", exact=True).fill("the light")
    notebook.says(lambda said: said == "it is the light 0")
    notebook.run(2)
    expect(page.locator(".attn .tl-details")).to_contain_text("The 2 beams")
    assert page.locator(".attn-stopped").count() == 0
