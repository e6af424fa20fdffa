"""The Markdown of a chapter as HTML for a slide: read by the parser of the pages, so that it means the same.

What refers to other places is said in words that need no book: website/references.py.
"""

import re
from collections.abc import Callable
from html import escape

from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from attnlib.course.book import settings
from website.references import References, Unknown

#: From a deck to the page of a chapter.
PAGES = "../book"
#: Boxes with a title; `None`: what stands after the name.
BOXES = {name: name.capitalize() for name in ("note", "tip", "hint", "important", "warning", "caution", "seealso")}
BOXES |= {"admonition": None, "exercise": None}
DROPPED = {"solution-start", "solution-end"}  # a solution is not for the wall


def code(text: str, language: str = "python") -> str:
    """Source code in the book's colours."""
    return highlight(text.rstrip("\n"), get_lexer_by_name(language), HtmlFormatter())


class SlideText:
    """Turns the Markdown of cells into HTML.

    Args:
        references: where labels, pages and papers are, seen from a deck.
    """

    def __init__(self, references: References | None = None):
        self.references = references or References(PAGES)
        extensions = set(settings()["parse"]["myst_enable_extensions"])
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
            token.attrSet("href", self.references.address(target))
            words = self.references.words(target) if tokens[index + 1].type == "link_close" else ""
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

    # --- roles --------------------------------------------------------------------------------------

    def role(self, name: str, content: str) -> str:
        """A role of MyST in words."""
        if name == "code":
            return f"<code>{escape(content)}</code>"
        if name == "math":
            return f'<span class="math">\\({escape(content)}\\)</span>'
        words, address = self.references.role(name, content)
        kind = ' class="cite"' if name.startswith("cite") else ""
        return f'<a{kind} href="{escape(address)}">{escape(words)}</a>'

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
