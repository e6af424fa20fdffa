"""Everything that is measured here, in one run: one table, one file of numbers, one plot.

python -m benchmarks --out _build/speed.json        (or: make bench; the book must be built)
"""

import argparse
import json
from pathlib import Path

import torch

from attnlib.training import pick_device
from benchmarks import plots
from benchmarks.rows import FULL, QUICK, Row, short
from benchmarks.speed import measure

BUILT = Path(__file__).resolve().parents[1] / "_build"


def table(rows: list[Row]) -> str:
    """The rows under their heads; what is not as it should be is marked."""
    heads = ("", "size", "ours", "beside", "unit", "ratio", "", "held to", "")
    lines = [heads]
    for row in rows:
        mark = {True: "", False: "NOT MET", None: ""}[row.met]
        numbers = [short(row.ours), short(row.other), row.unit, short(row.ratio), row.means]
        lines.append((f"{row.section} · {row.name}", row.size, *numbers, row.held_to(), mark))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def four_digits(record):
    """The same with shorter numbers: the digits that follow are noise."""
    if isinstance(record, float):
        return float(f"{record:.4g}")
    if isinstance(record, dict):
        return {name: four_digits(value) for name, value in record.items()}
    return [four_digits(value) for value in record] if isinstance(record, list | tuple) else record


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=BUILT / "speed.json", help="the numbers; the plot goes beside them")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, to see that it runs: the numbers mean nothing"
    )
    parser.add_argument("--without-figures", action="store_true", help="leave the browser alone")
    parser.add_argument("--book", type=Path, default=BUILT / "html", help="the built book")
    given = parser.parse_args()
    torch.set_num_threads(1)
    record = {}
    if not given.without_figures:  # first: a browser that is missing is missed at once
        from benchmarks import figures  # it needs the tools of the tests

        record["figures"] = figures.measure(given.book)
    record |= measure(QUICK if given.quick else FULL, pick_device())
    print("{device} ({kind}), {cores} cores, {threads} thread, PyTorch {torch}\n".format(**record["machine"]))
    print(table([Row(**row) for row in record["rows"]]))
    if "figures" in record:
        print("\n" + figures.report(record["figures"]))
    record = four_digits(record)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    plots.write(record, given.out.with_suffix(".svg"))
    print(f"\nwritten: {given.out} and {given.out.with_suffix('.svg')}")


if __name__ == "__main__":
    main()
