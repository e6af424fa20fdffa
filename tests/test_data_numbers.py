"""Words and digits say the same number, and a digit is linked to the word that changes with it."""

import inspect
import itertools
import random

import pytest
from num2words import num2words

from attnlib.data.examples import encode_examples, part_of, vocabularies
from attnlib.data.numbers import CARD, LANGUAGES, counterfactual_links, in_words, load_numbers

SIZES = (400, 50, 60)
UP_TO = 999  # the words of larger numbers take their time

# --- the words, written out by hand -----------------------------------------------------------------

ONES = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix+sept "
    "dix+huit dix+neuf",
}
TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante",
}


def spell(n: int, language: str) -> list[str]:
    """The words of 0..9999, by the rules of the language."""
    ones, tens = ([word.split("+") for word in table[language].split()] for table in (ONES, TENS))
    if n < 20:
        return ones[n]
    if n < 100:
        ten, one = divmod(n, 10)
        if language == "de":
            return [*(["ein"] if one == 1 else ones[one]), "und", *tens[ten - 2]] if one else tens[ten - 2]
        if language == "fr" and n >= 80:
            return ["quatre", "vingts"] if n == 80 else ["quatre", "vingt", *ones[n - 80]]
        if language == "fr":
            base = tens[min(ten, 6) - 2]
            rest = n - 10 * min(ten, 6)
            return base if not rest else [*base, *(["et"] if rest in (1, 11) else []), *ones[rest]]
        return [*tens[ten - 2], *(ones[one] if one else [])]
    unit, word = (
        (1000, {"en": "thousand", "de": "tausend", "fr": "mille"}[language])
        if n >= 1000
        else (
            100,
            {"en": "hundred", "de": "hundert", "fr": "cent"}[language],
        )
    )
    many, rest = divmod(n, unit)
    head = (
        ["ein"] if language == "de" and many == 1 else [] if language == "fr" and many == 1 else spell(many, language)
    )
    if language == "fr" and unit == 100 and many > 1 and not rest:
        word = "cents"
    between = ["and"] if language == "en" and 0 < rest < 100 else []
    return [*head, word, *between, *(spell(rest, language) if rest else [])]


def test_the_words_are_the_languages_own():
    for language in LANGUAGES:
        for n in [*range(UP_TO + 1), *random.sample(range(UP_TO, 10_000), 40)]:
            assert list(in_words(n, language)) == spell(n, language), n


def test_no_letter_is_lost():
    for language in LANGUAGES:
        for n in random.sample(range(1_000_000), 100):
            text = num2words(n, lang=language)
            for sign in "-, ":
                text = text.replace(sign, "")
            assert "".join(in_words(n, language)) == text
    assert in_words(77_071, "de") == ("sieben", "und", "siebzig", "tausend", "ein", "und", "siebzig")


# --- links ------------------------------------------------------------------------------------------


def changes(n: int, language: str) -> dict[tuple[int, int], int]:
    """(digit, word) → for how many other digits the number has another word there, and nowhere else."""
    digits = [int(d) for d in str(n)]
    found = {}
    for i, d in enumerate(digits):
        for other in range(10):
            if other == d:
                continue
            m = sum(10 ** (len(digits) - 1 - k) * (other if k == i else digit) for k, digit in enumerate(digits))
            old, new = spell(n, language), spell(m, language)
            if len(old) == len(new) and sum(a != b for a, b in zip(old, new, strict=True)) == 1:
                j = [a != b for a, b in zip(old, new, strict=True)].index(True)
                found[i, j] = found.get((i, j), 0) + 1
    return found


def test_links_follow_from_changes():
    for language in LANGUAGES:
        for n in [*range(130), *random.sample(range(130, UP_TO), 90), *random.sample(range(UP_TO, 10_000), 5)]:
            found = changes(n, language)
            sure, possible = counterfactual_links(n, language)
            assert possible == set(found), (language, n)
            assert sure == {link for link, count in found.items() if count >= 2}, (language, n)


@pytest.mark.parametrize(
    ("language", "number", "words", "sure", "unsure"),
    [
        ("en", 0, "zero", {(0, 0)}, set()),
        ("en", 7, "seven", {(0, 0)}, set()),
        ("en", 10, "ten", {(0, 0), (1, 0)}, set()),
        ("en", 15, "fifteen", {(1, 0)}, {(0, 0)}),  # five is the one other word a change of the 1 gives
        ("en", 40, "forty", {(0, 0)}, set()),
        ("en", 42, "forty two", {(0, 0), (1, 1)}, set()),
        ("en", 105, "one hundred and five", {(0, 0), (2, 3)}, {(1, 3)}),  # fifteen
        ("en", 3042, "three thousand and forty two", {(0, 0), (2, 3), (3, 4)}, set()),
        ("de", 42, "zwei und vierzig", {(0, 2), (1, 0)}, set()),  # the swap
        ("de", 6542, "sechs tausend fünf hundert zwei und vierzig", {(0, 0), (1, 2), (2, 6), (3, 4)}, set()),
        ("fr", 42, "quarante deux", {(0, 0), (1, 1)}, set()),
        ("fr", 72, "soixante douze", {(1, 1)}, {(0, 1)}),  # the 7 is in both words; soixante deux has the 6
        ("fr", 200, "deux cents", {(0, 0)}, set()),
    ],
)
def test_literal_links(language, number, words, sure, unsure):
    assert in_words(number, language) == tuple(words.split())
    assert counterfactual_links(number, language) == (sure, sure | unsure)


