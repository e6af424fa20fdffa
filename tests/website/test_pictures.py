"""website/pictures.py: a picture of matplotlib becomes a part of a page, in the page's colours."""

import io
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import nbformat
import pytest

from attnlib.course.book import BOOK
from attnlib.figures.palette import ROLES
from attnlib.figures.plots import curves, heatmap, of, use_style
from website import pictures
from website.pictures import in_page

STORED = [
    pytest.param(output.data["image/svg+xml"], id=f"{page.stem}-{cell.id}")
    for page in sorted(BOOK.glob("*.ipynb"))
    for cell in nbformat.read(page, as_version=4).cells
    for output in cell.get("outputs", [])
    if "image/svg+xml" in output.get("data", {})
]
assert STORED, "no chapter stores a picture"


@pytest.fixture(autouse=True)
def in_style():
    use_style()


def drawn() -> str:
    file = io.StringIO()
    plt.gcf().savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def test_colours_are_those_of_the_page_and_the_paper_is_gone():
    _, ax = plt.subplots()
    curves({"ours": [1.0, 2.0]}, ax, xlabel="x", ylabel="y", levels={"luck": 1.5})
    ax.plot([1, 2], **of("key"))
    ax.add_patch(plt.Rectangle((1, 1), 1, 1, fill=False, edgecolor="black"))  # around something in an image
    page = in_page(drawn(), "A curve.")
    assert set(re.findall(r"(?:fill|stroke): ([^;\"]+)", page)) == {
        "none", "var(--curve-0)", "var(--attn-key)", "var(--pst-color-text-base)", "var(--pst-color-text-muted)",
        "var(--picture-grid)", "#000000",
    }  # fmt: skip


def test_a_heat_map_keeps_its_numbers_readable():
    heatmap([[0.9, 0.1]], ["q"], ["a", "b"])
    page = in_page(drawn(), "Two weights.")
    assert re.findall(r"fill: ([^;\"]+)\"[^>]*>0\.\d0<", page) == ["#fefefe", "var(--picture-number)"]
    assert re.findall(r"weight-cell\"><path [^>]*opacity: ([\d.]+)", page) == ["0.9", "0.1"]


def test_shapes_stay_where_they_were_and_every_reference_finds_its_target():
    plt.plot([1.23456, 2, 7], [3, 1, 2], label="rate 0.003")
    plt.legend()
    svg = drawn()
    page = in_page(svg, 'Says "<no>" & more.')
    before, after = (re.findall(r' d="([^"]*)"', text) for text in (svg, page))
    for old, new in zip(before, after, strict=True):
        numbers = [[float(n) for n in re.findall(r"-?[\d.]+", path)] for path in (old, new)]
        assert numbers[1] == pytest.approx(numbers[0], abs=0.0051)
        assert re.findall(r"[A-Za-z]", old) == re.findall(r"[A-Za-z]", new)
    root = ET.fromstring(page)
    assert "rate 0.003" in "".join(root.itertext())  # the numbers of a text are no places
    assert (root.get("role"), root.get("aria-label")) == ("img", 'Says "<no>" & more.')
    names = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(set(names)) == len(names)
    wanted = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", page))
    assert wanted and {a or b for a, b in wanted} <= set(names)


def test_names_are_those_of_panels_and_of_what_is_referred_to():
    plt.subplots(1, 2)[1][0].plot([1, 2], gid="mine")
    page = in_page(drawn(), "A line, and nothing.")
    wanted = {a or b for a, b in re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", page)}
    others = {name.partition("-")[2] for name in re.findall(r' id="([^"]+)"', page) if name not in wanted}
    assert wanted and others == {"axes_1", "axes_2", "mine"}


def test_two_pictures_of_a_page_share_no_id():
    pages = []
    for height in (1, 2):
        plt.figure().add_subplot().plot([0, height])
        pages.append(set(re.findall(r'id="([^"]+)"', in_page(drawn(), "A line."))))
    assert pages[0] and not pages[0] & pages[1]


def test_what_no_dark_page_can_show_is_refused(monkeypatch):
    plt.plot([1, 2], color="#123456")
    with pytest.raises(ValueError, match="how #123456 should look in a dark page"):
        in_page(drawn(), "A line.")
    plt.gca().lines[0].set_color("black")
    monkeypatch.setattr(pictures, "LARGEST", 1000)
    with pytest.raises(ValueError, match=r"weighs \d,\d+ bytes, and a page carries at most 1,000"):
        in_page(drawn(), "A line.")


# --- what is stored ---------------------------------------------------------------------------------


@pytest.mark.parametrize("svg", STORED)
def test_a_role_has_its_colour_for_itself_and_letters_are_large_enough(svg):
    roles = {colour.light: role for role, colour in ROLES.items()}

    def visit(element, inside: frozenset[str]) -> None:
        inside |= {element.get("id", "").removesuffix("-cell")}
        for colour in re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", element.get("style", "")):
            assert roles.get(colour) in (None, *inside), f"{colour} stands on something that is no {roles[colour]}"
        for child in element:
            visit(child, inside)

    visit(ET.fromstring(svg), frozenset())
    sizes = [float(size) for size in re.findall(r'<text style="font-size: ([\d.]+)px', svg)]  # formulas have tspans
    assert min(sizes, default=11) >= 11
