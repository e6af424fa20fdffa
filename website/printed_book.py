"""Sphinx extension: the book on paper, through the builder of LaTeX.

A page folds, moves and links; paper does not. What Sphinx has no LaTeX for gets a form here:

- Pages that are used at a screen, or by a teacher (`pdf_leaves_out`), stay away; links to them go to the site.
- The start page becomes a preface, the captions of the table of contents become parts.
- Solutions stand at the end of their chapter. Code that a page folds away is not printed.
- A live figure is its stored picture, with the address where it moves.
- A short cell stands on one page, under the formula that it computes. Long lines of code have smaller letters.
- Drawings in SVG, in files and in pages, become PDF as Chromium draws them under the style sheet of the pages.
- Raw HTML that is no drawing is a warning: it would be lost without a word.
"""

import base64
import datetime
import hashlib
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.builders.latex import LaTeXBuilder
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx_exercise.nodes import solution_node

from attnlib.course.book import ROOT, site
from attnlib.figures.page import VIEW

COLOUR = re.compile(r"\\color\{#([0-9a-fA-F]{6})\}")
NUMBER = re.compile(r"(\d+) · ")
SCALE = 80  # per cent of the width in inches that a figure was drawn for
MANY = 7  # columns: more, and the letters of a table are smaller
WIDE = 106  # columns of code: more, and its letters are smaller
SMALLEST = 0.85  # of the usual size, for code
SHORT = 10  # lines of code: no more, and they stand on one page, with as many that they print
BEGINNING = 4  # lines of longer code that stand before it goes on with the next page
HEIGHTS = {"code": 11.5, "frame": 24, "formula": 48, "line": 15, "title": 36}  # pt, at most
LETTERS = 90  # of a line of text
NOTHING = re.compile(r"\s*<(script|br )")  # to see; beside the HTML of a line break, MyST writes its LaTeX
APPENDICES = "Appendices"  # the caption after which chapters have letters
# The theme's words for colours, for the style sheet of the pages.
STYLE = """
:root { --pst-color-text-base: #222; --pst-color-text-muted: #555; --pst-color-background: #fff;
        --pst-color-surface: #f4f5f6; --pst-color-link: #222; --pst-color-border: #ccc; }
body { margin: 0; }
.drawing { display: inline-block; width: 580px; }
.drawing svg { margin: 0; font-family: Drawing, sans-serif; }
"""
# The letters of the headings, as a browser wants them.
FACE = "@font-face {{ font-family: Drawing; font-weight: {}; font-style: {}; src: url(data:font/otf;base64,{}); }}\n"
FACES = [("400", "normal", "regular"), ("700", "normal", "bold"), ("400", "italic", "italic")]
log = logging.getLogger(__name__)


class Outputs(SphinxPostTransform):
    """Before myst-nb chooses one of the forms of an output: source is code, and a live figure says where it moves."""

    default_priority = 3
    formats = ("latex",)

    def run(self, **kwargs) -> None:
        for bundle in [n for n in self.document.findall(nodes.container) if n.get("nb_element") == "mime_bundle"]:
            forms = {form["mime_type"]: form for form in bundle}
            if "text/latex" in forms and forms["text/latex"].astext().startswith(r"\begin{Verbatim}"):
                bundle.remove(forms["text/latex"])  # it would be set as a formula
                for block in forms["text/plain"].findall(nodes.literal_block):
                    block["language"] = "python"
            if VIEW in forms:
                address = f"{site()}/{place(bundle)}"
                link = nodes.reference("", address.removeprefix("https://"), refuri=address)
                line = nodes.paragraph("", "", nodes.Text("Live in the page: "), link)
                bundle.parent.insert(bundle.parent.index(bundle) + 1, nodes.container("", line, classes=["live"]))
                for image in bundle.findall(nodes.image):
                    image["align"] = "center"


class PrintedBook(LaTeXBuilder):
    """Sphinx's builder, with a book in the place of a site."""

    def init_context(self) -> None:
        super().init_context()
        citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
        self.context |= {"release": citation["version"], "releasename": "Version", "date": released(citation)}

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        if self.left_out(docname):
            return f"{site()}/{docname}.html"
        return super().get_target_uri(docname, typ)

    def left_out(self, docname: str) -> bool:
        return any(fnmatch(docname, pattern) for pattern in self.config.pdf_leaves_out)

    def parts(self) -> dict[str, str]:
        """The captions of the table of contents, by the page that they stand before."""
        trees = self.env.external_site_map.root.subtrees
        return {str(tree.items[0]).removesuffix(".ipynb").removesuffix(".md"): tree.caption for tree in trees}

    def assemble_doctree(self, *args, **kwargs) -> nodes.document:
        tree = super().assemble_doctree(*args, **kwargs)
        for file in [f for f in tree.findall(addnodes.start_of_file) if self.left_out(f["docname"])]:
            file.parent.remove(file)
        chapters = arrange(tree, self.parts())
        number(chapters)
        for chapter in chapters:
            solutions_last(chapter)
        without_folded_code(tree)
        hints(tree)
        whole_cells(tree)
        for formula in tree.findall(lambda n: isinstance(n, nodes.math | nodes.math_block)):
            formula.children = [nodes.Text(COLOUR.sub(lambda c: rf"\color[HTML]{{{c[1].upper()}}}", formula.astext()))]
        draw(drawings(tree, Path(self.srcdir)), Path(self.outdir))
        sizes(tree)
        return tree


