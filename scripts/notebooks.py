"""From book/NN_name.md, which people write and review, to the executed book/NN_name.ipynb beside it.

    python -m scripts.notebooks execute              run the stale chapters
    python -m scripts.notebooks execute 01 --force   run one, stale or not
    python -m scripts.notebooks check                fail when a pair does not belong together (runs nothing)

jupytext reads the source and nbclient runs it; what is ours is to make the result reproducible to the
byte, and to notice when it is out of date. The pages and the tests use the .ipynb; from it
website/student_notebooks.py makes the notebooks that people open.
"""

import argparse
import json
import os
import re
import sys
import time
import uuid
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

from attnlib.course.book import BOOK, expand_roles, repository
from attnlib.figures.page import STATE, VIEW
from scripts.fingerprint import fingerprint
from scripts.kernel import KERNEL_ENVIRONMENT, no_ports

LIMIT = 60  # seconds that a page may run
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}  # tags of cells whose code is not seen at first


# --- what a chapter is ------------------------------------------------------------------------------


def chapters() -> list[Path]:
    """Sources of the pages that run."""
    return [p for p in sorted(BOOK.glob("*.md")) if re.search(r"^kernelspec:", p.read_text("utf8")[:800], re.M)]


def choose(name: str | None) -> list[Path]:
    """The chapters meant by `01` or `01_rnn_language_model`; all without a name."""
    if name is None:
        return chapters()
    chosen = [p for p in chapters() if name in (p.stem, p.stem.split("_")[0])]
    if not chosen:
        raise SystemExit(f"There is no chapter {name!r}; there are: {', '.join(p.stem for p in chapters())}.")
    return chosen


# --- from the source to cells -----------------------------------------------------------------------


def times() -> dict:
    """What `make times` has measured: `machine`, in words, and `seconds` by page."""
    try:
        return json.loads((BOOK / "times.json").read_text("utf8"))
    except FileNotFoundError:
        return {"machine": "", "seconds": {}}


def reading_minutes(cells: list) -> float:
    """How long a page reads, 200 words a minute and a line of code in 3 seconds, without what it folds away."""
    code = "\0"  # marks the lines of code
    text = "\n".join(
        cell.source if cell.cell_type == "markdown" else re.sub("^", code, cell.source, flags=re.M)
        for cell in cells
        if not FOLDED & set(cell.metadata.get("tags", []))
    )
    text = re.sub(r":::\{solution-start\}.*?:::\{solution-end\}|:::\{dropdown\}.*?\n:::", "", text, flags=re.S)
    lines = [line for line in text.splitlines() if line and not line.startswith(":")]  # without directives' options
    words = sum(len(line.split()) for line in lines if not line.startswith(code))
    return words / 200 + sum(line.startswith(code) for line in lines) * 3 / 60


def cells_of(source: Path):
    """The notebook that the source describes, not yet run."""
    notebook = jupytext.read(source)
    filled = {
        "@REPOSITORY@": repository()["url"],
        "@READING@": f"about {max(5, round(reading_minutes(notebook.cells)))} minutes",
        "@RUNNING@": f"{times()['seconds'].get(source.stem, '?')} s",
    }
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"c{number:03d}"
        for mark, words in filled.items():
            cell.source = cell.source.replace(mark, words)
        if cell.cell_type == "markdown":
            cell.source = expand_roles(cell.source)
        else:
            cell.outputs, cell.execution_count = [], None
    notebook.metadata.pop("jupytext", None)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


class Stale(ValueError):
    """A page without outputs of the code that it has now."""


