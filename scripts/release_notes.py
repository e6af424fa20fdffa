"""What a release changes: the section of CHANGELOG.md that its tag names.

    python -m scripts.release_notes v0.1.0

Fails when tag, attnlib/version.py, CITATION.cff and CHANGELOG.md do not speak of one version. Needs no package.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """Where the files say something other than the tag."""
    version = tag.removeprefix("v")
    package = re.search(r'__version__ = "(.*)"', (root / "attnlib" / "version.py").read_text("utf8"))[1]
    citation = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text("utf8"), re.M)[1]
    found = [] if tag.startswith("v") else [f"The tag {tag} does not begin with v."]
    found += [] if package == version else [f"attnlib/version.py says {package}, the tag {tag}."]
    found += [] if citation == version else [f"CITATION.cff says {citation}, the tag {tag}."]
    found += [] if notes(version, root) else [f"CHANGELOG.md has nothing under '## {version}'."]
    return found


def notes(version: str, root: Path = ROOT) -> str:
    """The changelog's section of a version, without its heading; empty if there is none."""
    sections = re.split(r"^## ", (root / "CHANGELOG.md").read_text("utf8"), flags=re.M)[1:]
    named = {heading.split()[0].strip("[]"): text for heading, _, text in (s.partition("\n") for s in sections)}
    return named.get(version, "").strip()


def main() -> int:
    if len(sys.argv) != 2:
        print("Name the tag: python -m scripts.release_notes v0.1.0", file=sys.stderr)
        return 2
    if found := problems(sys.argv[1]):
        print("\n".join(found), file=sys.stderr)
        return 1
    print(notes(sys.argv[1].removeprefix("v")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
