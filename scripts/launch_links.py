"""Where a notebook can be run without installing anything; the table of such links in README.md.

python -m scripts.launch_links write
python -m scripts.launch_links check    fails when the README's table is not the one that would be written
"""

import re
import sys

from attnlib.course.book import ROOT, repository, revision
from scripts.notebooks import chapters

BLOCK = re.compile(r"(<!-- launch links: made by `make execute` -->\n).*?(<!-- end -->)", re.S)


def name() -> str:
    """`owner/repository` on GitHub."""
    return repository()["url"].removeprefix("https://github.com/")


def on_github(notebook: str) -> str:
    """Where GitHub shows a notebook, named by its path in the repository."""
    return f"{repository()['url']}/blob/{revision()}/{notebook}"


def colab(notebook: str) -> str:
    """Where Colab opens it."""
    return f"https://colab.research.google.com/github/{name()}/blob/{revision()}/{notebook}"


def binder(notebook: str) -> str:
    """Where Binder opens it."""
    return f"https://mybinder.org/v2/gh/{name()}/{revision()}?urlpath=lab/tree/{notebook}"


def table() -> str:
    """A row per chapter: its title, and where it can be run."""
    rows = ["| chapter | run it |", "|---|---|"]
    for source in chapters():
        if not source.stem[:2].isdigit():
            continue
        title = re.search(r"^# (.+)$", source.read_text("utf8"), re.M)[1]
        notebook = f"notebooks/{source.stem}.ipynb"
        rows.append(f"| [{title}]({on_github(notebook)}) | [Colab]({colab(notebook)}) · [Binder]({binder(notebook)}) |")
    clone = f"\n```sh\ngit clone {repository()['url']}\ncd {name().split('/')[-1]}\n```\n"
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
