"""Sphinx extension: what a page loads and does not need is left out, so that it opens quickly on a phone.

- The theme brings its icons twice: as fonts, which are enough, and as a script of 1.5 MB, which goes.
- It brings Thebe, which runs cells on a server that this book has not; its script ended in an error on every page.
- The fonts keep the icons that a style sheet names, twenty of two thousand.
- Style sheets keep the rules whose classes occur in a page or a script of the book.
- A name or a bracket in code has the colour of the code around it, and needs no element that says so.
- MathJax comes in parts: TeX in, HTML out, and MathML beside it for those who hear the page. Its menu stays away.
"""

import itertools
import logging
import re
from pathlib import Path

import tinycss2
from fontTools import subset

from website.code_lines import CODE

ICONS = re.compile(r'\s*(<!--[^>]*icons -->\s*)?<script src="[^"]*/fontawesome\.js[^"]*"></script>')
THEBE = re.compile(
    r"<script>const THEBE_JS_URL.*?</script>|<script[^>]*(?:/sphinx-thebe\.js|x-thebe-config).*?</script>"
    r"|<link[^>]*/sphinx-thebe\.css[^>]*>|<script>kernelName = .*?</script>",
    re.S,
)
WORD = re.compile(r"[\w-]+")
WOFF2 = re.compile(r'url\([^)]*/webfonts/[^)]*\.woff2\) format\("woff2"\),')
NESTED = {"media", "supports", "layer", "container"}  # rules that hold rules

MATHJAX = {
    "loader": {"load": ["core", "input/tex", "output/chtml", "a11y/assistive-mml"]},
    "options": {"enableAssistiveMml": True},
}


def choose_parts_of_mathjax(app, config) -> None:
    """In place of the one file that has everything."""
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = {**(config.mathjax3_config or {}), **MATHJAX}


def without_unused_rules(style: str, words: set[str]) -> str:
    """A style sheet without the rules that can apply to nothing, the others as they were.

    A selector applies to nothing when it asks for a class that is not among the words of the book. Classes inside of
    `:is()` and `:not()` do not count.

    Example:
        >>> without_unused_rules(".bell,.list:before{color:red}@media print{.bell{top:0}p{left:0}}", {"list"})
        '.list:before{color:red}@media print{p{left:0}}'
    """
    kept = []
    for rule in tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True):
        if rule.type == "qualified-rule":
            selectors = [s for s in split(rule.prelude) if classes(s) <= words]
            if selectors:
                text = ",".join(tinycss2.serialize(s).strip() for s in selectors)
                kept.append(f"{text}{{{tinycss2.serialize(rule.content)}}}")
        elif rule.type == "at-rule" and rule.at_keyword in NESTED and rule.content is not None:
            inner = without_unused_rules(tinycss2.serialize(rule.content), words)
            if inner:
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}")
        else:
            kept.append(rule.serialize())
    return "".join(kept)


def plain_kinds(style: str) -> set[str]:
    """The kinds of token that a style sheet of Pygments shows as it shows all code.

    Args:
        style: One theme or more; each has a rule for `.highlight` and others for `.highlight .KIND`.

    Example:
        >>> plain_kinds(".highlight { background: white; color: #080808 } .highlight .n { color: #080808 }"
        ...             ".highlight .k { color: #6730C5 } .highlight .gs { font-weight: bold }")
        {'n'}
    """
    around, kinds = {}, []
    for selector, declared in re.findall(r"([^{}]*){([^}]*)}", re.sub(r"/\*.*?\*/", "", style, flags=re.S)):
        theme, _, kind = (part.strip() for part in selector.partition(".highlight"))
        if kind == "":
            around[theme] = re.findall(r"(?<![-\w])color: [^; ]+", declared)
        elif re.fullmatch(r"\.\w+", kind):
            kinds.append((theme, kind[1:], [part.strip() for part in declared.split(";") if part.strip()]))
    coloured = {kind for theme, kind, declared in kinds if declared != around[theme]}
    return {kind for _, kind, _ in kinds} - coloured


def without_plain_tags(code: str, plain: set[str]) -> str:
    """A block of code as Pygments wrote it, without the elements of these kinds.

    Example:
        >>> without_plain_tags('<span class="n">x</span> <span class="o">=</span> <span class="n">y</span>', {"n"})
        'x <span class="o">=</span> y'
    """
    return re.sub(rf'<span class="({"|".join(sorted(plain))})">([^<]*)</span>', r"\2", code)


def split(prelude: list) -> list[list]:
    """The selectors of a rule."""
    selectors: list[list] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def classes(selector: list) -> set[str]:
    """The classes that an element must have."""
    return {
        after.value
        for dot, after in itertools.pairwise(selector)
        if dot.type == "literal" and dot.value == "." and after.type == "ident"
    }


def keep_icons(font: Path, characters: set[int]) -> None:
    """Take all other icons out of a font."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it would report on every table
    options = subset.Options()
    loaded = subset.load_font(str(font), options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=characters)
    chosen.subset(loaded)
    subset.save_font(loaded, str(font), options)


def leave_out(app, exception) -> None:
    """From the book as it was written, since the theme has no setting for it."""
    if exception is not None or app.builder.format != "html":
        return
    static, words = Path(app.outdir) / "_static", set()
    plain = plain_kinds((static / "pygments.css").read_text(encoding="utf-8"))
    for page in Path(app.outdir).rglob("*.html"):
        text = THEBE.sub("", ICONS.sub("", page.read_text(encoding="utf-8")))
        text = CODE.sub(lambda block: without_plain_tags(block[0], plain), text)
        page.write_text(text, encoding="utf-8")
        words |= set(WORD.findall(text))
    for script in static.rglob("*.js"):  # classes come and go
        if script.name != "fontawesome.js" and "mathjax" not in script.parts:
            words |= set(WORD.findall(script.read_text(encoding="utf-8", errors="ignore")))
    characters = set()
    for style in static.rglob("*.css"):
        text = WOFF2.sub("", without_unused_rules(style.read_text(encoding="utf-8"), words))
        style.write_text(text, encoding="utf-8")
        characters |= set(map(ord, text))  # an icon is a character; serialising has written escapes out
    for font in (static / "vendor").rglob("webfonts/*"):
        if font.suffix == ".ttf":
            keep_icons(font, characters)
        else:
            font.unlink()  # the same in another format, and whole


def setup(app) -> dict[str, bool]:
    app.connect("config-inited", choose_parts_of_mathjax, priority=900)  # after the extension that brings it
    app.connect("build-finished", leave_out, priority=900)  # when all files are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
