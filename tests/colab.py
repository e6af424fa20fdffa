"""A student's Colab: every chapter as it runs for somebody who opened it there, with its outputs compared.

    python -m tests.colab          all chapters (`make colab`)
    python -m tests.colab 03 10    these

Colab itself cannot be had; what it is made of can:

1. The working tree becomes a repository, and git takes the public address for it.
2. An environment gets the packages that Colab ships (`colab.txt`), in Colab's versions, and nothing else.
3. The setup cell runs in it. It may add packages; it may change none.
4. The students' notebooks run in a folder with nothing beside them, from top to bottom and with nothing written in
   the exercises; then, in the same kernel, the cells of their solutions. nbval compares what all of them print.
"""

import argparse
import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from attnlib.course.book import ROOT, repository, revision, without_magics
from attnlib.figures.page import VIEW
from scripts import notebooks
from scripts.kernel import no_ports

SHIPPED = Path(__file__).with_name("colab.txt")
FOLDER = ROOT / "build" / "colab"
COURSE = FOLDER / "course.git"
ENVIRONMENT = FOLDER / "environment"
PYTHON = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / "python"
#: What was in the environment before the first setup cell ran.
UNTOUCHED = FOLDER / "untouched.json"


class Failed(Exception):
    """Something is not as a student needs it; the message says what, and what helps."""


# --- 1: the course, at its public address -----------------------------------------------------------


def publish(tree: Path, bare: Path, branch: str) -> None:
    """Make a bare repository of a working tree as it stands, changes that nobody has committed included.

    Its one branch has the name that the setup cell asks for. For a release that is a tag, which nobody has set yet.
    """
    shutil.rmtree(bare, ignore_errors=True)
    settings = ["-c", "core.excludesFile=", "-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    # Neither the settings of who works here nor those of a hook that runs the tests may change what is published.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    clean |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> None:
        command = ["git", *settings, f"--git-dir={bare}", f"--work-tree={tree}", *arguments]
        subprocess.run(command, cwd=tree, env=clean, check=True)

    subprocess.run(["git", "init", "--quiet", "--bare", f"--initial-branch={branch}", bare], env=clean, check=True)
    git("add", "--all")
    git("commit", "--quiet", "--message=The working tree")
    git("config", "uploadpack.allowFilter", "true")  # pip asks for a partial clone, as GitHub gives it
    git("config", "uploadpack.allowAnySHA1InWant", "true")


def instead_of(address: str, bare: Path) -> dict[str, str]:
    """Environment variables with which git takes a repository on this disk for the one at an address."""
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{bare.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
    }


# --- 2: what Colab ships ----------------------------------------------------------------------------


def pins(file: Path) -> dict[str, str]:
    """Name → version of a requirements file, names as pip compares them."""
    found = re.findall(r"^([\w.-]+)==(\S+)", file.read_text("utf8"), re.M)
    return {plain(name): version for name, version in found}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def versions() -> dict[str, str]:
    """Name → version of all that is in the environment, its Python included."""
    code = (
        "import importlib.metadata as m, json, platform;"
        "print(json.dumps([['python', platform.python_version()], *([d.name, d.version] for d in m.distributions())]))"
    )
    done = subprocess.run([PYTHON, "-I", "-c", code], capture_output=True, text=True, check=True)
    return {plain(name): version for name, version in json.loads(done.stdout)}


def pip(*arguments: str) -> None:
    """Run this environment's pip on that one."""
    command = [sys.executable, "-m", "pip", "--python", PYTHON, "--quiet", "--disable-pip-version-check", *arguments]
    if subprocess.run(command).returncode:
        raise Failed("Colab's packages could not be installed (see pip's message above): is there a network?")


def provide() -> None:
    """Make the environment, or bring the last run's back to what it was before its setup cell."""
    if restored():
        return
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ENVIRONMENT], check=True)
    # Without dependencies: Colab lacks one (jedi), and then the setup cell brings it. PyTorch's own are another
    # matter, they depend on the machine.
    pip("install", "--no-compile", "--no-deps", "-r", str(SHIPPED))
    pip("install", "--no-compile", "-c", str(SHIPPED), "torch")
    UNTOUCHED.write_text(json.dumps(versions(), indent=1), "utf8")


