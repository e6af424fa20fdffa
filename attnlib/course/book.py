"""Where the book's sources lie, and what is written in them that a reader sees in another form."""

import functools
import re
from pathlib import Path
from typing import Any

from attnlib.extras import extra
from attnlib.figures.palette import ROLES
from attnlib.version import __version__

with extra("course"):
    import yaml

#: The folder of a clone: the book is no part of an installed package.
ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"


@functools.cache  # every link of a notebook asks for the address
def settings() -> dict[str, Any]:
    """The book's settings, `_config.yml`."""
    return yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))


def repository() -> dict[str, str]:
    """The repository's address and branch, `url` and `branch`: settings in `_config.yml` and nowhere else."""
    return settings()["repository"]


def site() -> str:
    """The address of the published pages, without a slash at its end: that of GitHub Pages, if none is set."""
    owner, name = repository()["url"].rstrip("/").split("/")[-2:]
    return (settings().get("html", {}).get("baseurl") or f"https://{owner}.github.io/{name}").rstrip("/")


def revision(version: str = __version__) -> str:
    """What a notebook belongs to, and installs: the tag of a release; between releases, the branch."""
    return repository()["branch"] if ".dev" in version else f"v{version}"


SETUP = """\
# @title Get the course package: run this first. Where it is installed, nothing happens.
try:
    import attnlib.course.checks
except ImportError:
    %pip install -qqq "attnlib[course] @ git+{url}@{revision}"
    try:
        import attnlib.course.checks
    except ImportError as missing:
        raise ImportError(
            f"The course package could not be installed ({{missing}}): see that there is a network, "
            "then run this cell again; without the -qqq in it, pip says what it misses."
        ) from None"""


def setup_cell() -> str:
    """The first code cell of everything that students open."""
    return SETUP.format(url=repository()["url"], revision=revision())


def without_magics(source: str) -> str:
    """A cell as plain Python: `pass` in place of each line that begins with % or !."""
    return re.sub(r"^([ \t]*)[%!].*$", r"\1pass", source, flags=re.M)


def expand_roles(text: str) -> str:
    r"""Write `\query{q}` and its kin as a colour that Jupyter, Colab, GitHub and MathJax all understand."""
    pattern = re.compile(r"\\(" + "|".join(ROLES) + r")\{")
    while match := pattern.search(text):
        depth, end = 1, match.end()
        while depth:
            if end == len(text):
                raise ValueError(f"unbalanced braces after {text[match.start() : match.start() + 40]!r}")
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        inner = text[match.end() : end - 1]
        text = f"{text[: match.start()]}{{\\color{{{ROLES[match[1]].light}}}{{{inner}}}}}{text[end:]}"
    return text
