"""The rooms of the house: who may import whom, and that each can be read."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = {"torch", "jaxtyping", "numpy", "tqdm"}
DRAWING = {"numpy", "jaxtyping", "matplotlib", "cycler", "anywidget", "traitlets", "ipywidgets"}

#: Each room: the rooms below it that it may import, and the packages beside Python's own; None for any package.
ROOMS: dict[str, tuple[set[str], set[str] | None]] = {
    "attnlib.extras": (set(), set()),
    "attnlib": (set(), {"torch", "jaxtyping"}),  # the core
    "attnlib.data": (set(), None),  # what a corpus needs, it imports when it is loaded
    "attnlib.training": ({"attnlib", "attnlib.data"}, NUMBERS | {"sacrebleu"}),
    "attnlib.figures": (set(), DRAWING | {"IPython", "PIL", "matplotlib_inline"}),  # arrays and words, never a model
    "attnlib.course.explanations": ({"attnlib.data"}, {"torch", "jaxtyping"}),
    "attnlib.course.self_attention_encoder": ({"attnlib"}, {"torch", "jaxtyping"}),  # a model that figures train
    "attnlib.course.figures": (
        {
            "attnlib",
            "attnlib.data",
            "attnlib.figures",
            "attnlib.course.explanations",
            "attnlib.course.self_attention_encoder",
        },
        DRAWING | {"torch"},
    ),
    "attnlib.course": ({"attnlib", "attnlib.data", "attnlib.training", "attnlib.figures"}, None),
    "attnlib.grading": ({"attnlib.course"}, None),
    "attnlib.__main__": ({"attnlib", "attnlib.data", "attnlib.training"}, {"torch"}),
    "benchmarks": ({"attnlib", "attnlib.data", "attnlib.training", "attnlib.figures", "attnlib.course.figures"}, None),
    "scripts": (
        {"attnlib", "attnlib.data", "attnlib.training", "attnlib.figures", "attnlib.course.figures", "attnlib.course"},
        None,
    ),
    "website": (
        {"attnlib.figures", "attnlib.course.figures", "attnlib.course", "scripts", "benchmarks"},
        None,
    ),
}
EVERYWHERE = {"attnlib.extras", "attnlib.version"}
OURS = {"attnlib", "assignments", "benchmarks", "scripts", "tests", "website"}


def room_of(module: str) -> str:
    """The room that a module of ours belongs to; modules that lie in `attnlib` itself are its core."""
    return next((room for room in sorted(ROOMS, key=len, reverse=True) if f"{module}.".startswith(f"{room}.")), module)


def imports(text: str) -> set[str]:
    """All modules that a source imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inside if room_of(name) in ROOMS and room_of(name) != room_of(node.module)} or {
                node.module
            }
    return found


def strangers(room: str, text: str) -> set[str]:
    """What a module of a room imports and may not."""
    below, packages = ROOMS[room]
    wrong = set()
    for name in imports(text):
        top = name.split(".")[0]
        if top in OURS:
            wrong |= {name} - {name if room_of(name) in {room, *below} or name in EVERYWHERE else ""}
        elif packages is not None and top not in packages and top not in sys.stdlib_module_names:
            wrong.add(name)
    return wrong


def files() -> list[Path]:
    return sorted(p for top in ("attnlib", "benchmarks", "scripts", "website") for p in (ROOT / top).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_arrows_point_down(path):
    assert strangers(room_of(name_of(path)), path.read_text("utf8")) == set()


@pytest.mark.parametrize(
    ("room", "text", "wrong"),
    [
        ("attnlib", "import torch\nfrom attnlib.scores import Score", set()),
        ("attnlib", "def f():\n    from attnlib.data import pad", {"attnlib.data"}),
        ("attnlib", "import numpy.random\nfrom attnlib import training", {"numpy.random", "attnlib.training"}),
        ("attnlib.data", "from attnlib import masked_softmax", {"attnlib"}),
        ("attnlib.course.figures", "from attnlib.decoders import LuongDecoder", set()),
        ("benchmarks", "from tests.oracles import softmax", {"tests.oracles"}),
    ],
)
def test_an_arrow_that_points_up_is_seen(room, text, wrong):
    assert strangers(room, text) == wrong


def test_the_core_is_read_in_one_evening_in_an_order_without_a_circle():
    core = {path.stem: path for path in (ROOT / "attnlib").glob("*.py")}
    before = {
        name: {m.split(".")[1] for m in imports(path.read_text("utf8")) if m.startswith("attnlib.")} - {"version"}
        for name, path in core.items()
        if name not in ("__init__", "__main__", "extras", "version")
    }
    order = ast.get_docstring(ast.parse(core["__init__"].read_text("utf8"))).split("in this order:")[1].split("\n\n")[0]
    order = order.strip(" .\n").replace("\n", " ").split(", ")
    assert sorted(order) == sorted(before)
    for n, name in enumerate(order):
        assert before[name] <= set(order[:n]), name
    assert sum(len(core[name].read_text("utf8").splitlines()) for name in order) <= 2000


@pytest.mark.parametrize(
    "room", [r for r in ROOMS if r.startswith("attnlib") and (ROOT / r.replace(".", "/")).is_dir()]
)
def test_a_room_says_what_belongs_there(room):
    text = (ROOT.joinpath(*room.split(".")) / "__init__.py").read_text("utf8")
    assert len(ast.get_docstring(ast.parse(text)) or "") > 60


def test_nobody_bends_the_path():
    bent = [p for p in (ROOT / "tests").rglob("*.py") if p != Path(__file__)] + files()
    assert [str(p) for p in bent if "sys.path.insert" in p.read_text("utf8")] == []
