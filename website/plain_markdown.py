"""The Markdown of a page as every notebook shows it: GitHub, Colab, JupyterLab, VS Code and nbviewer know no MyST.

References become links to the page, boxes become headings, quotes and folded hints. What is not known here is named
and stops the run, so that no mark-up reaches a student.
"""

import itertools
import re

from website.references import References, Unknown

FENCE = re.compile(r"(?P<marks>:{3,}|`{3,})(?:\{(?P<name>[\w-]+)\})?[ \t]*(?P<title>.*)")
OPTION = re.compile(r":[\w-]+:.*")
TARGET = re.compile(r"\([\w-]+\)=[ \t]*")
#: Whatever comes first in a line is read: in code and in formulas nothing else is looked for.
INLINE = re.compile(
    r"\{(?P<role>[\w:-]+)\}`(?P<content>[^`]+)`"
    r"|\[(?P<words>(?:[^][$`]|\$[^$]*\$|`[^`]*`)*)\]\((?P<target>[^)\s]+)\)"
    r"|(?P<ticks>`+).+?(?P=ticks)"
    r"|\$\$.+?\$\$|\$[^$]+\$",
    re.DOTALL,
)


class PlainMarkdown:
    """Turns the Markdown of cells into Markdown without MyST.

    Args:
        references: Where labels, pages and papers are, seen from a notebook.
    """

    def __init__(self, references: References):
        self.references = references

    def text(self, source: str) -> str:
        """A cell as a notebook shows it.

        Raises:
            Unknown: A role, a directive, a work or a label that is not known here.
        """
        lines = source.split("\n")
        parts, plain = [], []
        while lines:
            line = lines.pop(0)
            opening = FENCE.fullmatch(line)
            if opening is None:
                plain += [] if TARGET.fullmatch(line) else [line]
                continue
            marks = opening["marks"]
            if marks not in lines:
                raise Unknown(f"nothing closes {line!r}")
            end = lines.index(marks)
            body, lines = lines[:end], lines[end + 1 :]
            parts += [self.inline("\n".join(plain)), self.block(opening, body)]
            plain = []
        parts.append(self.inline("\n".join(plain)))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip("\n")

    def block(self, opening: re.Match, body: list[str]) -> str:
        """A piece of code as it is, a directive in another form."""
        name, title = opening["name"], self.inline(opening["title"])
        if name is None and opening["marks"].startswith("`"):
            return "\n".join([opening[0], *body, opening["marks"]])
        text = self.text("\n".join(itertools.dropwhile(OPTION.fullmatch, body)))
        if name == "exercise":
            return f"\n### Exercise: {title}\n\n{text}\n"
        if name == "dropdown":
            # An empty line, and what follows is Markdown again.
            return f"\n<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>\n"
        if name == "admonition":
            return "\n" + "\n".join(f"> {line}".rstrip() for line in [f"**{title}**", "", *text.split("\n")]) + "\n"
        raise Unknown(f"a notebook does not know the directive {opening[0]!r}: tell website/plain_markdown.py")

    def inline(self, text: str) -> str:
        """Prose with its references as links."""
        return INLINE.sub(self.reference, text)

    def reference(self, match: re.Match) -> str:
        """A reference as a link; code and formulas as they are."""
        if match["role"]:
            words, address = self.references.role(match["role"], match["content"])
            # One bracket of a citation is that of the link.
            return f"[[{words[1:-1]}]]({address})" if words.startswith("[") else f"[{words}]({address})"
        if match["target"]:
            words = match["words"] or self.references.words(match["target"])
            return f"[{words}]({self.references.address(match['target'])})"
        return match[0]
