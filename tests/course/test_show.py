"""What a chapter shows is what the tests run, without the docstrings."""

import ast
from pathlib import Path

import numpy as np
import pytest
import torch

import attnlib
from attnlib.attention import Attention, masked_softmax
from attnlib.course.show import score, source, span, table, without_docstrings
from attnlib.scores import SCORES, Score

KINDS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


def bare(text: str) -> str:
    """The code of a text, docstrings and what may stand in their place left out."""
    tree = ast.parse(text)
    for node in (node for node in ast.walk(tree) if isinstance(node, KINDS)):
        placeholder = [ast.unparse(statement) for statement in node.body[:1]] == ["..."]
        if placeholder or ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


#: What no module of the package has.
CASES = {
    "one line": 'def f(x):\n    """Say."""\n    return x\n',
    "many lines": 'def f(x):\n    """Say.\n\n    More: """ \'\'\n\n    return x\n',
    "with code in it": 'def f(x):\n    """Say.\n\n    def g():\n        return 1\n    """\n    return x\n',
    "single quotes": "def f(x):\n    'Say.'\n    return x\n",
    "continued": "def f(x):\n    'Say' \\\n        ' more.'\n    return x\n",
    "in parentheses": 'def f(x):\n    ("Say "\n     "more.")\n    return x\n',
    "all there is": 'def f(x):\n    """Say."""\n',
    "all there is, in many lines": 'def f(x):\n    """Say.\n\n    More.\n    """\n\n\ny = 1\n',
    "class with nothing else": 'class A(Exception):\n    """Say."""\n',
    "on the line of the name": 'def f(x): "Say."\n\n\ny = f\n',
    "on a line with code": 'def f(x):\n    "Say."; y = x\n    return y\n',
    "on one line with all": 'def f(x): "Say."; return x\n',
    "comment behind": 'def f(x):\n    """Say."""  # why\n    return x\n',
    "comment only": 'def f(x):\n    """Say."""\n    # TODO\n\n    return x\n',
    "async": 'async def f(x):\n    """Say."""\n    await x\n',
    "module with nothing else": '"""Say."""\n',
    "nothing": "",
    "strings that stay": 'def f(x):\n    y = """a\n    b"""\n    """a string"""\n    return f"{y}"\n',
    "other letters": 'def f(é):\n    """Dis: α_ij ∈ [0, 1] — 重み."""\n    return "é"\n',
    "other letters on the line": 'class É: "Dis."; α = 1\n',
    "form feed": '"""Say."""\n\x0c\ndef f(x):\n    """Say\x0cmore."""\n    return x\n',
    "line separator": 'def f(x):\n    """Say\u2028more."""\n    return "\u2028"\n',
    "defaults over lines": 'def f(\n    x="""a\n    b""",\n):\n    """Say."""\n    return x\n',
    "no last newline": 'def f(x):\n    """Say."""\n    return x',
}


PACKAGE = Path(attnlib.__file__).parent
MODULES = {str(path.relative_to(PACKAGE)): path.read_text("utf8") for path in sorted(PACKAGE.rglob("*.py"))}


@pytest.mark.parametrize("text", (CASES | MODULES).values(), ids=CASES | MODULES)
def test_docstrings_go_and_code_stays(text):
    found = without_docstrings(text)
    assert bare(found) == bare(text)
    assert not any(ast.get_docstring(node) for node in ast.walk(ast.parse(found)) if isinstance(node, KINDS))
    assert without_docstrings(found) == found


def test_layout_and_comments_stay():
    text = (
        'class A:  # 1\n    """Say."""\n\n    x = 1\n\n    # 3\n    def f(x):\n        """Say."""\n        return  1\n'
    )
    expected = "class A:  # 1\n    x = 1\n\n    # 3\n    def f(x):\n        return  1\n"
    assert without_docstrings(text) == expected
    assert without_docstrings('def f():\n    """Say."""\n') == "def f():\n    ...\n"


@pytest.mark.parametrize("thing", [*SCORES.values(), masked_softmax, Attention, Attention.forward])
def test_source_is_that_of_the_package(thing):
    shown = source(thing)
    assert shown.language == "python" and '"""' not in shown.data and thing.__name__ in shown.data
    whole = source(thing, docstring=True).data
    assert thing.__doc__.strip().splitlines()[0] in whole
    assert bare(whole) == bare(shown.data)


def test_method_is_shown_from_the_margin():
    assert source(Attention.forward).data.startswith("def forward(\n    self,")


def test_a_score_says_what_the_tables_say_of_it():
    about = score(SCORES["additive"])
    assert about.formula == "e = v_aᵀ tanh(W_a q + U_a k)" and about.sentence.startswith("a small network")
    assert about.source.startswith("bahdanau2015neural, appendix A.1.2") and score(SCORES["zero"]).source is None


def test_a_span_goes_from_the_lowest_to_the_highest():
    assert span(torch.tensor([[-1.5, 2.25], [0.5, -0.25]]), 1) == "−1.5–2.2"
    assert span([1234.5, 1234.5], 1) == "1,234.5" and span(-0.001) == "0.00" and span(-torch.inf) == "−inf"


def test_a_table_has_text_on_the_left_and_numbers_on_the_right():
    rows = [("wrong", "is *not*", np.int64(1200)), ("share", "of all", np.array([0.5, 1]))]
    shown = table(["what", "means", "n"], rows, text=2)
    assert shown.data.splitlines() == [
        "| what | means | n |",
        "|---|---|--:|",
        "| wrong | is *not* | 1,200 |",
        "| share | of all | 0.50–1.00 |",
    ]


class Silent(Score):
    """Nothing."""


@pytest.mark.parametrize(
    ("call", "words"),
    [
        *((lambda thing=thing: source(thing), "no Python source to show") for thing in (3, len, dict, "text")),
        (lambda: score(Silent), "Silent must begin with .*, got 'Nothing"),
        (lambda: table(["arm", "right"], [["slow", 1, 2]]), r"3 cells under a head of 2: \['slow', 1, 2\], \['arm', "),
    ],
)
def test_what_cannot_be_shown_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
