"""Sphinx extension: what a page loads and does not need is left out, so that it opens quickly on a phone.

- The theme brings its icons twice: as fonts, which are enough, and as a script of 1.5 MB, which goes.
- MathJax comes in parts: TeX in, HTML out, and MathML beside it for those who hear the page. Its menu stays away.
"""

import re
from pathlib import Path

ICONS = re.compile(r'\s*(<!--[^>]*icons -->\s*)?<script src="[^"]*/fontawesome\.js[^"]*"></script>')
MATHJAX = {
    "loader": {"load": ["core", "input/tex", "output/chtml", "a11y/assistive-mml"]},
    "options": {"enableAssistiveMml": True},
}


def choose_parts_of_mathjax(app, config) -> None:
    """In place of the one file that has everything."""
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = {**(config.mathjax3_config or {}), **MATHJAX}


def leave_out_the_second_icons(app, exception) -> None:
    """From the pages as they were written, since the theme has no setting for it."""
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(ICONS.sub("", text), encoding="utf-8")


def setup(app) -> dict[str, bool]:
    app.connect("config-inited", choose_parts_of_mathjax, priority=900)  # after the extension that brings it
    app.connect("build-finished", leave_out_the_second_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
