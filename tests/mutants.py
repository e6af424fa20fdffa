"""Seed the bugs of tests/bugs one at a time: the tests must notice every one.

    python -m tests.mutants                      all of them
    python -m tests.mutants tanh mask            those with "tanh" or "mask" in their name
    python -m tests.mutants --file decoders.py   those of one file of attnlib

The bugs go into copies of the package, one for each job; the working tree is never touched. A worker for each
copy imports torch once and forks for every bug, which saves most of the time.
"""

import argparse
import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tqdm import tqdm

from tests.bugs import Bug, every_bug

ROOT = Path(__file__).resolve().parents[1]
TIME_LIMIT = 300  # seconds for each test or file; a bug that makes the tests hang is noticed too
HEAVY = ["torch", "torch._dynamo", "hypothesis", "beartype", "jaxtyping", "matplotlib.pyplot", "IPython.display"]


def mutated(bug: Bug, root: Path = ROOT) -> str:
    """The file with the bug in it.

    Raises:
        ValueError: `old` is not there exactly once, or the result is no Python.
    """
    text = (root / "attnlib" / bug.file).read_text("utf8")
    if (n := text.count(bug.old)) != 1:
        raise ValueError(f"{bug.name}: the line to change occurs {n} times in attnlib/{bug.file}: {bug.old!r}")
    text = text.replace(bug.old, bug.new)
    if not bug.file.endswith(".py"):
        return text  # a figure's JavaScript
    try:
        compile(text, bug.file, "exec")
    except SyntaxError as error:
        raise ValueError(f"{bug.name}: with the bug in it, attnlib/{bug.file} is no Python: {error}") from error
    return text


