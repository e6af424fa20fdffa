"""The reference: every symbol has an example that runs, its errors are named, and its tables are whole."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from attnlib import DECODERS, SCORES, Attention
from attnlib.data import load_reverse
from attnlib.scores import LocationScore
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
def test_every_symbol_has_an_example_and_every_error_is_documented(page):
    """In its docstring or in the code of its page.

    The check of an exercise says in its first line how it is called, and answers with a verdict whatever it is given.
    """
    code = "\n".join(code_of(f"book/{page}.md"))
    used = {getattr(node, "id", None) or getattr(node, "attr", None) for node in ast.walk(ast.parse(code))}
    needs_network = {"load_public", "fetch_wheel", "SentencePair", "DataError"}  # in the words of the page

    def has_example(name: str, value: object) -> bool:
        return name in used | needs_network or ">>>" in value.__doc__ or value.__doc__.startswith("Check `")

    listed = documented(page)
    assert [path for path, value in listed.items() if not has_example(path.rpartition(".")[2], value)] == []
    symbols = [value for value in listed.values() if not value.__doc__.startswith("Check `")]
    assert [place for value in symbols for place in undocumented_errors(value, inspect.getsource(value))] == []


def refuses(code: ast.AST, names: dict, cls: type | None, above: frozenset = frozenset()) -> bool:
    """Whether code raises, or calls a function of attnlib, by its name or of its own class, that does."""
    for node in ast.walk(code):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"))):  # a subclass has to define it
                continue
            case ast.Raise():
                return True
            case ast.Call(func=ast.Name(id=name)):
                called = inspect.unwrap(names.get(name))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)):
                called = inspect.unwrap(getattr(cls, name, None))
            case _:
                continue
        if inspect.isfunction(called) and called.__module__.startswith("attnlib.") and called not in above:
            inner = ast.parse(textwrap.dedent(inspect.getsource(called)))
            if refuses(inner, called.__globals__, cls, above | {called}):
                return True
    return False


def undocumented_errors(value: type | Callable, source: str) -> list[str]:
    """What of a class or function raises without a section `Raises:` that a reader finds.

    Errors of making an object, and of methods without a docstring, stand in the section of the class. Any other method
    has a section of its own, or begins with "As `another`", or is named in the section of its class.
    """
    (code,) = ast.parse(textwrap.dedent(source)).body
    names = vars(importlib.import_module(value.__module__))
    section = (ast.get_docstring(code) or "").partition("Raises:")[2].partition("\n\n")[0]
    if isinstance(code, ast.FunctionDef):
        return [value.__name__] if not section and refuses(code, names, None) else []

    def is_documented(method: ast.FunctionDef) -> bool:
        own = ast.get_docstring(method)
        if own is None or method.name.startswith("_"):
            return bool(section)
        return "Raises:" in own or own.startswith("As `") or f"`{method.name}`" in section

    methods = [node for node in code.body if isinstance(node, ast.FunctionDef) and refuses(node, names, value)]
    return [f"{value.__name__}.{method.name}" for method in methods if not is_documented(method)]


@pytest.mark.parametrize(
    ("value", "places"),
    [
        (load_reverse, ["load_reverse"]),  # raised two functions further down
        (Attention, ["Attention.__init__", "Attention.forward"]),
        (LocationScore, ["LocationScore.compare"]),
    ],
)
def test_an_error_without_its_section_is_seen(value, places):
    source = inspect.getsource(value)
    assert undocumented_errors(value, source) == []
    assert undocumented_errors(value, source.replace("Raises:", "")) == places


@pytest.mark.parametrize(("page", "registry"), [("api_attention", SCORES), ("api_models", DECODERS)])
def test_a_table_has_all_of_a_registry(page, registry):
    rows = re.findall(r"^\| `(\w+)` \| \{py:class\}`~([\w.]+)`", (BOOK / f"{page}.md").read_text("utf8"), re.M)
    assert rows == [(name, f"{kind.__module__}.{kind.__name__}") for name, kind in registry.items()]
