"""The table of launch links in README.md, made from the address in _config.yml.

python -m scripts.launch_links write
python -m scripts.launch_links check    fails when the README's table is not the one that would be written
"""

import re
import sys

from attnlib.course.book import ROOT, repository
from scripts.notebooks import chapters

BLOCK = re.compile(r"(<!-- launch links: made by `make execute` -->\n).*?(<!-- end -->)", re.S)


def table() -> str:
    """A row per chapter: its title, and where it can be run."""
    address, branch = repository()["url"], repository()["branch"]
    path = address.removeprefix("https://github.com/")
    rows = ["| chapter | run it |", "|---|---|"]
    for source in chapters():
        if not source.stem[:2].isdigit():
            continue
        title = re.search(r"^# (.+)$", source.read_text("utf8"), re.M)[1]
        notebook = f"book/{source.stem}.ipynb"
        colab = f"https://colab.research.google.com/github/{path}/blob/{branch}/{notebook}"
        binder = f"https://mybinder.org/v2/gh/{path}/{branch}?urlpath=lab/tree/{notebook}"
        rows.append(f"| {title} | [Colab]({colab}) · [Binder]({binder}) |")
    clone = f"\n```sh\ngit clone {address}\ncd {path.split('/')[-1]}\n```\n"
    return "\n".join(rows) + "\n" + clone


def main() -> int:
    readme = ROOT / "README.md"
    old = readme.read_text("utf8")
    if not BLOCK.search(old):
        sys.exit("README.md has lost the marks between which the launch links belong.")
    new = BLOCK.sub(lambda m: m[1] + table() + m[2], old)
    if sys.argv[1:] == ["check"]:
        if new != old:
            print("README.md: the launch links are out of date; `make execute` writes them.")
            return 1
        return 0
    if sys.argv[1:] == ["write"]:
        readme.write_text(new, "utf8")
        return 0
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
