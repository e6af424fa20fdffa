"""Bugs of one line in attnlib/data/translation.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/translation.py", "data/test_translation.py",
    ("random split by integration", 'if split == "integration" else " ".join(source))', ")",
     "test_corpus_is_the_same_on_every_machine"),
    ("integrations split by Python's own hash", "part_of(integration if",
     '["train", "dev", "test"][hash(integration) % 3] if split == "integration" else part_of(integration if'),
    ("training sentence in the test part", "for source, pair in test.items() if source not in train]",
     "for source, pair in test.items()]"),
    ("test sentence in the dev part", "if source not in train and source not in test]", "if source not in train]"),
    ("last translation wins", "parts[part].setdefault(source, Pair(source, target, integration))",
     "parts[part][source] = Pair(source, target, integration)"),
    ("untranslated sentences stay", "and source != (target := tokenize(translation, language)):",
     "and (target := tokenize(translation, language)):"),
    ("punctuation counted as words", "sum(any(map(str.isalnum, token)) for token in tokens)", "len(tokens)"),
    ("texts matched by place, not by key", "(integration, text, translations[key])",
     "(integration, text, list(translations.values())[0])", "test_corpus_is_the_same_on_every_machine"),
    ("keys without their path", "yield (*path, key), value", "yield (key,), value",
     "test_corpus_is_the_same_on_every_machine"),
    ("case kept", '.replace("’", "\'").lower()', '.replace("’", "\'")'),
    ("Japanese in words", "_CHARACTERS if language ==", "_WORDS if language =="),
    ("blank behind an apostrophe", "|(?<=[(\\[']) ", "|(?<=[(\\[]) "),
    ("anchor that the source has twice", "if n_target[word] == n_source[word] == 1", "if n_target[word] == 1"),
    ("anchor that the target has twice", "if n_target[word] == n_source[word] == 1", "if n_source[word] == 1"),
    ("anchor (source, target)", "(i, source.index(word))", "(source.index(word), i)"),
)
