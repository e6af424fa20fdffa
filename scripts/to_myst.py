"""The book for Jupyter Book 2, as far as a script can take it: a copy, written as MyST's own program reads it.

`make myst` makes it, in _build/myst/converted. What MyST knows in other words is converted. The rest stays as it is:
scripts/myst_diagnostics.py counts it, and CONTRIBUTING.md says what has to become of it.
"""

import json
import re
import shutil
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CODE = re.compile(r"(^(`{3,})(?!`).*?^\2$)", re.M | re.S)
LINK = re.compile(r"(\[[^\]\n]*\]\()([\w-]+)\)")
GATE = re.compile(r"^:::\{solution-(?:start\} (?P<of>.+)\n(?P<options>(?::[\w-]+:.*\n)*)|end\}\n):::$", re.M)
GOES_ON = "::::{dropdown} The solution goes on\n"
GLOSSARY = re.compile(r"^:::\{glossary\}\n.*?^:::$", re.M | re.S)


def entry(listed: dict) -> dict:
    """An entry of `_toc.yml`, with what is below it, as `myst.yml` has it."""
    name = listed.get("file") or listed.get("root")
    made = {"file": name if name.endswith(".ipynb") else f"{name}.md"} if name else {"title": listed["caption"]}
    below = [entry(child) for kind in ("parts", "chapters", "sections") for child in listed.get(kind, [])]
    return made | ({"children": below} if below else {})


def pages(entries: list[dict]) -> list[str]:
    return [page for e in entries for page in [*filter(None, [e.get("file")]), *pages(e.get("children", []))]]


def markdown(text: str, names: set[str], inside: bool = False) -> tuple[str, bool]:
    """A page or a cell, which may begin inside of a solution, and whether it ends inside of one.

    MyST ends a solution with its cell: every cell of one is folded here by itself. A link names a page or a label.
    """
    opened = [bool(gate["of"]) for gate in GATE.finditer(text)]
    text = (GOES_ON if inside else "") + GATE.sub(
        lambda gate: f"::::{{solution}} {gate['of']}\n{gate['options']}".rstrip() if gate["of"] else "::::", text
    )
    inside = opened[-1] if opened else inside
    text = (text + ("\n::::" if inside else "")).replace(f"{GOES_ON}::::", "").lstrip("\n")
    text = GLOSSARY.sub(lambda block: re.sub(r"^(\w.*\n)  (?=\S)", r"\1: ", block[0], flags=re.M), text)
    parts = CODE.split(text)  # prose, a block of code, its fence, prose, …
    prose = [LINK.sub(lambda m: m[0] if m[2] in names else f"{m[1]}#{m[2]})", part) for part in parts[::3]]
    return "".join(a + b for a, b in zip(prose, [*parts[1::3], ""], strict=True)), inside


def notebook(text: str, page: str, names: set[str]) -> str:
    """A notebook whose figures have label and caption where MyST looks, and whose cells have names of their own."""
    book, inside = json.loads(text), False
    for cell in book["cells"]:
        cell["id"] = f"{page}-{cell['id']}"
        if cell["cell_type"] == "markdown":
            cell["source"], inside = markdown("".join(cell["source"]), names, inside)
            continue
        metadata = cell["metadata"]
        figure = metadata.get("mystnb", {}).get("figure", {})
        metadata |= {new: figure[old] for old, new in (("name", "label"), ("caption", "caption")) if old in figure}
        if inside:
            metadata["tags"] = [*metadata.get("tags", []), "hide-cell"]
    return json.dumps(book, ensure_ascii=False, indent=1)


def copy(root: Path, to: Path, convert: bool = True) -> list[str]:
    """Make the copy anew, its pages converted or as they are, with `myst.yml`; return their names."""
    config, toc = (yaml.safe_load((root / name).read_text("utf8")) for name in ("_config.yml", "_toc.yml"))
    first = entry(toc)
    contents = [first, *first.pop("children", [])]
    names = {Path(page).stem for page in pages(contents)}
    shutil.rmtree(to, ignore_errors=True)
    for page in [*pages(contents), *config["bibtex_bibfiles"]]:
        text, kind = (root / page).read_text("utf8"), Path(page).suffix if convert else ""
        if kind == ".md":
            text = markdown(text, names)[0]
        elif kind == ".ipynb":
            text = notebook(text, Path(page).stem, names)
        (to / page).parent.mkdir(parents=True, exist_ok=True)
        (to / page).write_text(text, "utf8")
    shutil.copytree(root / "assets", to / "assets")
    project = {"title": config["title"], "authors": [{"name": config["author"]}], "copyright": config["copyright"]}
    project |= {"github": config["repository"]["url"], "bibliography": config["bibtex_bibfiles"], "toc": contents}
    made = {"version": 1, "project": project, "site": {"template": "book-theme", "options": {"folders": True}}}
    (to / "myst.yml").write_text(yaml.safe_dump(made, sort_keys=False, allow_unicode=True), "utf8")
    return pages(contents)