# --- the corpus -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpora():
    return {language: load_numbers(language, sizes=SIZES, largest=UP_TO) for language in LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_digits_and_links_of_every_example(language, corpora):
    for example in itertools.chain(*corpora[language]):
        number = int("".join(example.target))
        assert example.target == tuple(str(number)) and list(example.source) == spell(number, language)
        assert (example.sure, example.possible) == counterfactual_links(number, language)
        assert len({i for i, _ in example.sure}) == len(example.sure)  # a digit has one sure word at most
        for i, j in example.possible:
            assert 0 <= i < len(example.target) and 0 <= j < len(example.source)


def test_no_number_is_in_two_parts(corpora):
    seen = [set(), set(), set()]
    some = load_numbers(sizes=(300, 30, 30), largest=500, seed=3)
    for splits in (*corpora.values(), some):
        for part, found in zip(splits, seen, strict=True):
            numbers = ["".join(example.target) for example in part]
            assert len(set(numbers)) == len(numbers)
            found |= set(numbers)
    for a, b in itertools.combinations(seen, 2):
        assert not a & b
    assert tuple(map(len, corpora["de"])) == SIZES


def test_one_seed_one_corpus(corpora):
    again, other = (load_numbers("en", sizes=SIZES, largest=UP_TO, seed=seed) for seed in (0, 1))
    assert again == corpora["en"]
    digits = {name: [["".join(e.target) for e in part] for part in s] for name, s in corpora.items()}
    assert digits["en"] == digits["de"] == digits["fr"]
    for part in range(3):
        assert other[part] != again[part]
    few = load_numbers("en", sizes=(2, 1, 1))
    assert ["".join(e.target) for part in few for e in part] == ["6502", "5363", "8662", "9646"]
    assert load_numbers("en", sizes=(7, 0, 9), largest=UP_TO) == (again.train[:7], [], again.test[:9])


def test_every_number_comes_once_where_all_are_asked_for():
    wanted = [sum(part_of(str(n)) == part for n in range(1, 121)) for part in ("train", "dev", "test")]
    parts = load_numbers("fr", sizes=wanted, largest=120)
    assert sorted(int("".join(e.target)) for part in parts for e in part) == list(range(1, 121))
    assert [e.target for e in parts.train] != sorted((e.target for e in parts.train), key=lambda t: int("".join(t)))
    wanted[1] += 1
    with pytest.raises(ValueError, match=f"dev has {wanted[1] - 1} numbers up to 120, {wanted[1]} were asked for"):
        load_numbers("fr", sizes=wanted, largest=120)


def test_smallest_corpus():
    assert part_of("1") == "train"
    parts = load_numbers("de", sizes=(1, 0, 0), largest=1)
    assert parts.dev == parts.test == [] and parts.train[0].source == ("eins",) and parts.train[0].target == ("1",)


def test_words_of_the_test_part_are_known_from_training(corpora):
    for splits in corpora.values():
        source, target = vocabularies(splits.train)
        for part in splits[1:]:
            assert all(3 not in ids for side in encode_examples(part, source, target) for ids in side)
        assert set(target.tokens[4:]) == set("0123456789")


def test_senseless_wishes_are_refused(unhooked):
    for largest in (-1, 0, 1_000_000):
        with pytest.raises(ValueError, match=rf"largest must lie in 1\.\.999999, got {largest}"):
            load_numbers(sizes=(1, 0, 0), largest=largest)
    for refused in (load_numbers, lambda language: in_words(3, language)):
        with pytest.raises(ValueError, match="unknown language 'xx', known are en, de, fr"):
            refused("xx")
    with pytest.raises(ValueError, match=r"three numbers.*got \(5, 5\)"):
        load_numbers(sizes=(5, 5))


def test_card_tells_the_defaults():
    defaults = {n: p.default for n, p in inspect.signature(load_numbers).parameters.items()}
    assert CARD.size == " + ".join(map(str, defaults["sizes"])) + f" numbers from 1 to {defaults['largest']}"
    assert "num2words >= 0.5.13" in CARD.source
