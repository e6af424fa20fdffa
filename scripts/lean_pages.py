"""Sphinx extension: what a page loads and does not need is left out, so that it opens quickly on a phone.

- The theme brings its icons twice: as fonts, which are enough, and as a script of 1.5 MB, which goes.
- Its style sheet names two thousand icons; those that no page and no script of the book shows are taken out.
- MathJax comes in parts: TeX in, HTML out, and MathML beside it for those who hear the page. Its menu stays away.
"""

import re
from pathlib import Path

ICONS = re.compile(r'\s*(<!--[^>]*icons -->\s*)?<script src="[^"]*/fontawesome\.js[^"]*"></script>')
NAME = re.compile(r"\bfa-[\w-]+")
RULE = re.compile(r'(?:\.fa-[\w-]+::?before,?)+\{content:"[^"]*"\}')
MATHJAX = {
    "loader": {"load": ["core", "input/tex", "output/chtml", "a11y/assistive-mml"]},
    "options": {"enableAssistiveMml": True},
}


def choose_parts_of_mathjax(app, config) -> None:
    """In place of the one file that has everything."""
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = {**(config.mathjax3_config or {}), **MATHJAX}


def without_unused_icons(style: str, used: set[str]) -> str:
    """A style sheet without the rules of icons that are not used, the others untouched.

    Example:
        >>> without_unused_icons('.fa-bell:before{content:"b"}.fa-list:before{content:"l"}p{}', {"fa-list"})
        '.fa-list:before{content:"l"}p{}'
    """
    return RULE.sub(lambda rule: rule[0] if used & set(NAME.findall(rule[0])) else "", style)


def leave_out(app, exception) -> None:
    """From the pages as they were written, since the theme has no setting for it."""
    if exception is not None or app.builder.format != "html":
        return
    used: set[str] = set()
    for page in Path(app.outdir).rglob("*.html"):
        text = ICONS.sub("", page.read_text(encoding="utf-8"))
        page.write_text(text, encoding="utf-8")
        used |= set(NAME.findall(text))
    static = Path(app.outdir) / "_static"
    for script in static.rglob("*.js"):  # some icons come and go
        if script.name != "fontawesome.js" and "mathjax" not in script.parts:
            used |= set(NAME.findall(script.read_text(encoding="utf-8", errors="ignore")))
    for style in (static / "styles").glob("*.css"):
        style.write_text(without_unused_icons(style.read_text(encoding="utf-8"), used), encoding="utf-8")


def setup(app) -> dict[str, bool]:
    app.connect("config-inited", choose_parts_of_mathjax, priority=900)  # after the extension that brings it
    app.connect("build-finished", leave_out, priority=900)  # when all files are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
