"""Bugs of one line in attnlib/data/labelled.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/labelled.py", "data/test_labelled.py",
    ("a question may be about praise alone", "len(matters) // 2", "len(matters)"),
    ("the label of another matter", "asked in praised,", "matters[0] in praised,"),
    ("labels the other way round", "(text, label, 0) for label", "(text, not label, 0) for label",
     "test_messages_are_errors_where_the_interface_says_so"),
    ("the place of another opinion", "text.index(said[asked])", "text.index(said[matters[0]])"),
    ("the question counts as a word behind it", "rng.randint(*lengths) - len(said)",
     "rng.randint(*lengths) - len(said) - 1"),
    ("opinions stand in one order", "rng.shuffle(words)", "pass"),
    ("labels and places swapped", "labels, gold = torch.tensor", "gold, labels = torch.tensor"),
    ("sentences of train in test", "seen |= found[part].keys()", "pass",
     "test_messages_are_half_errors_and_no_sentence_is_in_two_parts"),
    ("integrations in two parts", "found[part_of(_STRINGS.fullmatch(name)[1])]", "found[part_of(name)]",
     "test_messages_are_errors_where_the_interface_says_so"),
    ("every text is no error", "not ERRORS.isdisjoint(path[:2])", "not ERRORS.isdisjoint(path[:0])",
     "test_messages_are_half_errors_and_no_sentence_is_in_two_parts"),
    ("long sentences too", "and len(words) <= 20", "", "test_messages_are_half_errors_and_no_sentence_is_in_two_parts"),
    ("words of test are known", "for text in drawn[\"train\", label]", "for text in drawn[\"test\", label]",
     "test_messages_are_errors_where_the_interface_says_so"),
) + of(
    "data/labelled.py", "data/test_examples.py",
    ("questions leak into testing", 'if part_of(" ".join(text)) == part else None', ""),
) + of(
    "data/labelled.py", "core/test_devices.py",
    ("texts move without their last field", "Labelled(*(field.to(device) for field in self[:-1]), self.vocabulary)",
     "Labelled(*(field.to(device) for field in self[:-2]), *self[-2:])",
     "test_batches_move_but_for_the_lengths_of_pairs"),
)
