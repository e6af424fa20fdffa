"""Bugs of one line in attnlib/course/figures/translate.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/translate.py", "course/figures/test_translate.py",
    ("translate: capitals are read as they are", 'subwords.cut(detokenize(tokenize(whole_characters, "en"), "en"))',
     "subwords.cut(whole_characters)"),
    ("translate: half a character stops it", '.decode("utf-16", "replace")', '.decode("utf-16", "surrogatepass")'),
    ("translate: only unknown pieces are translated", 'if all(i == UNK or piece == "▁"', 'if not any(i or piece'),
    ("translate: surgery in the step after", "edits.get(next(step))", "edits.get(next(step) - 1)"),
    ("translate: surgery in every step", "row = edits.get(next(step))", "row = edits.get(0)"),
    ("translate: without a length penalty", "length_penalty=1.0)", "length_penalty=0.0)"),
    ("translate: the original has the edits", "own = self._search(read, {})", "own = self._search(read, self.edits)"),
    ("translate: beams change nothing", 'traitlets.observe("edits", "beams")', 'traitlets.observe("edits")'),
    ("translate: edits of another text are kept", "if any(len(row) != S for row", "if any(len(row) > 99 for row"),
    ("translate: the end is no row", "int(best.lengths[0]) + 1, best", "int(best.lengths[0]), best"),
    ("translate: a saved page carries nothing", '| {"carried": self._translator.detail}', "| {}"),
)
