"""Bugs of one line in attnlib/data/names.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/names.py", "test_data_names.py",
    ("names of training in every part", "name_lists()[part]", 'name_lists()["train"]'),
    ("last names shared", "part_of(n) == part]", "part_of(n) == part or len(n) < 5]"),
    ("first name for a last", "[rng.choice(last)]", "[name]"),
    ("always two words", "rng.random() < two_words", "True"),
    ("never two words", "rng.random() < two_words", "False"),
    ("two people of one name", "rng.sample(first, 3)", "[rng.choice(first)] * 3"),
    ("answer to another request", "fill(answer, filled)", "fill(rng.choice(requests)[1], filled)"),
    ("answer with other names", "fill(answer, filled)", 'fill(answer, filled | {"A": filled["B"]})'),
    ("links of the request", "enumerate(zip(*target, strict=True))", "enumerate(zip(*source, strict=True))"),
    ("links counted from 1", "[j for j, pair in enumerate(zip(*source, strict=True))",
     "[j for j, pair in enumerate(zip(*source, strict=True), 1)"),
    ("links of any word", "if slot is not None and pair == (word, slot)", "if pair == (word, slot)"),
    ("links by the word alone", "pair == (word, slot)", "pair[0] == word"),
    ("a choice that is sure", "and len(places) == 1", "and places"),
    ("days are sure", 'if slot in ("A", "B", "C") and', "if"),
    ("names in the vocabulary", "if not _SLOT.fullmatch(word)}", '} | {"Ada"}'),
    ("no days in the vocabulary", "    words |= {word for filling", "    words - {word for filling"),
    ("the seed forgotten", "draw_splits(draw, sizes, seed,", "draw_splits(draw, sizes, 0,"),
    ("a chance unchecked", "if not 0 <= two_words <= 1:", "if two_words < 0:"),
    ("pairs again and again", "key=lambda example: (example.source, example.target)",
     "key=lambda example: random.random()"),
)
