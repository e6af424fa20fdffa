"""Sphinx extension: the pictures that cells draw stand in the page itself, in its own colours, light and dark.

matplotlib writes SVG with one shade of each colour. Here each becomes a variable of assets/book.css, the white paper
goes, and so does all that only a file needs. assets/pictures.js stacks the panels of a picture where a page is narrow.
"""

import re
from hashlib import sha256
from html import escape, unescape
from pathlib import Path

from sphinx.errors import ExtensionError

from attnlib.figures.palette import CURVES, ROLES
from attnlib.figures.plots import GRID, INK, MUTED, ON_FULL, ON_PALE, PAPER

#: What a page carries of one picture, in bytes. A larger one is refused: its cell should draw less.
LARGEST = 200_000
#: On an image, which is as light in a dark page, and on a full cell, which is as dark in a light one.
EVERYWHERE = {"#000000", ON_FULL}
VARIABLES = {
    PAPER: "--pst-color-background",
    INK: "--pst-color-text-base",
    ON_PALE: "--picture-number",
    MUTED: "--pst-color-text-muted",
    GRID: "--picture-grid",
    **{colour.light: f"--attn-{role}" for role, colour in ROLES.items()},
    **{colour.light: f"--curve-{n}" for n, colour in enumerate(CURVES)},
}
COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}\b")
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(r"\d+\.\d{3,}")
#: matplotlib numbers all that it draws. assets/pictures.js asks for the panels; of the others, a page needs those that
#: something in the picture refers to.
NUMBERED = re.compile(r' id="((?!axes_)[\w.]+_\d+)"')
REFERENCE = re.compile(r'(?:url\(|href=")#([^)"]+)')
NAMED = re.compile(r'(?<=\bid=")|(?<=url\(#)|(?<=href="#)')
DROPPED = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->|\s?transform=\"rotate\(-0 [^\"]*\"", re.S
)
IMAGE = re.compile(r'<img(?P<attributes>[^>]*) src="[^"]*?_images/(?P<file>[^"/]+\.svg)"(?P<more>[^>]*?)/?>')


def in_page(svg: str, alt: str) -> str:
    """A picture of matplotlib as a part of a page.

    Args:
        svg: As matplotlib has written it.
        alt: What it shows, in words.

    Raises:
        ValueError: It has a colour that has no twin in a dark page, or it is too heavy.
    """
    text = DROPPED.sub("", svg).strip()
    unknown = set(COLOUR.findall(text)) - VARIABLES.keys() - EVERYWHERE
    if unknown:
        raise ValueError(f"nobody knows how {', '.join(sorted(unknown))} should look in a dark page")
    # The paper: of the whole picture, then of each of its panels.
    text = re.sub(rf'(<g id="patch_\d+">\s*<path d="[^"]*?z\s*" style="fill: ){PAPER}"', r'\1none"', text)
    text = COLOUR.sub(lambda hue: hue[0] if hue[0] in EVERYWHERE else f"var({VARIABLES[hue[0]]})", text)
    text = TAG.sub(lambda tag: NUMBER.sub(lambda number: f"{float(number[0]):.2f}", tag[0]), text)
    # Base64 and paths are broken into lines; indents say nothing.
    text = re.sub(r"\s*\n\s*", " ", text)
    text = re.sub(r"(?<=base64,)[^\"]+", lambda data: data[0].replace(" ", ""), text)
    text = text.replace("> <", "><")
    used = set(REFERENCE.findall(text))
    text = NUMBERED.sub(lambda name: name[0] if name[1] in used else "", text)
    # Ids are those of a file, and a page has many.
    text = NAMED.sub(f"p{sha256(svg.encode()).hexdigest()[:8]}-", text)
    if len(text) > LARGEST:
        raise ValueError(f"it weighs {len(text):,} bytes, and a page carries at most {LARGEST:,} of one picture")
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text).groups()
    size = f'width="{float(width) * 4 / 3:.0f}" height="{float(height) * 4 / 3:.0f}"'
    head = f'class="picture" role="img" aria-label="{escape(alt)}" {size}'
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', lambda _: head, text, count=1)


def put_in(app, pagename, templatename, context, doctree) -> None:
    """Replace the images of a page that cells have drawn."""
    body = context.get("body", "")
    files = {name: source for source, name in app.builder.images.items()}

    def replace(image: re.Match) -> str:
        source = Path(app.srcdir) / files[image["file"]]
        if "jupyter_execute" not in source.parts:
            return image[0]  # drawn by hand
        alt = re.search(r'alt="([^"]*)"', image["attributes"] + image["more"])
        try:
            return in_page(source.read_text("utf8"), unescape(alt[1]))
        except ValueError as error:
            raise ExtensionError(f"{pagename}: the picture of which it is said {alt[1]!r}: {error}") from error

    drawn = IMAGE.sub(replace, body)
    if drawn != body:
        context["body"] = drawn
        app.add_js_file("pictures.js", loading_method="defer")


def setup(app) -> dict[str, bool]:
    app.connect("html-page-context", put_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
