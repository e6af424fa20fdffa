"""A lecture deck for every chapter, cut out of its notebook by the tags of its cells. Nothing is run.

    python -m website.slides            every deck, and a page that lists them
    python -m website.slides 03 04      these alone

A cell tagged `slide` begins a slide, `fragment` comes to it with the next click, `same-slide` stands on it at once.
The untagged prose after a tagged cell goes to the speaker's notes. nbconvert makes the deck, reveal.js shows it.
"""

import argparse
import importlib.util
import json
import re
import shutil
from html import escape
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from nbformat.v4 import new_markdown_cell
from pygments.formatters import HtmlFormatter
from tqdm import tqdm

from attnlib.course.book import BOOK, ROOT, settings
from attnlib.course.figures.translator_file import MODELS
from attnlib.figures.page import HOST, STATE
from scripts.notebooks import Stale, choose, with_outputs
from website.lean_pages import MATHJAX
from website.live_figures import share
from website.pictures import in_page
from website.references import Unknown
from website.slide_room import builds_table, joined, shows_figure, split
from website.slide_text import PAGES, SlideText, code

#: Beside the pages, so that a site and an archive of it have the decks; no page of them is needed to show a deck.
DECKS = ROOT / "_build" / "html" / "slides"
TEMPLATE = ROOT / "website" / "deck"
TAGS = {"slide", "fragment", "same-slide"}
REVEAL = ["dist/reveal.js", "dist/reveal.css", "plugin/notes/notes.js", "plugin/zoom/zoom.js", "LICENSE"]
#: The parts of MathJax that MATHJAX asks for. TeX may ask for its extensions.
FORMULAS = ["startup.js", "core.js", "input/tex.js", "input/tex/extensions", "output/chtml.js", "output/chtml/fonts"]
FORMULAS += ["a11y/assistive-mml.js"]
COLOURS = {"light": "a11y-high-contrast-light", "dark": "a11y-high-contrast-dark"}  # of code, as the theme has them


# --- from a chapter to a deck -----------------------------------------------------------------------


def with_decks() -> list[Path]:
    """The chapters, by their numbers: every one has a deck."""
    return sorted(BOOK.glob("[0-9][0-9]_*.md"))


def tag_of(cell) -> str | None:
    """What a cell is on a slide."""
    found = sorted(set(cell.metadata.get("tags", [])) & TAGS)
    if len(found) > 1:
        raise Unknown(f"a cell has the tags {' and '.join(found)}, and can be one of them only: {cell.source[:60]!r}")
    return found[0] if found else None


def heading_of(source: str) -> str | None:
    """The last heading in a cell of Markdown."""
    prose = re.sub(r"^(```|:::).*?^\1", "", source, flags=re.M | re.S)
    headings = re.findall(r"^#{1,6} +(.+?)\s*$", prose, re.M)
    return headings[-1] if headings else None


def without_last_heading(cell):
    """The cell as a slide shows it: a heading at its end is that of what comes next."""
    kept = re.sub(r"(\n+(\([\w-]+\)=|#{1,6} .+?)\s*)+\Z", "", cell.source)
    return (
        nbformat.from_dict({**cell, "source": kept})
        if cell.cell_type == "markdown" and heading_of(cell.source)
        else cell
    )


