"""The reference: its examples run, and its tables have every score and decoder."""

import re
from pathlib import Path

import pytest

from attnlib import DECODERS, SCORES
from tests.repository.test_doctests import code_of, names_after

BOOK = Path(__file__).resolve().parents[2] / "book"


def test_what_stands_under_a_task_does_it():
    names = names_after("book/api.md")
    headings = re.findall("^## ", (BOOK / "api.md").read_text("utf8"), re.M)
    assert len(code_of("book/api.md")) == len(headings) - 1  # one a task; the last heading lists the pages
    assert names["history"].train_loss and len(names["best"].sentences()) == 1


@pytest.mark.parametrize(("page", "registry"), [("api_attention", SCORES), ("api_models", DECODERS)])
def test_a_table_has_all_of_a_registry(page, registry):
    rows = re.findall(r"^\| `(\w+)` \| \{py:class\}`~([\w.]+)`", (BOOK / f"{page}.md").read_text("utf8"), re.M)
    assert rows == [(name, f"{kind.__module__}.{kind.__name__}") for name, kind in registry.items()]
