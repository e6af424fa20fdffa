"""Sphinx extension: the live figures of a page share one copy of their code, and none is too heavy to be carried.

    ```{live-figure} 03_attention_step_by_step ScoreExplorer
    ```

shows a figure of a chapter in another page, as the chapter was run; below it, `:with: {"small": true}` sets traits to
other values.

A notebook stores the whole text of a figure's module and style sheet with every figure. In the page, the files that
these texts were joined from (attnlib.figures.assets) are kept once, and each figure names those it is made of;
attnlib/figures/static/anywidget-static.js puts them together again. Their comments stay in the notebook and in the
package.
"""

import json
import re
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from attnlib.course.book import BOOK
from attnlib.figures.page import HOST, STATE, in_script, view

LARGEST = 1_000_000  # bytes of one figure's state without its code: what a reader on a phone should have to load
FILE = re.compile(r"^(?=//# |/\*# )", re.MULTILINE)
#: A comment with lines of its own, but not the name of a file.
COMMENT = re.compile(r"^[ \t]*(?://(?!#)[^\n]*|/\*(?!#)(?:(?!\*/)[\s\S])*\*/[ \t]*)\n", re.MULTILINE)


def share(state: dict, page: str) -> dict:
    """Replace the code in a page's widget state by the numbers of its parts.

    Args:
        state: as Jupyter stores it, {"state": {id: record}, …}.
        page: its name, for the message.

    Returns:
        The same, with "texts", a list, and in every record `_esm` and `_css` as lists of places in it.

    Raises:
        ExtensionError: the state of a figure is larger than `LARGEST`.
    """
    places: dict[str, int] = {}
    records = {}
    for model, record in state["state"].items():
        code = {name: record["state"][name] for name in ("_esm", "_css") if name in record["state"]}
        rest = {name: value for name, value in record["state"].items() if name not in code}
        weight = len(json.dumps(rest).encode())
        if weight > LARGEST:
            kind = rest.get("_anywidget_id", record.get("model_name", "widget"))
            raise ExtensionError(
                f"{page}: the state of a {kind} weighs {weight:,} bytes, and a page carries at most {LARGEST:,}: "
                f"show fewer examples, fewer heads, or a smaller model"
            )
        parts = {
            name: [places.setdefault(COMMENT.sub("", part), len(places)) for part in FILE.split(text) if part]
            for name, text in code.items()
        }
        records[model] = {**record, "state": {**rest, **parts}}
    return {**state, "state": records, "texts": list(places)}


def stored_figure(notebook: Path, kind: str) -> tuple[str, dict]:
    """The first figure of a class in an executed chapter.

    Args:
        notebook: Of the chapter.
        kind: Name of the class.

    Returns:
        Its id, and `{id: record}` of itself and of what it consists of.

    Raises:
        ExtensionError: The chapter has no such figure.
    """
    stored = json.loads(notebook.read_text("utf8"))["metadata"].get("widgets", {STATE: {"state": {}}})[STATE]["state"]
    for model, record in stored.items():
        if record["state"].get("_anywidget_id", "").split(".")[-1] == kind:
            parts = re.findall(r"IPY_MODEL_(\w+)", json.dumps(record))
            return model, {name: stored[name] for name in (model, *parts)}
    raise ExtensionError(f"{notebook.name} has no live figure {kind!r}")


class LiveFigure(SphinxDirective):
    """`{live-figure} CHAPTER CLASS`: a figure of a chapter in another page.

    The option `with` holds JSON: traits, by name, that are to have other values than in the chapter.

    Raises:
        ExtensionError: the chapter has no such figure, or the figure no such trait.
    """

    required_arguments = 2
    option_spec: ClassVar = {"with": json.loads}

    def run(self) -> list[nodes.Node]:
        chapter, kind = self.arguments
        notebook = BOOK / f"{chapter}.ipynb"
        self.env.note_dependency(str(notebook))
        model, records = stored_figure(notebook, kind)
        state, other = records[model]["state"], self.options.get("with", {})
        if missing := other.keys() - state.keys():
            raise ExtensionError(f"{kind} of {notebook.name} has no trait {', '.join(sorted(missing))}")
        state |= other
        return [nodes.raw("", view(model), format="html", records=records)]


def carry(app, pagename, templatename, context, doctree) -> None:
    """Give a page the state of the figures that stand in it, as myst-nb gives a chapter the state of its own."""
    places = doctree.findall(nodes.raw) if doctree else ()
    records = {name: record for place in places for name, record in place.get("records", {}).items()}
    if records:
        state = {"version_major": 2, "version_minor": 0, "state": records}
        app.add_js_file(None, type=STATE, body=in_script(state))
        app.add_js_file(HOST.name)


def share_code(app, pagename, templatename, context, doctree) -> None:
    """Rewrite the script tag that myst-nb has put on the page."""
    for script in context.get("script_files", []):
        attributes = getattr(script, "attributes", {})
        if attributes.get("type") == STATE:
            shared = share(json.loads(attributes["body"]), pagename)
            attributes["body"] = in_script(shared)


def setup(app) -> dict[str, bool]:
    app.add_directive("live-figure", LiveFigure)
    app.connect("html-page-context", carry, priority=800)
    app.connect("html-page-context", share_code, priority=900)  # after myst-nb has added the tag
    return {"parallel_read_safe": True, "parallel_write_safe": True}
