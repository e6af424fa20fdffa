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
    ("a piece counted once for each of its characters", "+= 1 / max(1, len(text))", "+= 1"),
    ("a piece of two words given to the first alone", "owners[start : start + len(text)] or ", ""),
    ("a blank given to the word before it", "or owners[start : start + 1]", "or owners[max(0, start - 1) : start]"),
    ("a blank at the end of nobody", " or owners[-1:]", ""),
    ("words of another sentence", 'if "".join(words) != "".join(texts):', "if False:"),
    ("words without a character", 'if not words or "" in words:', "if not words:"),
    ("rare letters unknown", "character_coverage=1.0", "character_coverage=0.9"),
)
