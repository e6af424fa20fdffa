"""The reference as it is built: all that is offered stands in it, with its source."""

import importlib
import re

import pytest
from sphinx.util.inventory import InventoryFile

from tests.browser.conftest import BUILT
from website.source_links import address

#: Numbers and tables that pages explain in words.
CONSTANTS = {"attnlib.data": {"BOS", "CARDS", "CORPORA", "EOS", "PAD", "SPECIALS", "UNK"}}
ROOMS = ["attnlib", "attnlib.data", "attnlib.training", "attnlib.figures", "attnlib.course.figures"]


@pytest.fixture(scope="module")
def inventory() -> dict[str, str]:
    """Full name → page and anchor, of all that the reference describes."""
    with (BUILT / "objects.inv").open("rb") as file:
        kinds = InventoryFile.load(file, "", lambda base, path: path)
    return {name: item[2] for kind, items in kinds.items() if kind.startswith("py:") for name, item in items.items()}


@pytest.mark.parametrize("room", ROOMS)
def test_all_that_a_room_offers_stands_in_the_reference(room, inventory):
    module = importlib.import_module(room)
    described = {name.split(".")[-1] for name in inventory}
    assert {name for name in module.__all__ if not name.startswith("__")} - described == CONSTANTS.get(room, set())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("attnlib.attention.masked_softmax", "def masked_softmax("),
        ("attnlib.scores.AdditiveScore", "class AdditiveScore("),
        ("attnlib.training.fit", "def fit("),
        ("attnlib.figures.AlignmentView", "class AlignmentView("),
    ],
)
def test_a_link_leads_to_the_source(name, text, inventory):
    page = (BUILT / inventory[name].split("#")[0]).read_text("utf8")
    module, _, own = name.rpartition(".")
    link = address("py", {"module": module, "fullname": own})
    assert f'href="{link}"' in page
    path, first, last = re.search(r"/blob/\w+/([\w./]+)#L(\d+)-L(\d+)$", link).groups()
    lines = (BUILT.parents[1] / path).read_text("utf8").splitlines()[int(first) - 1 : int(last)]
    assert any(line.startswith(text) for line in lines[:2])
    assert address("py", {"module": "attnlib.scores", "fullname": "SCORES"}) is None
