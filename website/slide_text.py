"""The Markdown of a chapter as HTML for a slide: read by the parser of the pages, so that it means the same.

What a page resolves with the whole book at hand is said here in words that need no book: a citation becomes author
and year, a figure's number "the figure"; each leads to its place in the page.
"""

import re
from collections.abc import Callable
from html import escape

import yaml
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from pybtex.database import parse_file
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from attnlib.course.book import BOOK, ROOT

#: From a deck to the page of a chapter.
PAGES = "../book"
LABELS = (
    r"^\((?P<target>[\w-]+)\)=\s*$",  # a target
    r"^:(?:label|name): (?P<directive>\S+)\s*$",
    r"^\s+(?:figure: \{)?name: (?P<figure>[\w-]+)",
    r"^\$\$ *\((?P<equation>[\w:-]+)\)\s*$",
)
#: Boxes with a title; `None`: what stands after the name.
BOXES = {name: name.capitalize() for name in ("note", "tip", "hint", "important", "warning", "caution", "seealso")}
BOXES |= {"admonition": None, "exercise": None}
DROPPED = {"solution-start", "solution-end"}  # a solution is not for the wall


class Unknown(ValueError):
    """Something in a chapter's Markdown that no slide can show."""


def labels() -> dict[str, str]:
    """Every label of the book and its address, seen from a deck."""
    found = {}
    for source in sorted(BOOK.rglob("*.md")):
        page = f"{PAGES}/{source.relative_to(BOOK).with_suffix('.html').as_posix()}"
        for match in re.finditer("|".join(LABELS), source.read_text("utf8"), re.M):
            label = match[match.lastgroup]
            found[label] = f"{page}#{'equation-' if match.lastgroup == 'equation' else ''}{label.lower()}"
    return found


def code(text: str, language: str = "python") -> str:
    """Source code in the book's colours."""
    return highlight(text.rstrip("\n"), get_lexer_by_name(language), HtmlFormatter())


class SlideText:
    """Turns the Markdown of cells into HTML.

    Args:
        addresses: of labels, as `labels` finds them.
    """

    def __init__(self, addresses: dict[str, str] | None = None):
        self.addresses = labels() if addresses is None else addresses
        settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
        self.works = {}
        for file in settings["bibtex_bibfiles"]:
            self.works |= dict(parse_file(ROOT / file).entries.items())
        extensions = set(settings["parse"]["myst_enable_extensions"])
        self.parser = create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)
        self.parser.enable("footnote_tail")
        for name, rule in self._rules().items():
            self.parser.add_render_rule(name, rule)

    def html(self, text: str) -> str:
        """The HTML of a cell.

        Raises:
            Unknown: a role, a directive, a work or a label that is not known here.
        """
        return self.parser.render(text)

    def _rules(self) -> dict[str, Callable]:
        def rule(render: Callable) -> Callable:
            return lambda renderer, tokens, index, options, env: render(tokens[index])

        def link_open(renderer, tokens, index, options, env):
            token = tokens[index]
            target = str(token.attrGet("href") or "")
            token.attrSet("href", self.address(target))
            # The page would put the name of the place.
            words = target.strip("#").replace("-", " ") if tokens[index + 1].type == "link_close" else ""
            return renderer.renderToken(tokens, index, options, env) + escape(words)

        def nothing(token):
            return ""

        def display(token):
            return f'<div class="math">\\[{escape(token.content.strip())}\\]</div>\n'

        return {
            "math_inline": rule(lambda token: f'<span class="math">\\({escape(token.content)}\\)</span>'),
            "math_inline_double": rule(display),
            "math_block": rule(display),
            "math_block_label": rule(display),  # its number is the page's
            "amsmath": rule(display),
            "myst_role": rule(lambda token: self.role(token.meta["name"], token.content)),
            "myst_target": rule(nothing),
            "myst_line_comment": rule(nothing),
            "myst_block_break": rule(nothing),
            "colon_fence": rule(self.fence),
            "fence": rule(self.fence),
            "link_open": link_open,
        }

    # --- links --------------------------------------------------------------------------------------

    def address(self, target: str) -> str:
        """Where a link of the source leads from a deck: a page of the book, a label, or the web."""
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            return target
        if target.lstrip("#") in self.addresses:
            return self.addresses[target.lstrip("#")]
        page = re.sub(r"\.(md|ipynb)$", "", path)
        if page and any((BOOK / f"{page}.{kind}").exists() for kind in ("md", "ipynb")):
            return f"{PAGES}/{page}.html{'#' + anchor if anchor else ''}"
        raise Unknown(f"the link to {target!r} leads nowhere: no page of book/ and no label is called so")

    # --- roles --------------------------------------------------------------------------------------

    def role(self, name: str, content: str) -> str:
        """A role of MyST in words."""
        if name.startswith("cite"):
            return self.cite([key.strip() for key in content.split(",")], textual=name == "cite:t")
        match = re.fullmatch(r"(?P<text>.*?)\s*<(?P<target>[^>]+)>", content, re.S)
        text, target = (match["text"], match["target"]) if match else ("", content)
        if name in ("ref", "numref", "eq", "doc"):
            if "{" in text or "%s" in text:  # where a page would put the number or the name
                text = ""
            words = text or {"numref": "the figure", "eq": "the equation"}.get(name, "there")
            return f'<a href="{escape(self.address(target.lstrip("/")))}">{escape(words)}</a>'
        if name in ("code", "math"):
            return (
                f"<code>{escape(content)}</code>"
                if name == "code"
                else f'<span class="math">\\({escape(content)}\\)</span>'
            )
        raise Unknown(f"a slide does not know the role {{{name}}}: tell website/slide_text.py what it means")

    def cite(self, keys: list[str], textual: bool) -> str:
        """`[Bahdanau et al. 2015]`, or `Bahdanau et al. (2015)` where it is a part of the sentence."""
        works = []
        for key in keys:
            if key not in self.works:
                raise Unknown(f"the bibliography has no {key!r}")
            people = [" ".join(person.last_names) for person in self.works[key].persons.get("author", [])]
            people = people[0] + " et al." if len(people) > 2 else " and ".join(people)
            year = self.works[key].fields.get("year")
            works.append(" ".join([people, *([f"({year})" if textual else year] if year else [])]))
        words = escape(re.sub(r"[{}]", "", ", ".join(works) if textual else f"[{'; '.join(works)}]"))
        return f'<a class="cite" href="{PAGES}/bibliography.html">{words}</a>'

    # --- directives ---------------------------------------------------------------------------------

    def fence(self, token) -> str:
        """A directive, or a piece of code."""
        directive = re.fullmatch(r"\{([\w-]+)\}\s*(.*)", token.info.strip(), re.S)
        if directive is None:
            return code(token.content, token.info.strip() or "text")
        name, title = directive.groups()
        body = re.sub(r"\A(?::[\w-]+:.*\n)*\s*", "", token.content)
        if name in DROPPED:
            return ""
        if name == "math":
            return f'<div class="math">\\[{escape(body.strip())}\\]</div>\n'
        title = self.parser.renderInline(title)
        if name == "dropdown":
            return f"<details><summary>{title}</summary>{self.html(body)}</details>\n"
        if name in BOXES:
            return f'<div class="box {name}"><p class="title">{BOXES[name] or title}</p>{self.html(body)}</div>\n'
        raise Unknown(f"a slide does not know the directive {{{name}}}: tell website/slide_text.py how it looks")
