"""The reference: every symbol has an example that runs, and its tables are whole."""

import ast
import importlib
import inspect
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


SLOW = {"api_data", "api_training"}  # they read real corpora
PAGES = sorted(path.stem for path in BOOK.glob("api_*.md"))


def documented(page: str) -> dict[str, object]:
    """What a page of the reference lists, by its full name."""
    found = {}
    text = (BOOK / f"{page}.md").read_text("utf8")
    for kind, path, options in re.findall(r"\.\. auto(\w+):: ([\w.]+)\n((?:   :.*\n)*)", text):
        if kind == "module":
            module = importlib.import_module(path)
            given = {name: value.strip() for name, value in re.findall(r":([\w-]+):(.*)", options)}
            names = given["members"].split(", ") if given["members"] else getattr(module, "__all__", None)
            own = (n for n, value in vars(module).items() if getattr(value, "__module__", "") == path and n[0] != "_")
            names = set(names or own) - set(given.get("exclude-members", "").split(", "))
            found |= {f"{path}.{name}": getattr(module, name) for name in names}
        elif kind in ("class", "function"):
            found[path] = getattr(importlib.import_module(path.rpartition(".")[0]), path.rpartition(".")[2])
    found = {path: value for path, value in found.items() if inspect.isclass(value) or inspect.isfunction(value)}
    assert found, page
    return found


@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.thorough] * (p in SLOW)) for p in PAGES])
def test_the_examples_of_a_page_run(page):
    assert names_after(f"book/{page}.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_symbol_has_an_example(page):
    """In its docstring or in the code of its page; a check of an exercise says in its first line how it is called."""
    code = "\n".join(code_of(f"book/{page}.md"))
    used = {getattr(node, "id", None) or getattr(node, "attr", None) for node in ast.walk(ast.parse(code))}
    needs_network = {"load_public", "fetch_wheel", "SentencePair", "DataError"}  # in the words of the page

    def has_example(name: str, value: object) -> bool:
        return name in used | needs_network or ">>>" in value.__doc__ or value.__doc__.startswith("Check `")

    assert [path for path, value in documented(page).items() if not has_example(path.rpartition(".")[2], value)] == []


@pytest.mark.parametrize(("page", "registry"), [("api_attention", SCORES), ("api_models", DECODERS)])
def test_a_table_has_all_of_a_registry(page, registry):
    rows = re.findall(r"^\| `(\w+)` \| \{py:class\}`~([\w.]+)`", (BOOK / f"{page}.md").read_text("utf8"), re.M)
    assert rows == [(name, f"{kind.__module__}.{kind.__name__}") for name, kind in registry.items()]
