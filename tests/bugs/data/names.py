"""Bugs of one line in attnlib/data/names.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/names.py", "data/test_names.py",
    ("names of training in every part", "name_lists()[part]", 'name_lists()["train"]'),
    ("two people of one name", "rng.sample(first, 3)", "[rng.choice(first)] * 3"),
    ("answer to another request", "fill(answer, filled)", "fill(rng.choice(requests)[1], filled)"),
    ("links of the request", "enumerate(zip(*target, strict=True))", "enumerate(zip(*source, strict=True))"),
    ("links counted from 1", "[j for j, pair in enumerate(zip(*source, strict=True))",
     "[j for j, pair in enumerate(zip(*source, strict=True), 1)"),
    ("links by the word alone", "pair == (word, slot)", "pair[0] == word"),
    ("a choice that is sure", "and len(places) == 1", "and places"),
)