def with_outputs(source: Path):
    """A page as it reads now, with the outputs of its last run: words and tags are tried without running anything.

    Raises:
        Stale: It was never run, or its code is not what was run.
    """
    if not source.with_suffix(".ipynb").exists():
        raise Stale("it was never run: `make execute` runs it")
    stored = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    notebook = cells_of(source)
    ran, now = ([cell for cell in n.cells if cell.cell_type == "code"] for n in (stored, notebook))
    if [cell.source for cell in ran] != [cell.source for cell in now]:
        raise Stale("its code has changed since it was run: `make execute` runs it")
    for before, cell in zip(ran, now, strict=True):
        cell.outputs, cell.execution_count = before.outputs, before.execution_count
    notebook.metadata = stored.metadata
    return notebook


# --- from cells to a reproducible notebook ----------------------------------------------------------


def run(notebook, name: str):
    """Execute every cell in a fresh kernel; return the notebook and the seconds from the first cell to the last."""
    code, clock = [c for c in notebook.cells if c.cell_type == "code"], []
    with tqdm(total=len(code), desc=name, unit="cell") as bar, no_ports() as config:

        def begins(cell, cell_index):
            clock.append(time.perf_counter())

        def done(cell, cell_index, execute_reply):
            clock.append(time.perf_counter())
            bar.update()

        client = NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,  # where a print is cut into pieces depends on timing
            resources={"metadata": {"path": str(BOOK)}},
            on_cell_execute=begins,
            on_cell_executed=done,
            config=config,
        )
        client.execute()
    notebook.metadata["language_info"].pop("version", None)  # another 3.11.x must not be a change
    return with_stable_widget_ids(notebook, name), clock[-1] - clock[0] if clock else 0.0


def with_stable_widget_ids(notebook, name: str):
    """Replace the random ids of widgets by ids in order of appearance, and drop widgets nobody sees."""
    state = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    seen: list[str] = []

    def visit(model: str) -> None:
        if model in state and model not in seen:
            seen.append(model)
            for child in re.findall(r"IPY_MODEL_(\w+)", json.dumps(state[model], sort_keys=True)):
                visit(child)

    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if view := output.get("data", {}).get(VIEW):
                visit(view["model_id"])
    stable = {model: uuid.uuid5(uuid.NAMESPACE_URL, f"{name}/{n}").hex for n, model in enumerate(seen)}
    for model in [m for m in state if m not in stable]:
        del state[model]
    if not state:
        notebook.metadata.pop("widgets", None)
    text = nbformat.writes(notebook)
    for old, new in stable.items():
        text = text.replace(old, new)
    notebook = nbformat.reads(text, as_version=4)
    if stable:
        part = notebook.metadata["widgets"][STATE]
        part["state"] = {model: part["state"][model] for model in sorted(part["state"])}
    return notebook


def execute(source: Path) -> float:
    """Run one chapter and write its notebook, whole or not at all; return the seconds that it ran."""
    target = source.with_suffix(".ipynb")
    mark = fingerprint(source)  # of what is run, should it be edited meanwhile
    notebook, seconds = run(cells_of(source), source.stem)
    notebook.metadata["attnlib"] = {"fingerprint": mark}
    save(notebook, target)
    return seconds


def refill(source: Path) -> bool:
    """Put new words into a notebook, where its code is what was run; whether nothing else was wrong with it."""
    target = source.with_suffix(".ipynb")
    if made_from(target) != fingerprint(source):
        return False
    try:
        save(with_outputs(source), target)
    except Stale:  # the same code, in other cells
        return False
    return not problems(source)


def save(notebook, target: Path) -> None:
    """Write a notebook whole or not at all."""
    scratch = target.with_suffix(".partial")
    nbformat.write(notebook, scratch)
    scratch.replace(target)


# --- what a notebook was made from ------------------------------------------------------------------


def made_from(target: Path) -> str | None:
    """The fingerprint of what a notebook was made from; None where there is none, or a merge has cut it up."""
    try:
        return json.loads(target.read_text("utf8"))["metadata"]["attnlib"]["fingerprint"]
    except (OSError, ValueError, KeyError):
        return None


