"""What a log of TeX says that a reader would see: missing letters, lines too wide, links to nowhere.

    python -m website.tex_log _build/latex/book.log    fail when there is any

The log must have been written with max_print_line=10000: TeX breaks its lines at 79 characters otherwise.
"""

import collections
import re
import sys
from pathlib import Path

WIDEST = 5.0  # pt that a line may stand out: less than the width of a letter
PLAIN = re.compile(
    r"^(?:"
    r"! .*"
    r"|Missing character: .*"
    r"|LaTeX Warning: (?:Hyper r|R|Citation|Label).*(?:undefined|multiply defined|may have changed).*"
    r"|LaTeX Font Warning: Font shape .* undefined.*"
    r"|LaTeX Warning: File .* not found.*"
    r")$",
    re.MULTILINE,
)
OVERFULL = re.compile(r"^Overfull \\[hv]box \((\d+(?:\.\d+)?)pt too (?:wide|high)\).*(?=\n(.*))", re.MULTILINE)


def problems(log: str) -> list[str]:
    """Each once, with how often it occurs.

    Example:
        >>> problems("Missing character: There is no ⁴ in font A!")
        ['Missing character: There is no ⁴ in font A!', 'no PDF was written']
    """
    found = collections.Counter(PLAIN.findall(log))
    found.update(f"{m[0]} | {m[2]}" for m in OVERFULL.finditer(log) if float(m[1]) > WIDEST)
    if "Output written on " not in log:
        found["no PDF was written"] += 1
    return [line if times == 1 else f"{line} ({times} times)" for line, times in found.items()]


def main(path: Path) -> int:
    found = problems(path.read_text("utf8", errors="replace"))
    for problem in found:
        print(problem)
    if found:
        print(f"{path}: {len(found)} kinds of problems that a reader would see; type is set in assets/printed_book.sty")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
