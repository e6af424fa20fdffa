"""How long the pages run, for book/times.json: chapters, start page and plans of lectures say the same number.

    python -m scripts.running_times        every page, one after the other (make times)
    python -m scripts.running_times 03     one, on the machine that has measured the others

The machine should do nothing else, and has to be quiet when it begins.
"""

import argparse
import json
import os
import platform
import re
import sys
from pathlib import Path

from scripts.fingerprint import code_of
from scripts.kernel import KERNEL_ENVIRONMENT
from scripts.notebooks import BOOK, chapters, choose, execute, save, times, with_outputs

QUIET = 1.0  # processes that run or wait for a processor, on average of the last minute


def machine() -> str:
    """Processor, cores and Python of this machine, in words."""
    try:
        names = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text("utf8"), re.M)
    except OSError:
        names = []
    name = names[0] if names else platform.processor() or platform.machine()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()  # macOS, Windows
    return f"{name}, {cores} cores, Python {platform.python_version()}"


def load() -> float:
    """How busy the machine was in the last minute; 0 where the system does not say, as on Windows."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def measure(names: list[str]) -> None:
    """Run pages, write down what they took, and put it into their text; their outputs are then those of this run.

    A page whose code reads the list, as that of the plans does, is run once more when the list is written.

    Raises:
        SystemExit: The machine is busy, or is another one than that of the pages that are not measured anew.
    """
    if (busy := load()) > QUIET:
        raise SystemExit(f"The machine is busy (load {busy:.1f}): times of now would be too long. Try again later.")
    known, here = times(), machine()
    if names and known["machine"] != here:
        raise SystemExit(f"The other pages were measured on {known['machine']}, this is {here}: measure all of them.")
    sources = [source for name in names or [None] for source in choose(name)]
    seconds = known["seconds"] if names else {}
    for source in sources:
        seconds[source.stem] = max(1, round(execute(source)))
    text = json.dumps({"machine": here, "seconds": dict(sorted(seconds.items()))}, indent=1)
    (BOOK / "times.json").write_text(text + "\n", "utf8")
    for source in sources:
        save(with_outputs(source), source.with_suffix(".ipynb"))
    for source in chapters():
        if "times.json" in code_of(source):
            execute(source)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", nargs="*", help="only these: 01 or 01_rnn_language_model")
    os.environ.update(KERNEL_ENVIRONMENT)
    measure(parser.parse_args().page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
