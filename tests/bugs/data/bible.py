"""Bugs of one line in attnlib/data/bible.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/bible.py", "data/test_bible.py",
    ("book by its last digits", "if number[:2] == TEST]", "if number[-2:] == TEST]"),
    ("Greek of a held-out verse stays", "v.source not in held_out and ", ""),
    ("English of a held-out verse stays", " and v.target not in held_out", ""),
    ("punctuation kept, so links shift", "        if not punctuation:\n", "        if True:\n",
     "test_corpus_is_the_same_on_every_machine"),
    ("links (Greek, English)", ".add((i, j))", ".add((j, i))", "test_corpus_is_the_same_on_every_machine"),
    ("first word of a group alone", 'product(record["target"], record["source"])',
     'product(record["target"], record["source"][:1])', "test_corpus_is_the_same_on_every_machine"),
    ("torn verses stay", "if verse in links and verse not in torn", "if verse in links",
     "test_corpus_is_the_same_on_every_machine"),
    ("words counted from 1", "places[number] = verse, len(words)", "places[number] = verse, len(words) + 1",
     "test_corpus_is_the_same_on_every_machine"),
    ("grave accents stay", "_append(sources, places, number, number[1:9], without_grave(text))",
     "_append(sources, places, number, number[1:9], text)", "test_corpus_is_the_same_on_every_machine"),
    ("letters and accents apart", 'normalize("NFC", ', 'normalize("NFD", '),
)
