"""Bugs of one line in attnlib/course/figures/learn_to_align.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/learn_to_align.py", "course/figures/test_learn_to_align.py",
    ("what was learned is not loaded", "model.load_state_dict(weights)", "model.eval()"),
    ("every model has one score", '**({"score": score} if score else {})', "**{}"),
    ("the hidden layer of the score is attnlib's own", "AdditiveScore(width, width, d_hidden=width)",
     "AdditiveScore(width, width)"),
    ("the encoder reads in one direction", "width // 2, bidirectional=True", "width, bidirectional=False"),
    ("three models learn", "if not 1 <= len(proposal", "if not len(proposal", "test_what_cannot_be_learned_is_refused"),
    ("self-attention never has positions", 'width, MODELS[self.models[n]]["positions"])', "width, False)",
     "test_what_was_learned_in_the_page_is_a_model_of_attnlib"),
    ("what was measured outlives its task", 'self.set_trait("history", [])', "pass",
     "test_the_picture_shows_how_far_the_models_have_come"),
    ("what was measured is forgotten when the rate changes",
     'observe("task", "models",', 'observe("task", "rate", "models",',
     "test_the_picture_shows_how_far_the_models_have_come"),
    ("an odd width is taken", 'if name == "width" and number % 2:', 'if name == "width" and False:',
     "test_what_cannot_be_learned_is_refused"),
    ("both lines look the same", 'zip(self.history, ("-", "--")', 'zip(self.history, ("-", "-")',
     "test_the_picture_shows_how_far_the_models_have_come"),
)