def restored() -> bool:
    """Whether the last run left an environment that fits; what it added goes, and what it changed comes back."""
    try:
        before, now = json.loads(UNTOUCHED.read_text("utf8")), versions()
    except (OSError, ValueError, subprocess.CalledProcessError):
        return False
    if now["python"] != platform.python_version():
        return False
    if pins(SHIPPED).items() - {(name, version.split("+")[0]) for name, version in before.items()}:
        return False
    if added := sorted(now.keys() - before.keys()):
        pip("uninstall", "--yes", *added)
    if changed := [f"{name}=={version}" for name, version in before.items() if now.get(name) != version]:
        pip("install", "--no-compile", "--no-deps", *changed)
    return versions() == before


# --- 3: the setup cell ------------------------------------------------------------------------------

#: Colab's module for its front end, as far as a live figure asks for it, whether it was asked, and the figure.
MANAGER = "https://example.org/manager"
LIVE_FIGURE = f"""
import sys
import types

asked = []
widgets = types.SimpleNamespace(_installed_url="{MANAGER}")
output = types.SimpleNamespace(enable_custom_widget_manager=lambda: asked.append(True), _widgets=widgets)
sys.modules["google.colab.output"] = output

from attnlib.course.figures import ScoreExplorer

figure = ScoreExplorer(["one", "two"], query=[1.0, 0.5], keys=[[1.0, 0.0], [0.0, 1.0]])
assert asked == [True], "anywidget does not ask Colab for its widget manager"
figure
"""


NOTEBOOKS = ROOT / "notebooks"
ASSIGNMENTS = notebooks.BOOK / "exercises"


def code_of(notebook: Path) -> list[str]:
    return [c.source for c in nbformat.read(notebook, as_version=4).cells if c.cell_type == "code"]


def setup_cell() -> str:
    """The first code cell of whatever a student can open, which is the same everywhere."""
    found: dict[str, list[str]] = {}
    for notebook in sorted([*NOTEBOOKS.rglob("*.ipynb"), *ASSIGNMENTS.glob("*.ipynb")]):
        found.setdefault(code_of(notebook)[0], []).append(notebook.name)
    if len(found) > 1:
        rare = min(found.values(), key=len)
        raise Failed(f"The setup cell of {', '.join(rare)} is not that of the other notebooks.")
    (cell,) = found
    return cell


def imports_of_assignments() -> str:
    """Everything that assignments import; they cannot be run through, they wait for answers."""
    code = without_magics("\n".join(cell for path in ASSIGNMENTS.glob("*.ipynb") for cell in code_of(path)))
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(sorted({ast.unparse(node) for node in nodes}))


#: Colab's IPython asks for jedi, and Colab leaves it out. pip puts that right and may bring jedi's newest parser
#: along, which nothing else uses.
WITH_JEDI = {"parso"}


