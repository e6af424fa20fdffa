"""`make long`: every comparison of the book with three rates or more, for 1, 4 and 16 times the steps of its chapter
unless it names other `budgets`.

    python -m scripts.long_runs          all chapters, one process a core; hours
    python -m scripts.long_runs 07 08    some

A chapter's own cells are run, so that there is one definition of an experiment. Each training is written into
attnlib/course/long_runs.json when it ends: a run that was stopped goes on where it was.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from attnlib.course.comparison import recording
from attnlib.course.long_runs import LONG_RUNS
from scripts.kernel import KERNEL_ENVIRONMENT
from scripts.notebooks import cells_of, choose


def compares(chapter: Path) -> bool:
    """Whether a chapter makes a comparison."""
    return "compare(" in "".join(cell.source for cell in cells_of(chapter).cells if cell.cell_type == "code")


def run(chapter: Path) -> None:
    """Run a chapter's cells in this process, its comparisons for all budgets."""
    shell = InteractiveShell.instance()
    with recording(LONG_RUNS):
        for cell in cells_of(chapter).cells:
            if cell.cell_type == "code":
                shell.run_cell(cell.source, store_history=True).raise_error()


def main(names: list[str]) -> int:
    """Run the chapters side by side, each in a process of its own; says which failed."""
    chosen = [chapter for name in names or [None] for chapter in choose(name) if compares(chapter)]
    environment = os.environ | KERNEL_ENVIRONMENT | {"MPLBACKEND": "agg"}

    def in_process(chapter: Path) -> str | None:
        print(f"{chapter.stem}: begun", flush=True)
        code = f"from pathlib import Path; from scripts.long_runs import run; run(Path({str(chapter)!r}))"
        done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        print(f"{chapter.stem}: {'done' if done.returncode == 0 else done.stdout[-2000:]}", flush=True)
        return chapter.stem if done.returncode else None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [stem for stem in pool.map(in_process, chosen) if stem]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
