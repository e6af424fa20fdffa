"""Where the time of `make test` went: its stages, and the ten slowest files of tests.

    python -m scripts.times build/times lint unit colab browser test

For each stage the Makefile touches NAME.begin and NAME.end there, and conftest.py leaves the seconds of its files in
NAME.json.
"""

import json
import sys
from pathlib import Path


def table(folder: Path, stages: list[str]) -> str:
    """Two lists in words; several files run side by side, so that their sum is more than a stage."""
    took = {
        name: (folder / f"{name}.end").stat().st_mtime - (folder / f"{name}.begin").stat().st_mtime for name in stages
    }
    files = {
        f"{name}: {file}": seconds
        for name in stages
        if (times := folder / f"{name}.json").exists()
        for file, seconds in json.loads(times.read_text("utf8")).items()
    }
    slowest = sorted(files.items(), key=lambda item: -item[1])[:10]
    parts = {"Stages, by the clock:": took.items(), "The slowest files, in seconds of one core:": slowest}
    lines = {title: [f"{seconds:7.0f} s  {name}" for name, seconds in rows] for title, rows in parts.items()}
    return "\n".join(line for title, rows in lines.items() for line in (title, *rows))


if __name__ == "__main__":
    print(table(Path(sys.argv[1]), sys.argv[2:]))
