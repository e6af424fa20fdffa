"""Bugs of one line in attnlib/data/placeholders.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/placeholders.py", "test_data_translation.py",
    ("names of two parts together", "links and len(homes) == 1 and", "links and homes and"),
    ("names of the translation forgotten", "part_of(name) for name in (*source, *target) if",
     "part_of(name) for name in source if"),
    ("names replaced", 'tokenize(english, "en", keep_names=True)', 'tokenize(english, "en")'),
    ("placeholder sentences of any length", "if is_sentence(source) and", "if"),
    ("placeholder sentences without a link", "and links and", "and"),
    ("placeholder sentences as they are", "and source != target:", ":"),
    ("last placeholder translation wins", ".setdefault(source, Example(source, target, links, links))",
     "[source] = Example(source, target, links, links)"),
    ("placeholder source and target swapped", "Example(source, target, links, links)",
     "Example(target, source, links, links)"),
    ("lone brace is a name", '"{" and len(token) > 1', '"{"'),
    ("repeated name linked to its first place", "if n == 1 and is_name(token)}", "if is_name(token)}"),
    ("repeated name linked from each place", "if name in once and n_target[name] == 1", "if name in once"),
    ("every word linked", "if n == 1 and is_name(token)}", "if n == 1}"),
    ("name links (source, target)", "(i, source.index(name))", "(source.index(name), i)"),
)
