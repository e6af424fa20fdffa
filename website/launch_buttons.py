"""Sphinx extension: the buttons of a page open the notebook that people work in, in Colab, on Binder and as a download.

The theme would offer the notebook that the page is built from. A page that nobody works through has no such button.
"""

import shutil
from pathlib import Path

from attnlib.course.book import ROOT
from scripts.launch_links import binder, colab

OPENS = {"Colab": colab, "Binder": binder}


def opened(pagename: str) -> str | None:
    """The notebook of a page, as a path in the repository; None if it has none."""
    if pagename.startswith("book/exercises/a"):
        return f"{pagename}.ipynb"
    path = f"notebooks/{pagename.removeprefix('book/')}.ipynb"
    return path if (ROOT / path).exists() else None


def lead(app, pagename, templatename, context, doctree) -> None:
    """Change where the theme's buttons lead, or take them away."""
    path = opened(pagename)
    for group in [button for button in context.get("header_buttons", []) if button["type"] == "group"]:
        kept = []
        for button in group["buttons"]:
            if path and button["text"] in OPENS:
                button["url"] = OPENS[button["text"]](path)
            if path or button["text"] not in {*OPENS, ".ipynb"}:
                kept.append(button)
        group["buttons"] = kept
    context["header_buttons"] = [b for b in context.get("header_buttons", []) if b.get("buttons", True)]


def hand_out(app, exception) -> None:
    """Put the notebooks where the pages' downloads are."""
    if exception is not None or app.builder.format != "html":
        return
    for source in (Path(app.outdir) / "_sources").rglob("*.ipynb"):
        path = opened(source.relative_to(Path(app.outdir) / "_sources").with_suffix("").as_posix())
        if path:
            shutil.copyfile(ROOT / path, source)


def setup(app) -> dict[str, bool]:
    app.connect("html-page-context", lead, priority=900)  # after the theme has made them
    app.connect("build-finished", hand_out, priority=400)  # before website/from_disk.py carries them
    return {"parallel_read_safe": True, "parallel_write_safe": True}
