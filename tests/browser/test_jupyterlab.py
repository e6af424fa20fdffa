"""The ScoreExplorer in JupyterLab, with a kernel behind it: what the page shows and what Python holds agree."""

import os
import subprocess
import sys
import time

import nbformat
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

CELLS = [
    "from attnlib.widgets import ScoreExplorer\n"
    "e = ScoreExplorer(['left', 'right'], query=[1, 0], keys=[[-1, 0], [1, 0]])\ne",
    "print(e.query, e.key[0], [round(w, 2) for w in e.weights])",
    "e.query, e.temperature = [0.0, 2.0], 0.5",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab that has one notebook open."""
    home = tmp_path_factory.mktemp("lab")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, home / "t.ipynb")
    log = home / "log.txt"
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={home}", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with open(log, "w") as output:
        environment = {**os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config")}
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    try:
        for _ in range(120):
            text = log.read_text()
            if "is running at" in text:
                break
            assert server.poll() is None, text
            time.sleep(0.5)
        port = text.split("http://127.0.0.1:")[1].split("/")[0]
        yield f"http://127.0.0.1:{port}/lab/tree/t.ipynb?reset"
    finally:
        server.terminate()
        server.wait(20)


def test_figure_and_kernel_follow_each_other(lab, browser):
    context = browser.new_context(viewport={"width": 1400, "height": 1300})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(lab)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    expect(cells).to_have_count(3, timeout=60_000)
    expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first).to_be_visible(timeout=60_000)

    def run(n: int):
        cells.nth(n).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")

    def kernel_says(text: str):
        # a change travels to the kernel by its own way: ask until it has arrived
        for _ in range(20):
            run(1)
            page.wait_for_timeout(500)
            said = cells.nth(1).locator(".jp-OutputArea-output")
            if said.count() and text in said.first.inner_text():
                return
        pytest.fail(f"the kernel says {said.first.inner_text()!r}, the figure made it {text!r}")

    run(0)
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
    run(2)
    expect(figure.locator(".se-place")).to_contain_text("(0.00, 2.00)")
    expect(figure.locator(".attn-readout").first).to_have_text("0.50")
    expect(weights).to_have_text(["0.60", "0.40"])
    context.close()