def replaced(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """What was there and is no longer, or in another version."""
    gone = sorted(name for name in before.keys() - WITH_JEDI if after.get(name) != before[name])
    return [f"{name} {before[name]} → {after.get(name, 'nothing')}" for name in gone]


def said(notebook, number: int) -> str:
    """What a cell printed."""
    return "".join(output.get("text", "") for output in notebook.cells[number].outputs)


def install_course() -> list[str]:
    """Run the setup cell, and what comes first after it, in one kernel; return what it has added."""
    # What Colab does not ship comes in the book's versions: no new release turns the tests red on a Monday morning.
    constraints = FOLDER / "constraints.txt"
    rest = pins(ROOT / "requirements.txt").items()
    constraints.write_text("".join(f"{name}=={v}\n" for name, v in rest if name not in pins(SHIPPED)), "utf8")

    before = versions()
    where = "import attnlib\nprint(attnlib.__file__)"
    cells = [setup_cell(), where, imports_of_assignments(), LIVE_FIGURE]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with tempfile.TemporaryDirectory(prefix="colab-") as folder, no_ports() as config:
        options = {"kernel_name": "colab", "resources": {"metadata": {"path": folder}}, "config": config}
        client = NotebookClient(notebook, timeout=900, **options)
        try:
            client.execute(env=os.environ | {"PIP_CONSTRAINT": str(constraints)})
        except CellExecutionError as error:
            printed = said(notebook, 0)
            raise Failed(f"What follows the setup cell fails. The setup cell printed:\n{printed}\n{error}") from error
    if "ERROR" in said(notebook, 0):
        raise Failed(f"pip complains in the setup cell:\n{said(notebook, 0)}")
    if not said(notebook, 1).startswith(str(ENVIRONMENT)):
        raise Failed(f"attnlib does not come from the setup cell, but from {said(notebook, 1)}")

    shown = notebook.cells[3].outputs[0]
    told = shown.metadata.get(VIEW, {}).get("colab", {}).get("custom_widget_manager")
    if shown.data.keys() != {VIEW, "image/png", "text/plain"} or told != {"url": MANAGER}:
        raise Failed(f"A live figure is shown in Colab as {sorted(shown.data)}, with the widget manager {told}.")

    after = versions()
    if changed := replaced(before, after):
        raise Failed(
            f"The setup cell changes what Colab ships: {'; '.join(changed)}.\n"
            "A range in pyproject.toml asks for more than Colab has: loosen it, or do without."
        )
    check = subprocess.run([PYTHON, "-m", "pip", "check"], capture_output=True, text=True)
    if check.returncode:
        raise Failed(f"After the setup cell, packages do not fit together:\n{check.stdout}")
    return [f"{name} {after[name]}" for name in sorted(after.keys() - before.keys())]


# --- 4: the chapters --------------------------------------------------------------------------------

#: For nbval. New releases of Pygments write quotes as they are, Colab's writes entities; a browser shows the same.
SAME = """
[double quotes]
regex: &quot;
replace: "

[single quotes]
regex: &#39;
replace: '
"""


def as_a_student() -> None:
    """Let this process, and all that it starts, see what a student's kernel sees."""
    for name in [n for n in os.environ if n.startswith(("GIT_", "IPYTHON", "JUPYTER", "PYTHON"))]:
        del os.environ[name]  # PYTHONPATH above all: the course must come from the setup cell
    kernel = FOLDER / "jupyter" / "kernels" / "colab" / "kernel.json"
    kernel.parent.mkdir(parents=True, exist_ok=True)
    start = [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": start, "display_name": "A student's Colab", "language": "python"}), "utf8")
    os.environ.update(notebooks.KERNEL_ENVIRONMENT)
    os.environ.update(instead_of(repository()["url"], COURSE))
    os.environ.update(
        PYTHONNOUSERSITE="1",
        PYDEVD_DISABLE_FILE_VALIDATION="1",  # or each kernel says on the terminal how it could be debugged
        JUPYTER_PATH=str(FOLDER / "jupyter"),
        IPYTHONDIR=str(FOLDER / "ipython"),
        ATTNLIB_DATA=str(FOLDER / "data"),  # corpora are fetched here as well, by Colab's pip
    )


def handed_out(page: Path):
    """The notebook of a student and below it the cells of its solutions; None where a page has none.

    All have the outputs of the page: what waits in an exercise is stored without one, and compared all the same.
    """
    student, solutions = NOTEBOOKS / page.name, NOTEBOOKS / "solutions" / page.name
    if not student.exists():
        return None
    notebook = nbformat.read(student, as_version=4)
    there = {cell.id for cell in notebook.cells}
    if solutions.exists():
        notebook.cells += [c for c in nbformat.read(solutions, as_version=4).cells if c.id not in there]
    stored = {cell.id: cell for cell in nbformat.read(page, as_version=4).cells if cell.cell_type == "code"}
    for cell in (cell for cell in notebook.cells if cell.id in stored):
        cell.outputs, cell.execution_count = stored[cell.id].outputs, stored[cell.id].execution_count
    if left := stored.keys() - {cell.id for cell in notebook.cells}:
        raise Failed(f"{page.name}: neither the student's notebook nor its solutions have the cells {sorted(left)}.")
    return notebook


def compare(chosen: list[Path], jobs: str) -> None:
    """Run notebooks under nbval, each alone in a folder."""
    if not PYTHON.exists():
        raise Failed("There is no environment yet: `python -m tests.colab --only environment` makes it.")
    with tempfile.TemporaryDirectory(prefix="colab-") as folder:
        paths, report, same, cells = [], Path(folder) / "report.xml", Path(folder) / "same.cfg", 0
        same.write_text(SAME, "utf8")
        took = notebooks.times()["seconds"]
        for page in sorted(chosen, key=lambda page: -took.get(page.stem, 0)):
            place = Path(folder) / page.stem
            if (notebook := handed_out(page)) is not None:
                place.mkdir()
                nbformat.write(notebook, place / page.name)
            else:  # a page about the book has the book beside it
                shutil.copytree(notebooks.BOOK, place)
            paths.append(str(place / page.name))
            cells += len(code_of(place / page.name))
        # Cells have an order, also where PYTEST_ADDOPTS shuffles tests.
        command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-q", *paths]
        command += ["--nbval", "--nbval-kernel-name", "colab"]
        command += ["--nbval-sanitize-with", str(same), "-c", str(ROOT / "pyproject.toml"), f"--rootdir={folder}"]
        command += ["-p", "conftest", "-p", "no:cacheprovider", "-n", jobs, "--dist", "loadfile"]
        command += ["--no-loadscope-reorder"]  # the longest first, so that none is left at the end for one worker alone
        command += [f"--junitxml={report}"]
        if subprocess.run(command, cwd=ROOT).returncode:
            raise Failed("A chapter is not in Colab what it is in the book: see above.")
        run = report.read_text("utf8").count("<testcase ")
        if run != cells:
            raise Failed(f"{cells} cells were to be run, and {run} were.")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.colab", description=__doc__.split("\n")[0])
    parser.add_argument("chapter", nargs="*", help="only these: 03 or 03_attention_step_by_step")
    parser.add_argument("--jobs", default="2", help="how many chapters run at a time (default: 2)")
    parser.add_argument("--only", choices=("environment", "chapters"), help="make it, or run them in what was made")
    arguments = parser.parse_args()
    names = arguments.chapter or [None]
    chosen = [source.with_suffix(".ipynb") for name in names for source in notebooks.choose(name)]
    chosen = [notebook for notebook in chosen if code_of(notebook)]
    if not chosen:
        parser.error("there is nothing to run in that page")
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - start:4.0f} s] {text}", flush=True)

    FOLDER.mkdir(parents=True, exist_ok=True)
    as_a_student()
    try:
        if arguments.only != "chapters":
            say(f"the working tree as it stands, committed or not, at {repository()['url']}")
            publish(ROOT, COURSE, revision())
            say(f"the packages that Colab ships, in {ENVIRONMENT.relative_to(ROOT)}")
            provide()
            say("the setup cell")
            say(f"it added {', '.join(install_course())}, and replaced nothing that Colab uses")
        if arguments.only != "environment":
            say(f"{len(chosen)} notebooks, {arguments.jobs} at a time")
            compare(chosen, arguments.jobs)
            say("all outputs are as they are stored")
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
