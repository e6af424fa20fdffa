"""Sphinx extension: no line of code is cut. Where a page is too narrow, a line goes on below, further in than it began.

Pygments ends its tags with each line, so a line can be put into a box of its own. Short lines do without. A box holds
the end of its line, too: behind it, that would be an empty line.
"""

import re
from html import unescape

SHORT = 40  # letters that have room in a phone's page
CODE = re.compile(r'(?<=<div class="highlight"><pre>)(.*?)(?=</pre></div>)', re.S)
LINE = re.compile(r".*\n|.+")
TAG = re.compile(r"<[^>]*>")


def in_boxes(code: str) -> str:
    r"""The lines of a block as Pygments wrote them, each longer one in a box that knows how far in it begins.

    Example:
        >>> in_boxes("if x:\n    y = " + 30 * "1")
        'if x:\n    y = 111111111111111111111111111111'
    """
    return "".join(map(in_box, LINE.findall(code)))


def in_box(line: str) -> str:
    text = unescape(TAG.sub("", line)).rstrip("\n")
    if len(text) <= SHORT:
        return line
    return f'<span class="line" style="--in:{len(text) - len(text.lstrip())}">{line}</span>'


def put_in(app, pagename, templatename, context, doctree) -> None:
    """Rewrite the code of a page."""
    if "body" in context:
        context["body"] = CODE.sub(lambda block: in_boxes(block[1]), context["body"])


def setup(app) -> dict[str, bool]:
    app.connect("html-page-context", put_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