class Worker:
    """A process that runs tests on one copy of the package, again and again."""

    def __init__(self, copy: Path):
        environment = os.environ | {
            "PYTHONPATH": str(copy),
            "PYTHONDONTWRITEBYTECODE": "1",  # stale bytecode would hide a change of the same second and size
            "OMP_NUM_THREADS": "1",
            "TQDM_DISABLE": "1",
        }
        command = [sys.executable, "-m", "tests.mutants", "--worker"]  # cwd comes first on the path
        self.copy, self.said = copy, ""
        self.process = subprocess.Popen(
            command, cwd=copy, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def verdict(self, tests: Sequence[str]) -> str | None:
        """The test that failed first, or None.

        Raises:
            RuntimeError: the tests could not be run, or ran on another package.
        """
        self.process.stdin.write(json.dumps([f"tests/{test}" for test in tests]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"said": "the worker is gone"}')
        if answer.get("package", str(self.copy / "attnlib")) != str(self.copy / "attnlib") or "code" not in answer:
            raise RuntimeError(f"the tests did not run on the copy in {self.copy}: {answer}")
        self.said = answer["said"]
        if answer["code"] == 0:
            return None
        if answer["code"] == 4 and "while loading conftest" in answer["said"]:
            return "the import of the package"
        if answer["code"] not in (1, 2) or not answer["failed"]:  # 2: a test file could not be read
            raise RuntimeError(f"the tests could not be run: {answer}")
        return answer["failed"].removeprefix("tests/")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def work() -> None:
    """Run the tests named in each line that comes in, in a fork; answer with a line."""
    for name in HEAVY:
        importlib.import_module(name)
    gc.freeze()  # or a fork's first collection copies all of the memory that it shares
    for line in sys.stdin:
        tests = json.loads(line)
        limit = TIME_LIMIT * len(tests)
        receiver, sender = os.pipe()
        with tempfile.TemporaryFile("w+") as said:
            if (child := os.fork()) == 0:
                os.close(receiver)
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                os.write(sender, json.dumps(run(tests)).encode())
                os._exit(0)
            os.close(sender)
            if select.select([receiver], [], [], limit)[0]:
                with open(receiver) as pipe:
                    answer = json.loads(pipe.read() or "{}")
            else:
                os.kill(child, signal.SIGKILL)
                os.close(receiver)
                answer = {"code": 1, "failed": f"no end after {limit} s"}
            os.waitpid(child, 0)
            said.seek(0)
            answer["said"] = said.read()[-2000:]
        print(json.dumps(answer), flush=True)


def run(tests: list[str]) -> dict:
    """Run tests until one fails: pytest's exit code, that test, and where the package came from."""
    import pytest

    failed = []

    class Listener:
        def pytest_runtest_logreport(self, report):
            failed.extend([report.nodeid] if report.failed else [])

        def pytest_collectreport(self, report):
            failed.extend([f"{report.nodeid}, which cannot be read"] if report.failed else [])

    unneeded = [option for plugin in ("anyio", "cacheprovider", "nbval", "xdist") for option in ("-p", f"no:{plugin}")]
    code = pytest.main(["-x", "-q", *unneeded, *tests], plugins=[Listener()])
    answer = {"code": int(code), "failed": failed[0] if failed else ""}
    if (package := sys.modules.get("attnlib")) is not None and package.__file__:
        answer["package"] = os.path.dirname(package.__file__)
    return answer


def make_copy(directory: Path) -> Path:
    """A copy of what the tests of the package need."""
    unneeded = shutil.ignore_patterns("__pycache__", "browser", ".hypothesis")
    for name in ("attnlib", "benchmarks", "tests", "assets", "scripts"):
        shutil.copytree(ROOT / name, directory / name, ignore=unneeded)
    for name in ("conftest.py", "pyproject.toml", "_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, directory)
    for name in ("assignments", "book"):  # graded ones; models that chapters have stored, which figures show
        (directory / name).symlink_to(ROOT / name)
    return directory


def survivors(bugs: Sequence[Bug], show: Callable[[str], None] = print, jobs: int = 1) -> list[str]:
    """Names of the bugs that the tests do not notice.

    Raises:
        ValueError: a bug does not fit the package any more.
        RuntimeError: the tests fail without any bug, or could not be run.
    """
    for bug in bugs:
        mutated(bug)
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attnlib-mutants-"))).resolve()
        free: SimpleQueue[Worker] = SimpleQueue()
        for n in range(jobs):
            worker = Worker(make_copy(scratch / str(n)))
            stack.callback(worker.close)
            free.put(worker)

        @contextlib.contextmanager
        def lent() -> Iterator[Worker]:
            worker = free.get()
            try:
                yield worker
            finally:
                free.put(worker)

        def verdict(tests: list[str]) -> str | None:
            """What pytest says of a failure; None if all pass."""
            with lent() as worker:
                failed = worker.verdict(tests)
                return failed and f"{failed}\n{worker.said}"

        def judge(bug: Bug) -> str | None:
            with lent() as worker:
                start = time.monotonic()
                target = worker.copy / "attnlib" / bug.file
                whole = target.read_text("utf8")
                target.write_text(mutated(bug, worker.copy), "utf8")
                try:
                    killer = worker.verdict([bug.tests])
                finally:
                    target.write_text(whole, "utf8")
            outcome = f"killed by {killer}" if killer else "SURVIVED"
            show(f"{time.monotonic() - start:5.1f} s  {bug.file}: {bug.name}: {outcome}")
            return killer

        in_file: dict[str, set[str]] = {}
        for bug in bugs:
            in_file.setdefault(bug.tests.partition("::")[0], set()).add(bug.tests)
        needed = [[file] if file in tests else sorted(tests) for file, tests in in_file.items()]
        with ThreadPoolExecutor(jobs) as pool:
            for failed in tqdm(pool.map(verdict, needed), total=len(needed), desc="without a bug", unit="file"):
                if failed is not None:
                    pool.shutdown(cancel_futures=True)
                    raise RuntimeError(f"the tests fail on the package as it is: {failed}")
            killers = list(pool.map(judge, bugs))
    return [bug.name for bug, killer in zip(bugs, killers, strict=True) if killer is None]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Seed bugs; the tests must notice every one.")
    parser.add_argument("words", nargs="*", help="only bugs with one of these in their name")
    parser.add_argument("--file", help="only bugs of this file of attnlib")
    parser.add_argument("--jobs", type=int, default=1, help="copies that are tested side by side")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.worker:
        work()
        return 0
    bugs = [
        bug
        for bug in every_bug()
        if (not chosen.words or any(word in bug.name for word in chosen.words)) and chosen.file in (None, bug.file)
    ]
    if not bugs:
        print(f"no bug has one of {chosen.words} in its name" + (f" in {chosen.file}" if chosen.file else ""))
        return 1
    living = survivors(bugs, lambda line: print(line, flush=True), max(1, chosen.jobs))
    print(f"{len(bugs) - len(living)} of {len(bugs)} bugs killed" + "".join(f"\nSURVIVED: {name}" for name in living))
    return 1 if living else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ValueError, RuntimeError) as error:
        sys.exit(str(error))
