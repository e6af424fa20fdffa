"""Bugs of one line in attnlib/data/vocabulary.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/vocabulary.py", "data/test_vocabulary.py",
    ("ids from 1", "for i, token in enumerate(self.tokens)}", "for i, token in enumerate(self.tokens, 1)}"),
    ("rarest first", "key=lambda pair: (-pair[1], pair[0])", "key=lambda pair: (pair[1], pair[0])"),
    ("order of ties by chance", "key=lambda pair: (-pair[1], pair[0])", "key=lambda pair: -pair[1]"),
    ("unknown token on top of the size", "if token not in first])[:size], unknown)",
     "if token not in first][:size]), unknown)"),
    ("special tokens twice", "for token, _ in counts if token not in first]", "for token, _ in counts]"),
    ("special tokens behind the others", "(first + [token for token, _ in counts if token not in first])",
     "([token for token, _ in counts if token not in first] + first)"),
    ("ids of begin and end swapped", "PAD, BOS, EOS, UNK = range(4)", "PAD, EOS, BOS, UNK = range(4)"),
    ("strangers become token 0", "self.ids.get(token, unknown)", "self.ids.get(token, 0)"),
    ("strangers dropped", "return torch.tensor([self.ids.get(token, unknown) for token in text]",
     "return torch.tensor([self.ids[token] for token in text if token in self.ids]"),
    ("id -1 is the last token", "if not 0 <= i < len(self)]:", "if not i < len(self)]:"),
)
