"""How far is Jupyter Book 2: the book given to MyST's own program, and its complaints, counted by kind.

    python -m scripts.myst_diagnostics build/upkeep/bin/myst

The program reads the book twice, as it is and as scripts/to_myst.py converts it; both copies stay in _build/myst, with
what was said of each. Any number is a success; that MyST could not read the book is a failure.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from scripts.to_myst import ROOT, copy

RULE = re.compile(r'To suppress this message, add rule: "([\w-]+)"')
COPIES = {"as it is": False, "converted": True}


def kinds(log: str) -> Counter:
    """The complaints in what MyST says with `--debug`: of each the rule that it breaks, or what is unknown."""
    found = []
    for line in log.splitlines():
        if line.startswith(("⚠️", "⛔️", "ℹ️")):
            unknown = re.search(r"unknown (directive|role): .*", line)
            found.append("remark" if line.startswith("ℹ️") else unknown[0] if unknown else "other")
        elif (rule := RULE.match(line)) and found[-1] == "other":
            found[-1] = rule[1]
    return Counter(kind for kind in found if kind != "remark")


def read(myst: Path, to: Path, convert: bool) -> Counter:
    """Have MyST read a copy of the book."""
    pages = copy(ROOT, to, convert)
    # The theme draws what has been read, and must be fetched. A site of one that has nothing needs no network.
    (to / "theme").mkdir()
    (to / "theme" / "template.yml").write_text("myst: v1\nkind: site\n")
    config = to / "myst.yml"
    config.write_text(config.read_text("utf8").replace("template: book-theme", "template: theme"), "utf8")
    command = [myst, "--debug", "build", "--site"]
    result = subprocess.run(
        command, cwd=to, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf8"
    )
    to.with_suffix(".log").write_text(result.stdout, "utf8")
    if result.returncode or len(list(to.glob("_build/site/content/*.json"))) != len(pages):
        sys.exit(f"{result.stdout[-2000:]}\nMyST could not read the book: all that it said is in {to}.log")
    return kinds(result.stdout)


def table(counts: dict[str, Counter]) -> str:
    """A row for each kind, the most frequent first."""
    kinds = (sum(counts.values(), Counter())).most_common()
    rows = [[kind, *(str(count[kind]) for count in counts.values())] for kind, _ in kinds]
    rows += [["in all", *(str(count.total()) for count in counts.values())]]
    head = ["MyST complains of", *counts]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---", *["---:"] * len(counts)], *rows])


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder, myst = ROOT / "_build" / "myst", Path(sys.argv[1]).absolute()
    counts = {name: read(myst, folder / name.replace(" ", "-"), convert) for name, convert in COPIES.items()}
    (folder / "diagnostics.md").write_text(table(counts) + "\n", "utf8")
    print(table(counts))


if __name__ == "__main__":
    main()
