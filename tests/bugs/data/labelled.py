"""Bugs of one line in attnlib/data/labelled.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/labelled.py", "data/test_labelled.py",
    ("a question may be about praise alone", "len(matters) // 2", "len(matters)"),
    ("the label of another matter", "asked in praised,", "matters[0] in praised,"),
    ("labels the other way round", "(text, label, 0) for label", "(text, not label, 0) for label"),
    ("the place of another opinion", "text.index(said[asked])", "text.index(said[matters[0]])"),
    ("the question counts as a word behind it", "rng.randint(*lengths) - len(said)",
     "rng.randint(*lengths) - len(said) - 1"),
    ("opinions stand in one order", "rng.shuffle(words)", "pass"),
    ("labels and places swapped", "labels, gold = torch.tensor", "gold, labels = torch.tensor"),
    ("sentences of train in test", "seen |= found[part].keys()", "pass"),
    ("integrations in two parts", "found[part_of(_STRINGS.fullmatch(name)[1])]", "found[part_of(name)]"),
    ("every text is no error", "not ERRORS.isdisjoint(path[:2])", "not ERRORS.isdisjoint(path[:0])"),
    ("long sentences too", "and len(words) <= 20", ""),
    ("words of test are known", "for text in drawn[\"train\", label]", "for text in drawn[\"test\", label]"),
) + of(
    "data/labelled.py", "data/test_examples.py",
    ("questions leak into testing", 'if part_of(" ".join(text)) == part else None', ""),
) + of(
    "data/labelled.py", "core/test_devices.py",
    ("texts move without their last field", "Labelled(*(field.to(device) for field in self[:-1]), self.vocabulary)",
     "Labelled(*(field.to(device) for field in self[:-2]), *self[-2:])"),
)
