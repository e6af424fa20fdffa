"""Bugs of one line in attnlib/data/bible.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/bible.py", "test_data_bible.py",
    ("dev and test books swapped", 'TEST, DEV = "43", "66"', 'TEST, DEV = "66", "43"'),
    ("another test book", 'TEST, DEV = "43", "66"', 'TEST, DEV = "42", "66"'),
    ("held-out books in training", "if v.source not in held_out and v.target not in held_out]", "]"),
    ("book by its last digits", "if number[:2] == TEST]", "if number[-2:] == TEST]"),
    ("Greek of a held-out verse stays", "v.source not in held_out and ", ""),
    ("English of a held-out verse stays", " and v.target not in held_out", ""),
    ("only the test book counts as held out", "for verse in dev + test for text", "for verse in test for text"),
    ("only the dev book counts as held out", "for verse in dev + test for text", "for verse in dev for text"),
    ("punctuation kept, so links shift", "        if not punctuation:\n", "        if True:\n"),
    ("links (Greek, English)", ".add((i, j))", ".add((j, i))"),
    ("first word of a group alone", 'product(record["target"], record["source"])',
     'product(record["target"], record["source"][:1])'),
    ("torn verses stay", "if verse in links and verse not in torn", "if verse in links"),
    ("only the Greek side of a torn link", "torn |= {verse, other_verse} if", "torn |= {other_verse} if"),
    ("only the English side of a torn link", "torn |= {verse, other_verse} if", "torn |= {verse} if"),
    ("words counted from 1", "places[number] = verse, len(words)", "places[number] = verse, len(words) + 1"),
    ("grave accents stay", "_append(sources, places, number, number[1:9], without_grave(text))",
     "_append(sources, places, number, number[1:9], text)"),
    ("accents lost", '"\\N{COMBINING ACUTE ACCENT}"', '""'),
    ("letters and accents apart", 'normalize("NFC", ', 'normalize("NFD", '),
    ("capitals stay", "words.append(text.lower())", "words.append(text)"),
    ("head of the table taken for a word", '.splitlines()[1:]', '.splitlines()[2:]'),
    ("verse of the English id", "_append(targets, places, number, verse, text)",
     "_append(targets, places, number, number[:8], text)"),
)
