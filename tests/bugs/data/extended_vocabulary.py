"""Bugs of one line in attnlib/data/extended_vocabulary.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/extended_vocabulary.py", "core/test_copying.py",
    ("repeated new words get an id each", "list(dict.fromkeys(word for word in source if word not in vocabulary.ids))",
     "[word for word in source if word not in vocabulary.ids]"),
    ("first new id is V + 1", "{word: len(vocabulary) + n for n, word in enumerate(self.new)}",
     "{word: len(vocabulary) + n for n, word in enumerate(self.new, 1)}"),
    ("new ids shared by all sources",
     "        self.ids = {word: len(vocabulary) + n for n, word in enumerate(self.new)}",
     "        self.ids = vocabulary.__dict__.setdefault('new', {})\n        [self.ids.setdefault(word, "
     "len(vocabulary) + len(self.ids)) for word in self.new]"),
    ("new words not counted", "return len(self.vocabulary) + len(self.new)", "return len(self.vocabulary)"),
    ("new words encoded as unknown", "known.get(word, self.ids.get(word, unknown))", "known.get(word, unknown)"),
)
