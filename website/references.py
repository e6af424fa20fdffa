"""What the book's Markdown refers to, where no page builder resolves it: labels, other pages, papers.

A deck and a notebook say in words what a page says by number: a citation becomes author and year, a figure "the
figure". Each leads to its place in the page.
"""

import re
from dataclasses import dataclass, field
from functools import cache

from pybtex.database import parse_file

from attnlib.course.book import BOOK, ROOT, settings

LABELS = (
    r"^\((?P<target>[\w-]+)\)=\s*$",  # a target
    r"^:(?:label|name): (?P<directive>\S+)\s*$",
    r"^ +(?:figure: \{)?name: (?P<figure>fig-[\w-]+)",
    r"^\$\$ *\((?P<equation>[\w:-]+)\)\s*$",
)


class Unknown(ValueError):
    """Something in the Markdown of a page that this form of it cannot show."""


@cache
def works() -> dict:
    """The bibliography, by key."""
    return {k: work for file in settings()["bibtex_bibfiles"] for k, work in parse_file(ROOT / file).entries.items()}


@cache
def labels() -> dict[str, str]:
    """Every label of the book and its address, seen from the folder of the pages."""
    found = {}
    for source in sorted(BOOK.rglob("*.md")):
        page = source.relative_to(BOOK).with_suffix(".html").as_posix()
        for match in re.finditer("|".join(LABELS), source.read_text("utf8"), re.M):
            label = match[match.lastgroup]
            found[label] = f"{page}#{'equation-' if match.lastgroup == 'equation' else ''}{label.lower()}"
    return found


@dataclass(frozen=True)
class References:
    """Where things are, seen from a deck or a notebook.

    Attributes:
        pages: Address of the folder of the book's pages, without a slash at its end.
        labels: As `labels` finds them.
    """

    pages: str
    labels: dict[str, str] = field(default_factory=lambda: labels())

    def address(self, target: str) -> str:
        """Where a link of the source leads: a page of the book, a label, or the web.

        Raises:
            Unknown: It leads nowhere.
        """
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            return target
        if target.lstrip("#") in self.labels:
            return f"{self.pages}/{self.labels[target.lstrip('#')]}"
        page = re.sub(r"\.(md|ipynb)$", "", path)
        if page and any((BOOK / f"{page}.{kind}").exists() for kind in ("md", "ipynb")):
            return f"{self.pages}/{page}.html{'#' + anchor if anchor else ''}"
        raise Unknown(f"the link to {target!r} leads nowhere: no page of book/ and no label is called so")

    def words(self, target: str) -> str:
        """What a link without words says; a page would put the name of the place."""
        return target.strip("#").replace("-", " ")

    def role(self, name: str, content: str) -> tuple[str, str]:
        """The words and the address of a reference.

        Args:
            name: Of the role: `cite`, `cite:t`, `ref`, `numref`, `eq` or `doc`.
            content: What stands between its backticks.

        Raises:
            Unknown: Another role, one without words, a key that the bibliography lacks, a label that nothing bears.
        """
        if name in ("cite", "cite:t"):
            return self.citation([key.strip() for key in content.split(",")], textual=name == "cite:t")
        if name not in ("ref", "numref", "eq", "doc"):
            raise Unknown(f"the role {{{name}}} is not known here: tell website/references.py what it means")
        match = re.fullmatch(r"(?P<text>.*?)\s*<(?P<target>[^>]+)>", content, re.S)
        text, target = (match["text"], match["target"]) if match else ("", content)
        if "{" in text or "%s" in text:  # where a page would put the number or the name
            text = ""
        words = text or {"numref": "the figure", "eq": "the equation"}.get(name)
        if words is None:
            raise Unknown(f"{{{name}}}`{content}` has no words, and nothing puts a title there: [words]({content})")
        return words, self.address(target.lstrip("/"))

    def citation(self, keys: list[str], textual: bool) -> tuple[str, str]:
        """`[Bahdanau et al. 2015]`, or `Bahdanau et al. (2015)` where it is a part of the sentence; its address."""
        said = []
        for key in keys:
            if key not in works():
                raise Unknown(f"the bibliography has no {key!r}")
            people = [" ".join(person.last_names) for person in works()[key].persons.get("author", [])]
            people = people[0] + " et al." if len(people) > 2 else " and ".join(people)
            year = works()[key].fields.get("year")
            said.append(" ".join([people, *([f"({year})" if textual else year] if year else [])]))
        words = re.sub(r"[{}]", "", ", ".join(said) if textual else f"[{'; '.join(said)}]")
        return words, f"{self.pages}/bibliography.html#{keys[0]}"
