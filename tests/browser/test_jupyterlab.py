"""The figures in JupyterLab, with a kernel behind them: what the page shows and what Python holds agree."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from benchmarks.examples import EXAMPLES

pytestmark = pytest.mark.browser

CELLS = [
    "from attnlib.course.figures import ScoreExplorer\n"
    "e = ScoreExplorer(['left', 'right'], query=[1, 0], keys=[[-1, 0], [1, 0]])\ne",
    "print(e.query, e.key[0], [round(w, 2) for w in e.weights])",
    "e.query, e.temperature = [0.0, 2.0], 0.5",
]


ROOT = Path(__file__).resolve().parents[2]


def cells_for(name: str) -> list[str]:
    """One of the examples: shown, asked, and moved from Python."""
    example = EXAMPLES[name]
    return [
        f"from benchmarks.examples import EXAMPLES\ne = EXAMPLES[{name!r}].make('word')\ne",
        f"print('it is', repr(e.{example.trait}))",
        f"e.{example.trait} = {example.other!r}",
    ]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab with some notebooks; add the name of one."""
    home = tmp_path_factory.mktemp("lab")
    for name, texts in {"explorer": CELLS, **{name: cells_for(name) for name in EXAMPLES}}.items():
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, home / f"{name}.ipynb")
    log = home / "log.txt"
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={home}", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with open(log, "w") as output:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
        }
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    try:
        for _ in range(120):
            text = log.read_text()
            if "is running at" in text:
                break
            assert server.poll() is None, text
            time.sleep(0.5)
        port = text.split("http://127.0.0.1:")[1].split("/")[0]
        yield f"http://127.0.0.1:{port}/lab/tree/"
    finally:
        server.terminate()
        server.wait(20)


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page, cells: int):
        self.page = page
        self.cells = page.locator(".jp-Notebook .jp-CodeCell")
        expect(self.cells).to_have_count(cells, timeout=60_000)
        idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        expect(idle.first).to_be_visible(timeout=60_000)

    def run(self, n: int):
        prompt = self.cells.nth(n).locator(".jp-InputPrompt")
        before = prompt.inner_text()
        for _ in range(10):  # while JupyterLab is still busy with itself, it may not listen
            self.cells.nth(n).locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            for tenths in range(600):
                self.page.wait_for_timeout(100)
                now = prompt.inner_text()
                if now not in (before, "[*]:"):
                    return
                if now == before and tenths >= 20:
                    break  # it did not listen; while it is busy, do not ask twice
        pytest.fail(f"cell {n} does not run")

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


@pytest.fixture
def notebook(lab, browser):
    contexts = []

    def open_notebook(name: str) -> Notebook:
        context = browser.new_context(viewport={"width": 1400, "height": 1600})
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(f"{lab}{name}.ipynb?reset")
        return Notebook(page, cells=3)

    yield open_notebook
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_figure_follows_its_kernel_and_the_other_way_round(name, notebook):
    example, opened = EXAMPLES[name], notebook(name)
    page = opened.page
    opened.run(0)
    control = page.locator(f".attn {example.control}").first
    expect(control).to_be_visible(timeout=60_000)
    began = opened.says(lambda said: said.startswith("it is"))

    # with keys that JupyterLab would like to have for itself
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        control.focus()
        page.keyboard.press(key)
    opened.says(lambda said: said.startswith("it is") and said != began)

    before = page.locator(".attn .attn-frame").first.inner_text()
    opened.run(2)
    page.wait_for_function(
        "before => document.querySelector('.attn .attn-frame').innerText !== before", arg=before, timeout=20_000
    )
    assert page.locator(".attn-stopped").count() == 0
    assert opened.says(lambda said: said == f"it is {example.other!r}")


def test_the_explorer_by_mouse_and_by_key(notebook):
    opened = notebook("explorer")
    page = opened.page

    def kernel_says(text: str):
        opened.says(lambda said: text in said)

    opened.run(0)
    figure = page.locator(".attn-frame").first
    weights = figure.locator("tbody .se-weight .se-number")
    expect(weights).to_have_text(["0.12", "0.88"], timeout=60_000)
    kernel_says("[1.0, 0.0] [-1.0, 0.0] [0.12, 0.88]")

    # from the figure to Python: by mouse, then by keys that JupyterLab would like to have for itself
    query = figure.locator(".se-query[role=slider]")
    box = query.locator(".se-dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 400, y, steps=6)  # beyond the rim of the plane, where it stops
    page.mouse.up()
    expect(weights).not_to_have_text(["0.12", "0.88"])
    shown = ", ".join(str(float(text)) for text in weights.all_inner_texts())
    kernel_says(f"[-1.0, 0.0] [{shown}]")
    key = figure.locator(".se-key[role=slider]").first
    key.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    kernel_says("[-0.9, 0.1]")

    # from Python to the figure
    opened.run(2)
    expect(figure.locator(".se-place")).to_contain_text("(0.00, 2.00)")
    expect(figure.locator(".attn-readout").first).to_have_text("0.50")
    expect(weights).to_have_text(["0.60", "0.40"])
