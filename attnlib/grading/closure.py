"""The part of `attnlib` that a hand-in may import: what the locked cells of its assignment import, and no more.

Everything else of the package would hold answers. In its place stands something whose use says so in one sentence: a
cell that compares with the package, after its own definition, loses nothing.
"""

import ast
import shutil
from pathlib import Path

from attnlib.course.book import ROOT, setup_cell, without_magics
from attnlib.grading.assignment import HIDDEN, is_answer
from attnlib.version import __version__

#: What answers the grader's calls, and what test cells import: these are always there.
ALWAYS = ["attnlib.grading.crossing", "attnlib.course.asserts"]

#: The package itself, inside.
PACKAGE = '''"""attnlib, as far as this assignment gives it out."""

import importlib.abc
import importlib.machinery
import sys
import types

__version__ = {version!r}


class NotInTheBox(ImportError):
    """A part of the package that holds answers was used."""


class Absent(types.ModuleType):
    """Stands for a part of the package that is not here; its use says so."""

    def _use(self, *given, **named):
        raise NotInTheBox(f"{{self.__name__}} is not in the grader's box: write it yourself")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Absent(f"{{self.__name__}}.{{name}}")

    def __repr__(self):
        return f"<{{self.__name__}}, which is not in the grader's box>"

    __call__ = __iter__ = __len__ = __getitem__ = __mro_entries__ = __instancecheck__ = _use


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what is here, and nothing of the package that lies anywhere else."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("attnlib."):
            return None
        here = importlib.machinery.PathFinder.find_spec(name, path)
        return here or importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return Absent(f"attnlib.{{name}}")
'''


def imported(source: str) -> set[str]:
    """Modules of attnlib that code imports, by their full names; `from a import b` may mean the module a.b."""
    found = set()
    for node in ast.walk(ast.parse(without_magics(source))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.name for alias in node.names}
            inside = {name for name in names if _file(f"{node.module}.{name}")}
            found |= {f"{node.module}.{name}" for name in inside}
            found |= {node.module} if names - inside else set()
    return {name for name in found if name.startswith("attnlib.") and _file(name)}


def _file(module: str) -> Path | None:
    """The file of a module of this clone."""
    path = ROOT.joinpath(*module.split("."))
    files = [path / "__init__.py", path.with_suffix(".py")]
    return next((file for file in files if file.is_file()), None)


def modules(notebook) -> set[str]:
    """The modules of attnlib that the locked cells of an assignment import, with those that these import in turn.

    Args:
        notebook: The source of the assignment. What its hidden tests import stays outside.
    """
    cells = [
        c.source for c in notebook.cells if c.cell_type == "code" and not is_answer(c) and c.source != setup_cell()
    ]
    open_, found = {*ALWAYS, *(name for source in cells for name in imported(HIDDEN.sub("", source)))}, set()
    while open_:
        name = open_.pop()
        found.add(name)
        open_ |= imported(_file(name).read_text("utf8")) - found
    return found


def write(notebook, folder: Path) -> None:
    """Write this part of the package as `folder/attnlib`."""
    top = folder / "attnlib"
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir(parents=True)
    (top / "__init__.py").write_text(PACKAGE.format(version=__version__), "utf8")
    for name in modules(notebook):
        file = _file(name)
        target = folder / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    for inside in [path for path in top.rglob("*") if path.is_dir()]:
        (inside / "__init__.py").touch()  # a package of which only a module is needed imports nothing
    for path in [folder, top, *top.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)  # in the box somebody else reads it
