"""What a figure sends to the browser: files joined into one module, and one style sheet."""

import re

import pytest

from attnlib.course.figures import score_explorer
from attnlib.figures import assets
from attnlib.figures.assets import module, stylesheet
from attnlib.figures.palette import ROLES
from tests.node import run_in_node


@pytest.fixture
def static(tmp_path):
    """Write files into the folder `static` of a room, which has a neighbour room.py."""

    def write(room: str = "here", **files: str) -> str:
        folder = tmp_path / room / "static"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / f"{name}.js").write_text(text)
        return str(tmp_path / room / "room.py")

    return write


def test_modules_are_joined_into_one_that_imports_nothing(static):
    here = static(
        a="export const one = 1;\nexport function two() { return 2; }\n",
        b='import { one } from "./a.js";\nexport const uno = one;\n',
        c='import {\n  one,\n  two,\n} from "./a.js";\nimport { uno } from "./b.js";\n'
        "export const three = one + two();\nexport const four = three + uno;\n",
    )
    text = module("c.js", beside=here)
    assert run_in_node(text, "[m.three, m.four]", None) == [3, 4]
    # each file once, after those it imports from, under its name
    assert [line for line in text.splitlines() if line.startswith("//#")] == ["//# a.js", "//# b.js", "//# c.js"]


def test_a_module_may_import_from_another_room(static):
    static("below", a='import { one } from "./one.js";\nexport const two = one + one;\n', one="export const one = 1;\n")
    here = static(
        b='import { two } from "../../below/static/a.js";\nimport { one } from "../../below/static/one.js";\n'
        "export const three = two + one;\n"
    )
    text = module("b.js", beside=here)
    assert run_in_node(text, "m.three", None) == 3
    assert [line for line in text.splitlines() if line.startswith("//#")] == ["//# one.js", "//# a.js", "//# b.js"]


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
    here = static(a="export const one = 1;\n", b=text, c='import { one } from "./b.js";\n')
    with pytest.raises(ValueError, match=message):
        module("b.js", beside=here)


def test_style_sheets_take_their_colours_from_the_palette():
    text = stylesheet("score_explorer.css", beside=score_explorer.__file__)
    on_light, on_dark = re.findall(r"color-scheme: (?:light|dark); (.*?)}", text)
    assert text.index("color-scheme: light") < text.index("color-scheme: dark")
    for role, colour in ROLES.items():
        assert f"--attn-{role}: {colour.light};" in on_light
        assert f"--attn-{role}: {colour.dark};" in on_dark
    assert [line for line in text.splitlines() if line.startswith("/*#")] == [
        "/*# palette */", "/*# figure.css */", "/*# score_explorer.css */",
    ]  # fmt: skip


FILES = [file for room in (assets, score_explorer) for file in assets.static(room.__file__).iterdir()]


def test_no_second_place_to_change_a_colour():
    """Black and white, by which every cell is legible, are the exception."""
    for file in FILES:
        found = set(re.findall(r"#[0-9a-fA-F]{3,8}\b", file.read_text(encoding="utf-8")))
        assert found <= {"#000", "#fff"}, file.name


def test_no_two_files_have_the_same_name():
    names = [file.name for file in FILES]
    assert len(names) > 50 and sorted(set(names)) == sorted(names)