def slowness(source: Path) -> list[str]:
    """What is wrong with the time that a page runs: `make times` measures it, and no other run mends it."""
    seconds = times()["seconds"].get(source.stem)
    if seconds is None:
        return ["nobody knows how long it runs: `make times` measures it"]
    return [f"it runs {seconds} s, and a page may run {LIMIT}"] if seconds > LIMIT else []


def problems(source: Path) -> list[str]:
    """Everything that keeps a notebook from being what its source says and a reader may see."""
    target = source.with_suffix(".ipynb")
    if not target.exists():
        return ["has no .ipynb beside it"]
    try:
        stored = nbformat.read(target, as_version=4)
    except Exception as error:  # whatever a merge conflict has left there
        return [f"its .ipynb cannot be read: {type(error).__name__}"]
    found = []

    def content(notebook):
        return [(c.cell_type, c.source, dict(c.metadata)) for c in notebook.cells]

    if content(stored) != content(cells_of(source)):
        found.append("its cells differ from the .md")
    elif made_from(target) != fingerprint(source):
        found.append("attnlib or requirements.txt changed since it was run")
    code = [c for c in stored.cells if c.cell_type == "code"]
    counts = [c.execution_count for c in code]
    if counts != list(range(1, len(code) + 1)):
        found.append(f"its cells were not run once each, in order: {counts}")
    for number, cell in enumerate(code):
        tags = cell.metadata.get("tags", [])
        where = f"code cell {number + 1}"
        if any(o.output_type == "error" for o in cell.outputs):
            found.append(f"{where} stores an error")
        image = any(m.startswith("image/") for o in cell.outputs for m in o.get("data", {}))
        if image and not cell.metadata.get("mystnb", {}).get("image", {}).get("alt"):
            found.append(f"{where} shows an image without alt text (mystnb.image.alt)")
        if re.search(r"^\s*#\s*(NBVAL|PYTEST_VALIDATE)_", cell.source, re.M):
            found.append(f"{where} steers the tests by a comment, which nobody counts: use a tag")
        if "nbval-skip" in tags:
            found.append(f"{where} is skipped by the tests")
        # A cell whose output is not compared may claim something; then what it claims is asserted.
        following = [c.source for c in code[number : number + 3]]
        if (
            "nbval-ignore-output" in tags
            and "no-claim" not in tags
            and not any(re.search(r"^\s*assert|assert_close\(|^(?:\w+\.)?claim\(", s, re.M) for s in following)
        ):
            found.append(f"{where} is not compared and no assert follows it (tag it no-claim if it claims nothing)")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("execute", help="run the stale chapters")
    runner.add_argument("chapter", nargs="?", help="only this one: 01 or 01_rnn_language_model")
    runner.add_argument("--force", action="store_true", help="run also what is not stale")
    commands.add_parser("check", help="fail when a notebook is stale or wrong; runs nothing")
    arguments = parser.parse_args()

    if arguments.command == "check":
        found = [f"book/{s.name}: {problem}" for s in chapters() for problem in [*problems(s), *slowness(s)]]
        written = {source.with_suffix(".ipynb") for source in chapters()}
        found += [f"book/{p.name} has no .md beside it" for p in sorted(BOOK.glob("*.ipynb")) if p not in written]
        print("\n".join(found) or f"{len(written)} chapters are up to date.")
        if found:
            print("`make execute` runs what is stale.")
        return 1 if found else 0

    os.environ.update(KERNEL_ENVIRONMENT)
    stale = [s for s in choose(arguments.chapter) if arguments.force or (problems(s) and not refill(s))]
    print(f"{len(stale)} chapter(s) to run{': ' if stale else '.'}{', '.join(s.stem for s in stale)}", flush=True)
    for source in stale:
        try:
            execute(source)
        except CellExecutionError as error:
            reason = error.evalue if error.ename == "DataError" else f"\n{error}"
            print(f"book/{source.name} failed; its notebook was left as it was: {reason}", file=sys.stderr)
            return 1
        if left := problems(source):
            print(f"book/{source.name} ran, but {'; '.join(left)}.", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