def slides_of(notebook) -> list[dict]:
    """The slides that the tags ask for, one after the other.

    Returns:
        For each `cells`, those that are shown, and `notes`, the prose for the speaker, captions among it. A slide that
        begins without a heading of its own gets that of its section; `continues` says whether the slide before has the
        same. A live figure is a slide, tagged or not.

    Raises:
        Unknown: no cell is tagged `slide`, or one is tagged that has no slide to stand on.
    """
    slides: list[dict] = []
    section = ""
    for cell in notebook.cells:
        tag = tag_of(cell)
        if tag == "slide":
            own = re.match(r"(\s|\([\w-]+\)=)*#", cell.source) and cell.cell_type == "markdown"
            title = [] if own or not section else [new_markdown_cell(f"## {section}")]
            continues = bool(title and slides) and heading_of(slides[-1]["cells"][0].source) == section
            slides.append({"cells": [*title, without_last_heading(cell)], "notes": [], "continues": continues})
        elif tag and not slides:
            raise Unknown(f"a cell is tagged `{tag}` before any is tagged `slide`: {cell.source[:60]!r}")
        elif tag:
            slides[-1]["cells"].append(without_last_heading(cell))
        elif slides and cell.cell_type == "markdown":
            slides[-1]["notes"].append(cell.source)
        elif slides and shows_figure(cell):
            continues = heading_of(slides[-1]["cells"][0].source) == section
            slides.append({"cells": [new_markdown_cell(f"## {section}"), cell], "notes": [], "continues": continues})
        if tag and (caption := cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")):
            slides[-1]["notes"].append(caption)
        if cell.cell_type == "markdown":
            section = heading_of(cell.source) or section
    if not slides:
        raise Unknown("no cell is tagged `slide`")
    return slides


def first_and_last(notebook, name: str) -> tuple[str, str]:
    """Markdown of the slides that no cell has to be tagged for: what to expect, and where to go on."""
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    title = re.search(r"^# (.+)$", prose[0], re.M)[1]
    able = re.search(r"^\| \*\*You will be able to\*\* \| (.+?) \|$", "\n".join(prose), re.M)
    if able is None:
        raise Unknown("its table has no row **You will be able to**")
    goals = "\n".join(f"- {goal}" for goal in able[1].split("; "))
    first = f"# {title}\n\n{settings()['title']}\n\n**You will be able to**\n\n{goals}"
    exercises = re.findall(r"^:::\{exercise\} (.+)\n:label: (\S+)", "\n".join(prose), re.M)
    last = f"## {title}\n\nThe page, with everything that was shown here, to run: [{title}]({name}.ipynb)"
    if exercises:
        last += "\n\nExercises:\n\n" + "\n".join(f"- [{words}]({label})" for words, label in exercises)
    return first, last


def cut(notebook, name: str):
    """The notebook of a deck: the cells that are shown, with nbconvert's marks, and the notes.

    Args:
        notebook: of the chapter, as it was run.
        name: of the chapter.
    """
    shown = []

    def show(cell, kind: str, html_class: str = "", style: str = "") -> None:
        cell = nbformat.from_dict(cell)
        cell.metadata["slideshow"] = {"slide_type": kind}
        cell.metadata |= {"html_class": html_class, "style": style}
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code":
            cell.outputs = [] if "hide-output" in tags else cell.outputs
            # A live figure needs the room, and a table says more than the lines that build it.
            cell.metadata["hide_input"] = "hide-input" in tags or shows_figure(cell) or builds_table(cell)
        shown.append(cell)

    first, last = first_and_last(notebook, name)
    show(new_markdown_cell(first), "slide", "first")
    for slide in joined(slides_of(notebook)):
        opening, *rest = slide["cells"]
        beside = split(slide["cells"])
        live = any(map(shows_figure, slide["cells"]))
        show(opening, "slide", "beside" if beside else "live" * live, f"--picture: {beside}px" if beside else "")
        if slide["notes"]:
            # Before the rest: reveal.js takes notes that stand in a fragment for notes on that fragment.
            show(new_markdown_cell("\n\n".join(slide["notes"])), "notes")
        for cell in rest:
            show(cell, "fragment" if tag_of(cell) == "fragment" else "-")
    show(new_markdown_cell(last), "slide", "last")

    deck = nbformat.v4.new_notebook(cells=shown, metadata={"title": heading_of(first)})
    if any(map(shows_figure, shown)):
        deck.metadata["widgets"] = {STATE: share(notebook.metadata["widgets"][STATE], name)}
    return deck


def html_of(deck, text: SlideText) -> str:
    """The page of a deck."""
    exporter = SlidesExporter(template_name=TEMPLATE.name, extra_template_basedirs=[str(TEMPLATE.parent)])
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    exporter.register_filter("myst", text.html)
    exporter.register_filter("code", code)
    exporter.register_filter("picture", in_page)
    made, _ = exporter.from_notebook_node(
        deck, resources={"mathjax": json.dumps(MATHJAX), "title": deck.metadata.title}
    )
    return made


# --- what all decks share ---------------------------------------------------------------------------


def package(name: str) -> Path:
    """The folder of an installed package, which is not imported."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"The package {name} is missing, which brings a part of the decks: `make book` installs it.")
    return Path(found.submodule_search_locations[0])


def copy_shared(target: Path) -> None:
    """Programs, styles and fonts: a deck asks no network."""
    shutil.rmtree(target, ignore_errors=True)

    def copy(source: Path, to: Path) -> None:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, to) if source.is_dir() else shutil.copyfile(source, to)

    for file in REVEAL:
        copy(package("sphinx_revealjs") / "_static" / "revealjs" / file, target / "reveal" / Path(file).name)
    for file in FORMULAS:
        copy(package("sphinx-mathjax-offline") / "static" / "mathjax" / file, target / "mathjax" / file)
    for file in [
        TEMPLATE / "deck.js",
        TEMPLATE / "deck.css",
        ROOT / "assets" / "book.css",
        HOST,
        *MODELS.glob("*.js"),  # it loads them from beside itself
    ]:
        copy(file, target / file.name)
    styles = [HtmlFormatter(style=s).get_style_defs(f'html[data-theme="{t}"] .highlight') for t, s in COLOURS.items()]
    (target / "code.css").write_text("\n".join(styles), "utf8")


# --- all decks --------------------------------------------------------------------------------------


def build(chapters: list[Path], into: Path) -> dict[str, int]:
    """Write decks.

    Args:
        chapters: their sources.
        into: a folder.

    Returns:
        How many slides each deck has.

    Raises:
        SystemExit: a chapter cannot be shown; the message says which, and why.
    """
    into.mkdir(parents=True, exist_ok=True)
    copy_shared(into / "shared")
    text, counts = SlideText(), {}
    for source in tqdm(chapters, desc="decks", unit="deck"):
        try:
            deck = cut(with_outputs(source), source.stem)
            (into / f"{source.stem}.html").write_text(html_of(deck, text), "utf8")
        except (Stale, Unknown) as error:
            raise SystemExit(f"book/{source.name}: {error}.") from error
        counts[source.stem] = sum(c.metadata.slideshow.slide_type == "slide" for c in deck.cells)
    return counts


def index(chapters: list[Path], into: Path) -> None:
    """The page that lists the decks."""
    rows = []
    for source in chapters:
        title = re.search(r"^# (.+)$", source.read_text("utf8"), re.M)[1]
        rows.append(f'<li><a href="{source.stem}.html">{escape(title)}</a></li>')
    page = (TEMPLATE / "list.html").read_text("utf8")
    (into / "index.html").write_text(page.replace("@DECKS@", "\n".join(rows)).replace("@PAGES@", PAGES), "utf8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chapter", nargs="*", help="only these: 01 or 01_rnn_language_model")
    parser.add_argument("--into", type=Path, default=DECKS, help="another folder to write to")
    arguments = parser.parse_args()
    counts = build([s for name in arguments.chapter for s in choose(name)] or with_decks(), arguments.into)
    index(with_decks(), arguments.into)
    for name, count in counts.items():
        print(f"{name}: {count} slides")
    print(f"The decks: {arguments.into / 'index.html'}")


if __name__ == "__main__":
    main()
