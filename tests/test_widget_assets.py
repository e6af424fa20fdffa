"""What a figure sends to the browser: files joined into one module, and one style sheet."""

import re

import pytest

from attnlib.palette import ROLES
from attnlib.widgets import assets
from attnlib.widgets.assets import module, stylesheet
from tests.node import run_in_node


@pytest.fixture
def static(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "STATIC", tmp_path)

    def write(**files: str):
        for name, text in files.items():
            (tmp_path / f"{name}.js").write_text(text)

    return write


def test_modules_are_joined_into_one_that_imports_nothing(static):
    static(
        a="export const one = 1;\nexport function two() { return 2; }\n",
        b='import { one } from "./a.js";\nexport const uno = one;\n',
        c='import {\n  one,\n  two,\n} from "./a.js";\nimport { uno } from "./b.js";\n'
        "export const three = one + two();\nexport const four = three + uno;\n",
    )
    text = module("c.js")
    assert run_in_node(text, "[m.three, m.four]", None) == [3, 4]
    # each file once, after those it imports from, under its name
    assert [line for line in text.splitlines() if line.startswith("//#")] == ["//# a.js", "//# b.js", "//# c.js"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('import { two } from "./a.js";\n', r"b\.js imports \['two'\] from a\.js, which exports \['one'\]"),
        ('import { one as uno } from "./a.js";\n', "one as uno"),
        ('import * as a from "./a.js";\n', "cannot join"),
        ('import a from "https://example.org/a.js";\n', "cannot join"),
        ('const a = await import("./a.js");\n', "cannot join"),
        ('import { one } from "./c.js";\n', "circle: b.js → c.js → b.js"),
    ],
)
def test_an_import_that_cannot_be_joined_is_refused(static, text, message):
    static(a="export const one = 1;\n", b=text, c='import { one } from "./b.js";\n')
    with pytest.raises(ValueError, match=message):
        module("b.js")


def test_style_sheets_take_their_colours_from_the_palette():
    text = stylesheet("score_explorer.css")
    on_light, on_dark = re.findall(r"color-scheme: (?:light|dark); (.*?)}", text)
    assert text.index("color-scheme: light") < text.index("color-scheme: dark")
    for role, colour in ROLES.items():
        assert f"--attn-{role}: {colour.light};" in on_light
        assert f"--attn-{role}: {colour.dark};" in on_dark
    assert [line for line in text.splitlines() if line.startswith("/*#")] == [
        "/*# palette */", "/*# figure.css */", "/*# score_explorer.css */",
    ]  # fmt: skip


def test_no_second_place_to_change_a_colour():
    """Black and white, by which every cell is legible, are the exception."""
    for file in assets.STATIC.iterdir():
        found = set(re.findall(r"#[0-9a-fA-F]{3,8}\b", file.read_text(encoding="utf-8")))
        assert found <= {"#000", "#fff"}, file.name
