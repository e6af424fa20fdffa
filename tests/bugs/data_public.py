"""Bugs of one line in attnlib/data/public.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/public.py", "test_data_public.py",
    ("public file not checked", "known_hash=checksum", "known_hash=None"),
    ("any corpus goes", "    if name not in PUBLIC:\n", "    if not name:\n"),
    ("one file for all corpora", 'file = f"{name}{Path(url).suffix}"', 'file = "public"'),
    ("pooch's own directory", "path=directory, ", ""),
    ("broken connection taken for the disk", "except requests.RequestException as error:",
     "except ZeroDivisionError as error:"),
    ("404 taken for no network", "except requests.HTTPError as error:", "except ZeroDivisionError as error:"),
    ("wrong checksum unseen", "except ValueError as error:", "except ZeroDivisionError as error:"),
    ("disk errors unseen", "except OSError as error:", "except ZeroDivisionError as error:"),
    ("three sentences of pooch", 'error.strerror or "permission denied"', "error.strerror or error"),
    ("waits for ever", "timeout=TIMEOUT", "timeout=30"),
    ("bar taken for none", "total=1, ", "total=0, "),
    ("pooch talks", '.setLevel("WARNING")', '.setLevel("INFO")'),
    ("corpora swapped", 'if name == "fra-eng" else', 'if name != "fra-eng" else'),
    ("third column in the pair", '.split("\\t")[:2]', '.split("\\t")[-2:]'),
    ("last French wins", "setdefault(source, SentencePair(source, tokenize(french, \"fr\")))",
     "__setitem__(source, SentencePair(source, tokenize(french, \"fr\")))"),
    ("French to English", "SentencePair(source, tokenize(french, \"fr\"))",
     "SentencePair(tokenize(french, \"fr\"), source)"),
    ("split by the French", 'part_of(" ".join(source))', "part_of(french)"),
    ("a speech in two parts", "((0, dev), (dev, test), (test, None))", "((0, dev + 1), (dev, test), (test, None))"),
    ("last speech lost", "(test, None))", "(test, -1))"),
    ("ten percent for testing", "for share in (0.90, 0.95)", "for share in (0.80, 0.90)"),
)
