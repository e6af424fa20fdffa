"""Bugs of one line in attnlib/data/subwords.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/subwords.py", "data/test_subwords.py",
    ("other ids for the specials", "pad_id=PAD,\n                bos_id=BOS",
     "pad_id=BOS,\n                bos_id=PAD"),
    ("another way to cut", 'model_type="bpe"', 'model_type="unigram"'),
    ("unknown pieces as the vocabulary writes them", "self._processor.encode(text, out_type=str)",
     "self.pieces(self.encode(text))"),
    ("rare letters unknown", "character_coverage=1.0", "character_coverage=0.9"),
)
