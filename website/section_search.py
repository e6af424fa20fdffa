"""Sphinx extension: what the search page searches, which are sections and not pages.

Sphinx's index knows which words a page has, and not where they stand: for an excerpt, its script would read the page,
which a browser refuses from the disk. Here every section is written down as it is read, into one script that the search
page loads. assets/section-search.js ranks and shows them, with the stemmer and the stop words of Sphinx.

Left out are code and its output, and solutions, which nobody should come upon by chance; of the reference, all but the
first paragraph on a name.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

from lxml import html
from sphinx.errors import ExtensionError

LARGEST = 600_000  # bytes of the index: what a reader on a phone should have to load
INDEX = "sections.js"  # not in _static, where lean_pages.py looks for the names of classes
#: What the theme has the search page load, and what is loaded in its place.
THEIRS = ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"]
OURS = ["_static/language_data.js", INDEX, "_static/section-search.js"]

#: How much a section weighs, by `page#anchor`: chapters teach a thing, the reference lists it. The first that fits.
WEIGHTS = {
    r"book/(api|bibliography)": 0.3,
    r"book/(exercises/|bug_|claims|how_fast|instructors|what_survives)": 0.5,
    r"book/.*#(ex-|exercises|summary|what-is-left-out-elsewhere)": 0.7,
    r"book/\d": 1.0,
    r"": 0.8,
}


def having(name: str) -> str:
    """XPath: of this class."""
    return f"contains(concat(' ', @class, ' '), ' {name} ')"


#: What is not read. Tables that a cell computes are.
SILENT = " | ".join(
    f".//*[{what}]"
    for what in ["self::script or self::style or self::pre or self::button or self::summary"]
    + [having(name) for name in ("cell_input", "headerlink", "solution")]
    + [f"{having('output')} and not({having('text_markdown')})"]
)
PARTS = f".//*[@id][self::section[h1 or h2 or h3 or h4] or self::dt or {having('exercise')} or {having('citation')}]"
TITLE = f"*[self::h1 or self::h2 or self::h3 or self::h4 or {having('admonition-title')} or {having('label')}]"
INLINE = {"a", "abbr", "b", "cite", "code", "em", "i", "kbd", "small", "span", "strong", "sub", "sup"}

#: What is written with a sign; other words of TeX are written out.
SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "theta": "θ", "kappa": "κ", "lambda": "λ",
    "Pi": "Π", "sigma": "σ", "tau": "τ", "omega": "ω", "sqrt": "√", "top": "ᵀ", "cdot": "·", "times": "×", "odot": "⊙",
    "dots": "…", "le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "sim": "∼", "in": "∈", "sum": "Σ", "infty": "∞",
    "ell": "ℓ", "partial": "∂", "nabla": "∇", "mid": "|", "pm": "±", "propto": "∝", "leftarrow": "←", "frac": "",
}  # fmt: skip
DRESS = re.compile(
    r"\\(color\{#\w+\}|(begin|end)\{\w+\}|[()\[\]]|"
    r"(left|right|text|math\w+|operatorname|tilde|hat|[lr][vV]ert|[bB]igg?[lr]?|over\w+arrow|underbrace)\b ?)"
)
GROUP = r"\{[^{}]*\}"
for _ in range(4):  # groups in groups
    GROUP = rf"\{{(?:[^{{}}]|{GROUP})*\}}"
FRACTION = re.compile(rf"\\[dt]?frac *({GROUP}) *\{{")


def readable(formula: str) -> str:
    r"""TeX as a line of text, for an excerpt.

    Example:
        >>> readable(r"\(\frac{{\color{#0b5fa5}{q}}^\top {k}}{\sqrt{d_{\text{head}}}}\)")
        'qᵀ k/√d_head'
    """
    plain = re.sub(r"\\([,;! \\]|q?quad\b)", " ", FRACTION.sub(r"\1/{", DRESS.sub("", formula)))
    plain = re.sub(r"\\([A-Za-z]+)", lambda word: SIGNS.get(word[1], word[1]), plain)
    return " ".join(re.sub(r"[{}&]|\^(?=ᵀ)|(?<=√) ", "", plain).split())


class Section(NamedTuple):
    """What can be found.

    Attributes:
        explained: For a term of the glossary, the page that explains it; else empty.
    """

    anchor: str
    title: str
    text: str
    explained: str


def sections(article: html.HtmlElement) -> list[Section]:
    """All that can be found in a page: sections, exercises, terms, names, works.

    Example:
        >>> page = '<main><section id="a"><h1>A</h1>One<pre>x</pre><section id="b"><h2>B</h2>two</section></main>'
        >>> [section[:3] for section in sections(html.fromstring(page))]
        [('a', 'A', 'One'), ('b', 'B', 'two')]
    """
    for silent in article.xpath(SILENT):
        silent.drop_tree()
    for formula in article.xpath(f".//*[{having('math')}]"):
        formula.text = readable(formula.text_content())
        formula[:] = []
    for element in article.iter():
        if element.tag not in INLINE:
            element.tail = f" {element.tail or ''}"

    found = []
    for part in reversed(article.xpath(PARTS)):  # the inner first: what they have said, the outer does not say again
        anchor, is_name, explained = part.get("id"), "sig" in part.get("class", "").split(), ""
        if part.tag == "dt":
            title, body = part, part.xpath("following-sibling::dd")[0]
            if not is_name:
                explained = next((link.get("href").split("#")[0] for link in body.iter("a")), "")
        else:
            title, body = part.xpath(TITLE)[0], part
        name = anchor if is_name else " ".join(title.text_content().split())
        title.drop_tree()
        said = [paragraph.text_content() for paragraph in (body.xpath("p[1]") if is_name else [body])]
        found.append(Section(anchor, name, " ".join(" ".join(said).split()), explained))
        body.drop_tree()
    return found[::-1]


def weight(page: str, anchor: str) -> float:
    return next(weight for place, weight in WEIGHTS.items() if re.match(place, f"{page}#{anchor}"))


def index(folder: Path, pages: list[str]) -> str:
    """The script that hands over what is found in built pages.

    Args:
        folder: of the built book.
        pages: their names, without a suffix, in the order of the book.

    Raises:
        ExtensionError: it is larger than `LARGEST`.
    """
    entries = []
    for page in pages:
        article = html.parse(folder / f"{page}.html", html.HTMLParser(encoding="utf-8")).find(".//article")
        if found := sections(article):
            entries.append(
                [f"{page}.html", found[0].title, [[*section, weight(page, section.anchor)] for section in found]]
            )
    script = f"const BOOK = {json.dumps(entries, ensure_ascii=False, separators=(',', ':'))};\n"
    if (size := len(script.encode())) > LARGEST:
        raise ExtensionError(f"the index of the search weighs {size:,} bytes, and may weigh {LARGEST:,}")
    return script


def replace_search(app, exception) -> None:
    """Write the index, and give the search page our scripts."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    (folder / INDEX).write_text(index(folder, sorted(app.env.found_docs)), encoding="utf-8")
    page = folder / "search.html"
    text = page.read_text(encoding="utf-8")
    theirs = re.search(r"\s*".join(f'<script src="{re.escape(file)}"></script>' for file in THEIRS), text)
    if theirs is None:
        raise ExtensionError("the theme's search page loads other scripts than it did")
    ours = "\n".join(f'<script defer src="{file}"></script>' for file in OURS)
    page.write_text(text.replace(theirs[0], ours), encoding="utf-8")


def setup(app) -> dict[str, bool]:
    app.connect("build-finished", replace_search)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
