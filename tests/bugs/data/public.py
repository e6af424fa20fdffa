"""Bugs of one line in attnlib/data/public.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/public.py", "data/test_public.py",
    ("broken connection taken for the disk", "except requests.RequestException as error:",
     "except ZeroDivisionError as error:"),
    ("wrong checksum unseen", "except ValueError as error:", "except ZeroDivisionError as error:"),
    ("a patience of its own", "timeout=TIMEOUT", "timeout=5"),
    ("third column in the pair", '.split("\\t")[:2]', '.split("\\t")[-2:]'),
    ("last French wins", 'setdefault(source, SentencePair(source, tokenize(french, "fr")))',
     '__setitem__(source, SentencePair(source, tokenize(french, "fr")))'),
    ("French to English", 'SentencePair(source, tokenize(french, "fr"))',
     'SentencePair(tokenize(french, "fr"), source)'),
    ("split by the French", 'part_of(" ".join(source))', "part_of(french)"),
)
