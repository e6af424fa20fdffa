"""Every letter in a formula of the book is explained on the page Notation."""

import re
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"
NOTATION = (BOOK / "notation.md").read_text("utf8")
CHAPTERS = sorted(BOOK.glob("[0-9][0-9]_*.md"))

# Commands of TeX that stand for no quantity: layout, relations, and functions with a name of their own.
LAYOUT = re.findall(
    r"\w+",
    """
    begin end frac tfrac sqrt left right bigl bigr Bigl Bigr quad qquad text mathrm operatorname hat bar tilde
    overrightarrow overleftarrow underbrace cdot cdots dots ldots vdots times top mid propto le ge ne neq in to infty
    approx equiv sim pm lVert rVert lvert rvert langle rangle partial sum prod circ odot log exp max min tanh cos sin
    softmax query key value weight context notin leq geq rightarrow leftarrow Rightarrow gg ll mathbb lfloor rfloor
    lceil rceil cap cup mathcal Longrightarrow pi arg det dim mathbf boldsymbol big Big prime textstyle nabla
    """,
)


def formulas(text: str) -> list[str]:
    """What stands between dollar signs, outside code."""
    text = re.sub(r"^(```+|~~~+)\{(?:code-cell|eval-rst|raw)\}.*?^\1[ \t]*$", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    return [a or b for a, b in re.findall(r"\$\$(.+?)\$\$|\$([^$]+?)\$", text, re.S)]


def letters(formula: str) -> set[str]:
    """Its letters, Latin and Greek, without what is only layout or a word."""
    formula = re.sub(r"\\(?:text|mathrm|operatorname\*?|begin|end|mathbb)\{[^{}]*\}", " ", formula)
    named = set(re.findall(r"\\([A-Za-z]+)", formula)) - set(LAYOUT)
    return named | set(re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", formula)))


def letters_in(text: str) -> set[str]:
    """The letters of all formulas of a text."""
    return set().union(*map(letters, formulas(text)))


def explained(chapter: str) -> set[str]:
    """Letters with one meaning in the whole book, and those of the chapter."""
    general, own = NOTATION.split("## Symbols")[1].split("## Letters of one chapter")
    symbols = [line.split("|")[2] if line.startswith("|") else line for line in general.splitlines()]
    rows = [line.split("|")[2] for line in own.splitlines() if line.startswith(f"| {int(chapter[:2])} |")]
    return letters_in("\n".join([*symbols, *rows]))


def test_letters_are_found():
    assert letters(r"\query{q_i} \cdot W_a^\top h_{\text{last}} / \sqrt{d} + \operatorname{softmax}(\beta)") == set(
        "qiWahd"
    ) | {"beta"}
    assert formulas("a $x$ `$y$` $$\nz\n$$\n```{code-cell} ipython3\nf'${1}$'\n```\n") == ["x", "\nz\n"]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_letter_of_a_chapter_is_explained(chapter):
    used = letters_in(chapter.read_text("utf8"))
    assert used and used <= explained(chapter.stem), sorted(used - explained(chapter.stem))


def test_no_letter_is_explained_in_vain():
    for line in NOTATION.split("## Letters of one chapter")[1].splitlines():
        if re.match(r"\| \d", line):
            number, column = line.split("|")[1:3]
            (chapter,) = BOOK.glob(f"{int(number):02}_*.md")
            assert letters_in(column) & letters_in(chapter.read_text("utf8")), line
