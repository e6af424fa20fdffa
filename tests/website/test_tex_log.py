"""website/tex_log.py: what a reader of the PDF would see is found in the log, and nothing else is."""

import pytest

from website import tex_log

WRITTEN = "Output written on book.pdf (296 pages)."
HARMLESS = r"""LaTeX Font Info:    Font shape `TU/DejaVuSansMono(0)/m/sc' in size <9> not available
LaTeX Warning: Command \underbar  has changed.
Underfull \hbox (badness 10000) in paragraph at lines 22552--22552
Overfull \hbox (4.99pt too wide) in paragraph at lines 4439--4439
[]\TU/texgyrepagella(0)/m/n/9 bfloat16|
Overfull \vbox (1.55292pt too high) detected at line 13658
"""


@pytest.mark.parametrize(
    "line",
    [
        "Missing character: There is no ⁴ (U+2074) in font [texgyrepagella-regular.otf]/OT:script=latn;!",
        r"Overfull \hbox (5.01pt too wide) detected at line 4439",
        r"Overfull \hbox (13.3798pt too wide) in alignment at lines 22552--22560",
        r"Overfull \hbox (120pt too wide) has occurred while \output is active",
        r"Overfull \vbox (30.2pt too high) has occurred while \output is active",
        "LaTeX Warning: Hyper reference `book/notation:decks' on page 57 undefined on input line 5175.",
        "LaTeX Warning: Reference `fig-memory' on page 3 undefined on input line 7.",
        "LaTeX Warning: Citation `bahdanau2015neural' on page 3 undefined on input line 7.",
        "LaTeX Warning: Label `book/data:id1' multiply defined.",
        "LaTeX Warning: Label(s) may have changed. Rerun to get cross-references right.",
        "LaTeX Font Warning: Font shape `TU/texgyreheros(0)/m/sc' undefined",
        "LaTeX Warning: File `drawing-1.pdf' not found on input line 9.",
        "! Undefined control sequence.",
    ],
)
def test_a_problem_is_found(line):
    assert [found.split(" | ")[0] for found in tex_log.problems(f"{HARMLESS}{line}\n{WRITTEN}")] == [line]


def test_a_line_too_wide_is_named_by_what_stands_in_it():
    assert tex_log.problems(HARMLESS + WRITTEN) == []
    log = f"Overfull \\hbox (9pt too wide) in paragraph at lines 1--1\n[]\\TU/pagella/m/n/9 padding|\n{WRITTEN}"
    assert tex_log.problems(log + "\n" + log) == [
        r"Overfull \hbox (9pt too wide) in paragraph at lines 1--1 | []\TU/pagella/m/n/9 padding| (2 times)"
    ]


def test_a_log_that_ends_early(tmp_path, capsys):
    file = tmp_path / "book.log"
    file.write_text(HARMLESS, encoding="utf-8")
    assert tex_log.main(file) == 1
    assert "no PDF was written" in capsys.readouterr().out
    file.write_text(WRITTEN, encoding="utf-8")
    assert tex_log.main(file) == 0