# --- what a book has ----------------------------------------------------------------------------------


def place(node: nodes.Node) -> str:
    """The page and the section of a node, as the end of an address."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return f"{node['docname']}.html#{node['ids'][0]}"


def released(citation: dict) -> str:
    """The day on which a version came out; never the day of the build."""
    day: datetime.date | None = citation.get("date-released")
    return f"{day.day} {day:%B %Y}" if day else "not released yet"


def latex(code: str) -> nodes.raw:
    return nodes.raw("", code, format="latex")


def contents(depth: int) -> str:
    """From here on, the table of contents lists chapters (0), or their sections too (1)."""
    return rf"\addtocontents{{toc}}{{\protect\setcounter{{tocdepth}}{{{depth}}}}}"


def arrange(tree: nodes.document, parts: dict[str, str]) -> list[addnodes.start_of_file]:
    """Make the start page a preface, and chapters and parts of what stood in it; return the chapters.

    Args:
        tree: the start page, with all others in the place of its table of contents.
        parts: captions, by the name of the page that they stand before.
    """
    book = next(tree.findall(nodes.section))
    pages = list(tree.findall(addnodes.start_of_file))
    chapters = [file for file in pages if not any(file in page.findall() for page in pages if page is not file)]
    for chapter in chapters:
        chapter.parent.remove(chapter)
    title, *preface = book.children
    preface = [n for n in preface if not (isinstance(n, nodes.section) and n["names"] == ["contents"])]
    book.children = []
    book += [title, latex(r"\setcounter{secnumdepth}{-1}")]
    book += nodes.section("", nodes.title("", "Preface"), *preface, ids=["preface"])
    book += latex(r"\setcounter{secnumdepth}{0}")
    for chapter in chapters:
        if caption := parts.get(chapter["docname"]):
            book += latex(rf"\part{{{caption}}}" + (r"\appendix" if caption == APPENDICES else ""))
        book += [latex(contents(1)), chapter]
        for section in chapter.findall(nodes.section):
            if section[0].astext() == "Exercises":  # the last sections are the same in every chapter
                section.insert(0, latex(contents(0)))
    return chapters


def number(chapters: list[addnodes.start_of_file]) -> None:
    """Leave the numbers of chapters, which their titles carry, to LaTeX."""
    for count, chapter in enumerate(chapters, 1):
        title = next(chapter.findall(nodes.title))
        if found := NUMBER.match(title.astext()):
            if int(found[1]) != count:
                log.warning("%s is chapter %d of the printed book, and called %s", chapter["docname"], count, found[1])
            title[0] = nodes.Text(title[0].astext().removeprefix(found[0]))


def solutions_last(chapter: addnodes.start_of_file) -> None:
    """Move what a page folds away under its exercises to a section at the end."""
    solutions = list(chapter.findall(solution_node))
    last = nodes.section("", nodes.title("", "Solutions"), ids=["solutions"])
    for solution in solutions:
        solution.parent.remove(solution)
        title, *body = solution.children
        title = nodes.title("", title.astext().removeprefix("Solution to "))
        last += nodes.section("", title, *body, ids=[solution["label"]])
    if solutions:
        next(chapter.findall(nodes.section)).append(last)


def without_folded_code(tree: nodes.document) -> None:
    """Keep of such a cell what it shows."""
    for cell in [n for n in tree.findall(nodes.container) if n.get("nb_element") == "cell_code"]:
        if cell.get("hide_mode") in ("input", "input+output", "all"):
            cell.children = [part for part in cell if part.get("nb_element") != "cell_code_source"]
        if not cell.children:
            cell.parent.remove(cell)


def hints(tree: nodes.document) -> None:
    """Open what is folded, its title at the head of its first line."""
    for fold in list(tree.findall(nodes.container)):
        if fold.get("design_component") == "dropdown":
            fold["classes"] = ["hint"]
            rubric = fold[0]
            strong = nodes.strong("", rubric.astext() + ".")
            fold.remove(rubric)
            if fold.children and isinstance(fold[0], nodes.paragraph):
                fold[0].insert(0, [strong, nodes.Text(" ")])
            else:
                fold.insert(0, nodes.paragraph("", "", strong))


def whole_cells(tree: nodes.document) -> None:
    """Ask for a page with room for a short cell and for what leads to it: a formula, its paragraph, a heading."""
    for cell in [n for n in tree.findall(nodes.container) if n.get("nb_element") == "cell_code"]:
        blocks = list(cell.findall(nodes.literal_block))
        if not blocks or cell[0].get("nb_element") != "cell_code_source":
            continue
        code, *printed = (len(block.astext().rstrip().splitlines()) for block in blocks)
        if code <= SHORT:
            need = HEIGHTS["frame"] * (1 + len(printed)) + HEIGHTS["code"] * (code + min(sum(printed), SHORT))
        else:
            need = HEIGHTS["frame"] + HEIGHTS["code"] * BEGINNING
        first, more = beginning(cell)
        first.parent.insert(first.parent.index(first), latex(rf"\bookneed{{{need + more:.0f}pt}}"))


def beginning(cell: nodes.Node) -> tuple[nodes.Node, float]:
    """The node from which on nothing may be parted from a cell, and how high what stands before the cell is, in pt."""
    first, height = cell, 0.0
    while True:
        before = [n for n in first.parent[: first.parent.index(first)] if not isinstance(n, nodes.Invisible)]
        if before and isinstance(before[-1], nodes.math_block):
            height += HEIGHTS["formula"]
        elif before and isinstance(before[-1], nodes.paragraph) and isinstance(first, nodes.math_block):
            height += HEIGHTS["line"] * (1 + len(before[-1].astext()) // LETTERS)
        elif len(before) == 1 and isinstance(before[0], nodes.title) and isinstance(first.parent.parent, nodes.section):
            first, height = first.parent, height + HEIGHTS["title"]
            continue
        else:
            return first, height
        first = before[-1]


def sizes(tree: nodes.document) -> None:
    """What was measured for a screen, in the measure of a page."""
    for image in tree.findall(nodes.image):
        image.setdefault("scale", SCALE)
    for table in [t for t in tree.findall(nodes.table) if len(list(t.findall(nodes.colspec))) > MANY]:
        wrapped = nodes.container("", classes=["manycolumns"])
        table.replace_self(wrapped)
        wrapped += table
    long_lines(tree)
    for entry in tree.findall(nodes.entry):
        if not entry.astext().strip() and not list(entry.findall(nodes.image)):
            entry.clear()  # an empty paragraph would be a line


def long_lines(tree: nodes.document) -> None:
    """Make the letters of code so small that its longest line has room, down to a limit."""
    for block in list(tree.findall(nodes.literal_block)):
        columns = max(map(len, block.astext().splitlines()), default=0)
        if columns > WIDE:
            smaller = latex(rf"\begingroup\bookcode={max(WIDE / columns, SMALLEST):.3f}\bookcode")
            block.replace_self([smaller, block.deepcopy(), latex(r"\endgroup")])


# --- drawings -----------------------------------------------------------------------------------------


def drawings(tree: nodes.document, source: Path) -> dict[str, str]:
    """Put the name of a PDF in the place of each SVG; return what is to be drawn, by that name."""
    wanted = {}
    for image in [n for n in tree.findall(nodes.image) if n["uri"].endswith(".svg")]:
        wanted |= stand_in(image, (source / image["uri"]).read_text("utf8"))
    for raw in [n for n in tree.findall(nodes.raw) if "html" in n["format"].split()]:
        if "<svg" in raw.astext():
            image = nodes.image(align="center")
            wanted |= stand_in(image, raw.astext())
            raw.replace_self(image)
        elif not NOTHING.match(raw.astext()):
            log.warning("raw HTML has no form in the PDF: %.60r", raw.astext(), location=raw)
    return wanted


def stand_in(image: nodes.image, markup: str) -> dict[str, str]:
    name = f"drawing-{hashlib.sha256(markup.encode()).hexdigest()[:12]}.pdf"
    image["uri"], image["candidates"] = name, {"*": name}
    return {name: markup}


def draw(wanted: dict[str, str], folder: Path) -> None:
    """Print drawings, each on a page of its own size."""
    from playwright.sync_api import sync_playwright

    from benchmarks.figures import launch

    style = "".join(FACE.format(weight, slope, letters(file)) for weight, slope, file in FACES) + STYLE
    style += (ROOT / "assets" / "book.css").read_text("utf8")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.emulate_media(media="screen")  # the style sheet knows how to print the page, not the drawing
        for name, markup in wanted.items():
            page.set_content(f'<!doctype html><style>{style}</style><div class="drawing">{markup}</div>')
            page.evaluate("document.fonts.ready.then(() => true)")
            box = page.locator(".drawing svg").bounding_box()
            size = {side: f"{box[side]}px" for side in ("width", "height")}
            page.pdf(path=folder / name, print_background=True, page_ranges="1", **size)
        browser.close()


def letters(cut: str) -> str:
    """A cut of the font of headings, in base64."""
    where = subprocess.check_output(["kpsewhich", f"texgyreheros-{cut}.otf"], text=True).strip()
    return base64.b64encode(Path(where).read_bytes()).decode()


def setup(app) -> dict[str, bool]:
    app.add_builder(PrintedBook, override=True)
    app.add_config_value("pdf_leaves_out", [], "env", list)
    app.add_post_transform(Outputs)
    return {"parallel_read_safe": True}
