"""Bugs of one line in attnlib/data/subwords.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/subwords.py", "test_data_subwords.py",
    ("other ids for the specials", "pad_id=PAD,\n                bos_id=BOS",
     "pad_id=BOS,\n                bos_id=PAD"),
    ("other names for the specials", "unk_piece=SPECIALS[UNK]", "unk_piece=\"<unknown>\""),
    ("another way to cut", "model_type=\"bpe\"", "model_type=\"unigram\""),
    ("rare letters unknown", "character_coverage=1.0", "character_coverage=0.9"),
    ("any model will do", "if first != SPECIALS:", "if False:"),
    ("any id will do", "if outside := [i for i in ids.tolist() if not 0 <= i < len(self)]:", "if outside := []:"),
    ("negative ids count from the end", "if not 0 <= i < len(self)", "if not i < len(self)"),
    ("nothing is learned from nothing", "if not any(map(str.strip, texts)):", "if False:"),
    ("saved empty", "write_bytes(self.model)", "write_bytes(b\"\")"),
)
