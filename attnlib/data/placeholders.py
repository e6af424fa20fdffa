"""Sentences with names that must be copied into the translation: the real test of a model that copies."""

from collections import Counter
from collections.abc import Sequence

from attnlib.data.cards import DataCard, Splits
from attnlib.data.examples import Example, Links, part_of
from attnlib.data.translation import is_sentence, read_strings, tokenize

CARD = DataCard(
    title="Placeholders of Home Assistant, English to French, German, Spanish or Japanese",
    source="the wheel of homeassistant 2026.11.0: the translation files of its integrations",
    licence="Apache-2.0",
    size="2095 (fr), 2789 (de), 2792 (es) or 2315 (ja) pairs of 3 to 16 English words; fr: 1907 + 103 + 85, with "
    "356 + 34 + 26 names",
    split="by name: the digest of a placeholder's name alone decides, and a sentence whose names fall into several "
    "parts is dropped, so that no name is in two parts; the words around the names may be",
)


def load_placeholders(language: str = "fr") -> Splits[list[Example]]:
    """Sentences such as `set up {device}`, and translations that hold the same names (see `CARD`).

    The links tie the names that occur once on both sides; there are no others. The names of dev and test are
    in no training vocabulary: a model writes them only by copying.

    Args:
        language: of the targets, as for `load_home_assistant`.

    Raises:
        ValueError: the language is not known.
        DataError: the wheel that carries them cannot be had.
    """
    parts: dict[str, dict[tuple[str, ...], Example]] = {part: {} for part in Splits._fields}
    for _, english, translation in read_strings(language):
        if "{" in english:
            source = tokenize(english, "en", keep_names=True)
            target = tokenize(translation, language, keep_names=True)
            homes = {part_of(name) for name in (*source, *target) if is_name(name)}
            links = name_links(source, target)
            if is_sentence(source) and links and len(homes) == 1 and source != target:
                parts[homes.pop()].setdefault(source, Example(source, target, links, links))
    return Splits(*(list(part.values()) for part in parts.values()))


def is_name(token: str) -> bool:
    """Whether a token is a placeholder with its name, such as `{host}`; the lone brace is none."""
    return token[0] == "{" and len(token) > 1


def name_links(source: Sequence[str], target: Sequence[str]) -> Links:
    """Links (i, j) between the names that occur once in the source and once in the target.

    Example:
        >>> sorted(name_links(["{host}", "lost", "{device}"], ["{device}", "a", "perdu", "{host}"]))
        [(0, 2), (3, 0)]
    """
    once = {token for token, n in Counter(source).items() if n == 1 and is_name(token)}
    n_target = Counter(target)
    return frozenset((i, source.index(name)) for i, name in enumerate(target) if name in once and n_target[name] == 1)
