"""A checksum of all that can change the outputs of a chapter, and of nothing else that is easily told apart.

What a chapter imports is followed from file to file. Of a registry, such as `SCORES`, only those entries count that
somebody on the way names: a changed score makes the chapters stale that use it.
"""

import ast
import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import jupytext

from attnlib.course.book import ROOT, without_magics

SCRIPT_IMPORT = re.compile(r'^import .* from "(\.{1,2}/[^"]+)";$', re.MULTILINE)
parse = functools.cache(ast.parse)  # the same text is asked for by chapter after chapter


def fingerprint(source: Path) -> str:
    """A checksum of a chapter's code, of what it imports, and of the lock; words may change without a run."""
    code = code_of(source)
    digest = hashlib.sha256(code.encode())
    files = package_files(code)
    trees = {file: parse(file.read_text("utf8")) for file in files if file.suffix == ".py"}
    asking = [parse(code), *trees.values()]
    for file in [*sorted(files), ROOT / "requirements.txt"]:
        text = without_comments(file.read_bytes()) if file.suffix == ".txt" else file.read_bytes()
        if file in trees:
            others = [tree for tree in asking if tree is not trees[file]]
            text = without_lines(text, unused_lines(trees[file], others))
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


def without_comments(text: bytes) -> bytes:
    """The lines of a list of packages or of wheels that say something to pip."""
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"#"))


def code_of(source: Path) -> str:
    return without_magics("\n".join(c.source for c in jupytext.read(source).cells if c.cell_type == "code"))


# --- files ------------------------------------------------------------------------------------------


def package_files(code: str) -> set[Path]:
    """The files of attnlib that code imports, directly or through one another, and the data beside them.

    `from attnlib.figures import AlignmentView` counts as the module that AlignmentView comes from, and
    `from attnlib.course import checks` as the modules of those checks that are called.
    """
    waiting, files = modules_in(code), set()
    while waiting:
        file = file_of(waiting.pop())
        if file is not None and file not in files:
            text = file.read_text("utf8")
            files.add(file)
            waiting |= modules_in(text)
            files |= data_files(file)
    return files


def data_files(module: Path) -> set[Path]:
    """The files that a module names, beside it, in `static/` or in `models/`, and what a script of them imports."""
    _, texts = words(parse(module.read_text("utf8")))
    names = {name for name in texts if name.endswith((".css", ".js", ".txt"))}
    waiting, found = {module.parent / folder / name for folder in (".", "static", "models") for name in names}, set()
    while waiting:
        path = waiting.pop().resolve()
        if path.is_file() and path not in found:
            found.add(path)
            waiting |= {path.parent / way for way in SCRIPT_IMPORT.findall(path.read_text("utf8"))}
    return found


def file_of(module: str) -> Path | None:
    """The file of a module or package of this repository."""
    path = ROOT.joinpath(*module.split("."))
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.exists()), None)


def modules_in(code: str) -> set[str]:
    """The modules of attnlib whose names code imports."""
    tree = parse(code)
    names = {home(*pair) if len(pair) == 2 else pair[0] for pair in imports(tree)}
    if "attnlib.course.checks" in names:
        names.remove("attnlib.course.checks")
        asked = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "checks"
        }
        names |= {home("attnlib.course.checks", name) for name in asked}
    return {name for name in names if name.split(".")[0] == "attnlib"}


@functools.cache
def imports(tree: ast.AST) -> set[tuple[str, ...]]:
    """(module, name) of every `from module import name`, (module,) of every `import module`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name,) for alias in node.names}
    return found


def home(package: str, name: str) -> str:
    """The module that `from package import name` brings, or takes the name from."""
    if file_of(f"{package}.{name}") is not None:
        return f"{package}.{name}"
    file = file_of(package) if package.split(".")[0] == "attnlib" else None
    if file is not None and file.name == "__init__.py":
        for module, *names in imports(parse(file.read_text("utf8"))):
            if name in names:
                return home(module, name)
    return package


# --- entries of registries --------------------------------------------------------------------------


def unused_lines(tree: ast.Module, others: Iterable[ast.Module]) -> set[int]:
    """Lines, from 1, of those classes in a registry of this module, and of their entries, that nobody uses.

    A registry is a dictionary at the top of a module, from names to classes of the same module. Others use an entry
    when they name its class or its key; they use all when they do something else with the registry than look up a key.
    """
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    found = set()
    for registry, entries in registries(tree, classes).items():
        keys = {key.value: value.id for key, value in entries}
        if any(used_whole(registry, other) for other in others):
            continue
        outside = [*others, *(node for node in tree.body if getattr(node, "name", None) not in keys.values())]
        outside = [node for node in outside if not isinstance(node, ast.Assign | ast.AnnAssign)]
        used, waiting = set(), outside
        while waiting:
            new = {name for node in waiting for name in named(node, keys)} - used
            used |= new
            waiting = [classes[name] for name in new]
        for key, value in entries:
            if value.id not in used:
                node = classes[value.id]
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                found |= {*range(first, node.end_lineno + 1), *range(key.lineno, value.end_lineno + 1)}
    return found


def registries(tree: ast.Module, classes: Iterable[str]) -> dict[str, list[tuple[ast.Constant, ast.Name]]]:
    """`{name: [(key, class), …]}` of the dictionaries of a module whose values are all classes of it."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            entries = list(zip(node.value.keys, node.value.values, strict=True))
            if all(isinstance(key, ast.Constant) and getattr(value, "id", None) in classes for key, value in entries):
                found[target.id] = entries
    return found


@functools.cache
def used_whole(registry: str, tree: ast.AST) -> bool:
    """Whether code does something else with a registry than to look up a key that is written there."""
    looked_up = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant)
    }
    return any(isinstance(n, ast.Name) and n.id == registry and n not in looked_up for n in ast.walk(tree))


def named(tree: ast.AST, keys: dict[str, str]) -> set[str]:
    """The classes of a registry that code names, or whose keys it holds."""
    names, texts = words(tree)
    return names & set(keys.values()) | {keys[text] for text in texts & set(keys)}


@functools.cache
def words(tree: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The names and the strings of some code."""
    nodes = list(ast.walk(tree))
    names = {getattr(n, "id", None) or getattr(n, "attr", None) or getattr(n, "name", None) for n in nodes}
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return frozenset(names - {None}), frozenset(texts)


def without_lines(text: bytes, lines: set[int]) -> bytes:
    return b"".join(line for n, line in enumerate(text.splitlines(keepends=True), 1) if n not in lines)
