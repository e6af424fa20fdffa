"""Sphinx extension: downloads work in a page that was opened from the disk, too.

assets/from-disk.js says what browsers refuse there. Beside each source `_sources/NAME.ipynb` this leaves the script
`NAME.ipynb.js`, which a page may load when the other may not be read.
"""

import json
from pathlib import Path

CARRIER = 'document.currentScript.dispatchEvent(new CustomEvent("source", {{ detail: {} }}));\n'


def carry_sources(app, exception) -> None:
    """Write every source once more, as a script that hands over its text."""
    if exception is not None or app.builder.format != "html":
        return
    for source in (Path(app.outdir) / "_sources").rglob("*"):
        if source.suffix in {".ipynb", ".md"}:
            carrier = source.with_name(f"{source.name}.js")
            carrier.write_text(CARRIER.format(json.dumps(source.read_bytes().decode("utf-8"))), encoding="utf-8")


def setup(app) -> dict[str, bool]:
    app.add_js_file("from-disk.js", loading_method="defer")
    app.connect("build-finished", carry_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
