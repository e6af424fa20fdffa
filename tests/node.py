"""JavaScript of the figures, run in node: what it computes is held equal to attnlib."""

import json
import re
import shutil
import subprocess

import pytest


def run_in_node(module_text: str, expression: str, argument) -> object:
    """Import the text of a module in node as `m`, and evaluate a JavaScript expression of `m` and `argument`."""
    node = shutil.which("node")
    if node is None:  # not a skip: nothing else holds the JavaScript to attnlib
        pytest.fail("node is not on the PATH: install Node.js 20 or later to check the widgets' arithmetic")
    driver = f"""
        import {{ readFileSync }} from "node:fs";
        const [text, argument] = JSON.parse(readFileSync(0, "utf8"));
        const m = await import("data:text/javascript," + encodeURIComponent(text));
        process.stdout.write(JSON.stringify(await ({expression})));
    """
    done = subprocess.run(
        [node, "--input-type=module", "--eval", driver],
        input=json.dumps([module_text, argument]),
        capture_output=True,
        text=True,
        timeout=120,
    )
    # node names a module by its text, every time that it speaks of it
    assert done.returncode == 0, re.sub(r"data:text/javascript,\S+", "the module", done.stderr)
    return json.loads(done.stdout)
