"""What a widget sends to the browser: one ES module and one style sheet, each a single text.

Static pages and JupyterLab load a widget from a Blob URL, where a relative import has nothing to be relative
to. So the files in `static/` are plain modules that import each other, which node and an editor understand,
and are joined here, at import time, without a bundler.
"""

import re
from pathlib import Path

from attnlib.palette import ROLES

STATIC = Path(__file__).parent / "static"

LOCAL_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([^"]+)";\n', re.MULTILINE)
ANY_IMPORT = re.compile(r"^.*(?:^\s*import\b|\bimport\().*$", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)

# How each place that shows a notebook says that it is dark: the book, JupyterLab, VS Code, Colab.
DARK_PAGES = ("html[data-theme=dark]", "[data-jp-theme-light=false]", "body.vscode-dark", "html[theme=dark]")


def module(*names: str) -> str:
    """The files of `static/` joined into one ES module that imports nothing.

    Args:
        names: file names; a file comes after the files it imports from.

    Returns:
        The text of the module.

    Raises:
        ValueError: an import is not of the form `import { a, b } from "./file.js";`, or asks for a file that
            is not among the names before it, or for a name that this file does not export.
    """
    exported: dict[str, set[str]] = {}
    texts = []
    for name in names:
        text = (STATIC / name).read_text(encoding="utf-8")
        for imported, source in LOCAL_IMPORT.findall(text):
            check_import(name, imported, source, exported)
        text = LOCAL_IMPORT.sub("", text)
        if left := ANY_IMPORT.search(text):
            raise ValueError(f"{name}: cannot join the import {left[0].strip()!r}")
        exported[name] = set(EXPORTED.findall(text))
        texts.append(text)
    return "\n".join(texts)


def check_import(name: str, imported: str, source: str, exported: dict[str, set[str]]) -> None:
    """Refuse an import that would be left dangling once its line is dropped."""
    if source not in exported:
        raise ValueError(f"{name} imports from {source}, which is not joined before it; there: {list(exported)}")
    wanted = {word.strip() for word in imported.split(",") if word.strip()}
    if missing := wanted - exported[source]:
        raise ValueError(f"{name} imports {sorted(missing)} from {source}, which exports {sorted(exported[source])}")


def stylesheet(*names: str) -> str:
    """The colours of `attnlib.palette` as CSS variables, followed by the files of `static/`.

    The variables live on `.attn`, the class of a widget's root: `--attn-query`, `--attn-key` and so on, in
    the shade that the page asks for.
    """
    light, dark = (
        "".join(f"--attn-{role}: {getattr(colour, shade)}; " for role, colour in ROLES.items())
        for shade in ("light", "dark")
    )
    on_dark_pages = ", ".join(f"{page} .attn" for page in DARK_PAGES)
    # color-scheme hands the choice on to what the browser draws itself: sliders, menus, system colours
    variables = f".attn {{ color-scheme: light; {light}}}\n{on_dark_pages} {{ color-scheme: dark; {dark}}}\n"
    return variables + "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)
