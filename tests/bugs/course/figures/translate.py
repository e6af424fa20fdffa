"""Bugs of one line in attnlib/course/figures/translate.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/translate.py", "course/figures/test_translate.py",
    ("translate: capitals are read as they are", 'subwords.cut(detokenize(tokenize(whole_characters, "en"), "en"))',
     "subwords.cut(whole_characters)", "test_the_page_reads_a_text_as_python_does_and_says_the_same_of_it"),
    ("translate: half a character stops it", '.decode("utf-16", "replace")', '.decode("utf-16", "surrogatepass")',
     "test_a_character_of_which_a_half_is_missing_is_read_in_python_too"),
    ("translate: only unknown pieces are translated", 'if all(i == UNK or piece == "▁"', 'if not any(i or piece',
     "test_the_page_reads_a_text_as_python_does_and_says_the_same_of_it"),
    ("translate: surgery in the step after", "edits.get(next(step))", "edits.get(next(step) - 1)",
     "test_painted_weights_are_taken_in_their_step_and_beam"),
    ("translate: surgery in every step", "row = edits.get(next(step))", "row = edits.get(0)",
     "test_painted_weights_are_taken_in_their_step_and_beam"),
    ("translate: without a length penalty", "length_penalty=1.0)", "length_penalty=0.0)",
     "test_the_figure_translates_as_the_command_does"),
    ("translate: the original has the edits", "own = self._search(read, {})", "own = self._search(read, self.edits)",
     "test_results_follow_text_edits_and_beams"),
    ("translate: beams change nothing", 'traitlets.observe("edits", "beams")', 'traitlets.observe("edits")',
     "test_results_follow_text_edits_and_beams"),
    ("translate: edits of another text are kept", "if any(len(row) != S for row", "if any(len(row) > 99 for row",
     "test_results_follow_text_edits_and_beams"),
    ("translate: the end is no row", "int(best.lengths[0]) + 1, best", "int(best.lengths[0]), best",
     "test_the_figure_translates_as_the_command_does"),
    ("translate: a saved page carries nothing", '| {"carried": self._translator.detail}', "| {}",
     "test_the_translator_is_loaded_and_not_carried_unless_a_page_is_saved"),
)
