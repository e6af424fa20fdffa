"""A page of its own for figures: one HTML file that loads nothing and is alive without Python."""

import html
import json
from collections.abc import Mapping

from attnlib.figures.assets import static

#: Plays the part of Python in a page. It is the host of the book's pages and slides, too.
HOST = static(__file__) / "anywidget-static.js"

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"

# The style sheets of the figures ask the page's root which theme it has.
PAGE = """<!doctype html>
<html lang="en"{theme}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ --pst-color-background: #fff; color: #222832; background: var(--pst-color-background); color-scheme: light }}
:root[data-theme=dark] {{ --pst-color-background: #14181e; color: #ced6dd; color-scheme: dark }}
body {{ margin: 0 auto; max-width: 60rem; padding: 8px; font: 16px/1.5 sans-serif }}
img {{ max-width: 100% }}
</style>
{follow}<script>
{host}</script>
<main>
<h1>{title}</h1>
{body}
</main>
<script type="{kind}">{state}</script>
</html>
"""

FOLLOW_THE_READER = """<script>
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
dark.addEventListener("change", follow);
follow();
</script>
"""


def page(widgets: Mapping[str, dict], body: str, *, title: str = "Attention", theme: str | None = None) -> str:
    """The text of a page.

    Args:
        widgets: as Jupyter stores them, {"state": {id: {"model_module": "anywidget", "state": {…}}, …}}.
        body: HTML, with a `view` wherever a widget is to be shown.
        title: the heading, as plain text.
        theme: "light" or "dark"; by default what the reader's system says, whenever it changes.
    """
    return PAGE.format(
        theme=f' data-theme="{theme}"' if theme else "",
        follow="" if theme else FOLLOW_THE_READER,
        title=html.escape(title),
        host=HOST.read_text(encoding="utf-8"),
        body=body,
        kind=STATE,
        state=in_script(widgets),
    )


def view(model: str, instead: str = "") -> str:
    """The place of a widget in a page.

    Args:
        model: the id of the widget.
        instead: HTML for a reader whose browser runs no scripts.
    """
    place = f'<script type="{VIEW}">{in_script({"model_id": model})}</script>'
    return f'<div class="cell_output">{place}{f"<noscript>{instead}</noscript>" if instead else ""}</div>'


def in_script(data) -> str:
    """JSON that may stand in a script tag: whatever tag a text in it holds, the browser does not see one."""
    return json.dumps(data).replace("<", "\\u003c")
