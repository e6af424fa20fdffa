"""What a widget sends to the browser: one ES module and one style sheet, each a single text.

Static pages and JupyterLab load a widget from a Blob URL, where a relative import has nothing to be relative
to. So the files in `static/` are plain modules that import each other, which node and an editor understand,
and are joined here, at import time, without a bundler. A figure outside of this room has its files in a `static/`
of its own, which import the general ones by their way there.
"""

import re
from pathlib import Path

from attnlib.figures.palette import ROLES

LOCAL_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.{1,2}/[^"]+)";\n', re.MULTILINE)
ANY_IMPORT = re.compile(r"^.*(?:^\s*import\b|\bimport\().*$", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)

# How each place that shows a notebook says that it is dark: the book, JupyterLab, VS Code, Colab.
DARK_PAGES = ("html[data-theme=dark]", "[data-jp-theme-light=false]", "body.vscode-dark", "html[theme=dark]")


def module(name: str, beside: str = __file__) -> str:
    """A file of `static/` and all that it imports, joined into one ES module that imports nothing.

    Every file begins with a line of its name (`//# name`), so that a page with several figures can keep one copy.
    All share one scope: a name may be declared at the top of one file only, and no two files have the same name.

    Args:
        name: the file whose default export is the figure.
        beside: the Python file whose neighbour that `static/` is.

    Returns:
        The text of the module.

    Raises:
        ValueError: an import is not of the form `import { a, b } from "./file.js";`, asks for a name that the file
            does not export, or leads back to where it came from.
    """
    joined: dict[str, str] = {}
    add(static(beside) / name, joined, asked_by=())
    return "\n".join(f"//# {file}\n{text}" for file, text in joined.items())


def static(beside: str) -> Path:
    """The folder of what a Python file sends to the browser."""
    return Path(beside).parent / "static"


def add(path: Path, joined: dict[str, str], asked_by: tuple[str, ...]) -> None:
    """Append a file to the joined ones, after those it imports from."""
    name = path.name
    if name in asked_by:
        raise ValueError(f"files import each other in a circle: {' → '.join((*asked_by, name))}")
    text = path.read_text(encoding="utf-8")
    for imported, way in LOCAL_IMPORT.findall(text):
        source = Path(way).name
        if source not in joined:
            add(path.parent / way, joined, (*asked_by, name))
        exported = set(EXPORTED.findall(joined[source]))
        if missing := {word.strip() for word in imported.split(",") if word.strip()} - exported:
            raise ValueError(f"{name} imports {sorted(missing)} from {source}, which exports {sorted(exported)}")
    text = LOCAL_IMPORT.sub("", text)
    if left := ANY_IMPORT.search(text):
        raise ValueError(f"{name}: cannot join the import {left[0].strip()!r}")
    joined[name] = text


def stylesheet(*names: str, beside: str = __file__) -> str:
    """The colours of `figures.palette` as CSS variables, then `figure.css`, which all share, and the files named.

    The variables live on `.attn`, the class of a widget's root: `--attn-query`, `--attn-key` and so on, in
    the shade that the page asks for. The files are looked for as in `module`.
    """
    light, dark = (
        "".join(f"--attn-{role}: {getattr(colour, shade)}; " for role, colour in ROLES.items())
        for shade in ("light", "dark")
    )
    on_dark_pages = ", ".join(f"{page} .attn" for page in DARK_PAGES)
    # color-scheme hands the choice on to what the browser draws itself: sliders, menus, system colours
    variables = f".attn {{ color-scheme: light; {light}}}\n{on_dark_pages} {{ color-scheme: dark; {dark}}}\n"
    files = {"palette": variables}
    for path in (static(__file__) / "figure.css", *(static(beside) / name for name in names)):
        files[path.name] = path.read_text(encoding="utf-8")
    return "".join(f"/*# {name} */\n{text}" for name, text in files.items())
