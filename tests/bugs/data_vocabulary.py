"""Bugs of one line in attnlib/data/vocabulary.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/vocabulary.py", "test_data_vocabulary.py",
    ("ids from 1", "for i, token in enumerate(self.tokens)}", "for i, token in enumerate(self.tokens, 1)}"),
    ("rarest first", "key=lambda pair: (-pair[1], pair[0])", "key=lambda pair: (pair[1], pair[0])"),
    ("order of ties by chance", "key=lambda pair: (-pair[1], pair[0])", "key=lambda pair: -pair[1]"),
    ("unknown token on top of the size", "if token not in first])[:size], unknown)",
     "if token not in first][:size]), unknown)"),
    ("special tokens twice", "for token, _ in counts if token not in first]", "for token, _ in counts]"),
    ("special tokens behind the others", "(first + [token for token, _ in counts if token not in first])",
     "([token for token, _ in counts if token not in first] + first)"),
    ("unknown token behind the specials", "else [unknown, *specials]", "else [*specials, unknown]"),
    ("unknown token twice", "if unknown is None or unknown in specials else", "if unknown is None else"),
    ("specials cut off by the size", "size < len(first):", "size < 0:"),
    ("ids of begin and end swapped", "PAD, BOS, EOS, UNK = range(4)", "PAD, EOS, BOS, UNK = range(4)"),
    ("special tokens in another order", "(\"<pad>\", \"<bos>\", \"<eos>\", \"<unk>\")",
     "(\"<pad>\", \"<unk>\", \"<bos>\", \"<eos>\")"),
    ("strangers become token 0", "self.ids.get(token, unknown)", "self.ids.get(token, 0)"),
    ("strangers dropped", "return torch.tensor([self.ids.get(token, unknown) for token in text]",
     "return torch.tensor([self.ids[token] for token in text if token in self.ids]"),
    ("strangers are numbered None", "if strangers and unknown is None:", "if False:"),
    ("text without a known word taken", "if strangers and need_known and", "if False and"),
    ("text without a known word never taken", "if strangers and need_known and", "if strangers and"),
    ("text with a stranger refused", "strangers | {self.unknown} >= set(text)", "strangers"),
    ("unknown token counts as known", "strangers | {self.unknown} >= set(text)", "strangers >= set(text)"),
    ("tokens twice", "if len(self.ids) < len(self.tokens):", "if False:"),
    ("unknown token not among the tokens", "if unknown is not None and unknown not in self.ids:", "if False:"),
    ("id -1 is the last token", "if not 0 <= i < len(self)]:", "if not i < len(self)]:"),
)
