"""Sphinx extension: the live figures of a page share one copy of their code, and none is too heavy to be carried.

A notebook stores the whole text of a figure's module and style sheet with every figure. In the page, the files that
these texts were joined from (attnlib.figures.assets) are kept once, and each figure names those it is made of;
attnlib/figures/static/anywidget-static.js puts them together again.
"""

import json
import re

from sphinx.errors import ExtensionError

from attnlib.figures.page import STATE, in_script

LARGEST = 1_000_000  # bytes of one figure's state without its code: what a reader on a phone should have to load
FILE = re.compile(r"^(?=//# |/\*# )", re.MULTILINE)


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
            name: [places.setdefault(part, len(places)) for part in FILE.split(text) if part]
            for name, text in code.items()
        }
        records[model] = {**record, "state": {**rest, **parts}}
    return {**state, "state": records, "texts": list(places)}


def share_code(app, pagename, templatename, context, doctree) -> None:
    """Rewrite the script tag that myst-nb has put on the page."""
    for script in context.get("script_files", []):
        attributes = getattr(script, "attributes", {})
        if attributes.get("type") == STATE:
            shared = share(json.loads(attributes["body"]), pagename)
            attributes["body"] = in_script(shared)


def setup(app) -> dict[str, bool]:
    app.connect("html-page-context", share_code, priority=900)  # after myst-nb has added the tag
    return {"parallel_read_safe": True, "parallel_write_safe": True}
