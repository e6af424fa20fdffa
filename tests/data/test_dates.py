"""Every written date is Babel's own, has one meaning, and its fields lie where the links say."""

import collections
import datetime
import functools
import inspect
import itertools
import re

import pytest
from babel import Locale
from babel.dates import format_date

from attnlib.data.dates import BETWEEN, CARD, FORMATS, LOCALES, ambiguous, load_dates, patterns, render
from attnlib.data.examples import part_of

SIZES = (500, 70, 80)


@pytest.fixture(scope="module")
def corpus():
    return load_dates(sizes=SIZES)


@pytest.fixture(scope="module")
def pairs():
    return load_dates(sizes=(150, 20, 30), n_dates=2)


PATTERNS = {locale: patterns(locale) for locale in LOCALES}


@functools.cache
def wordings(iso: str) -> dict[str, set[str]]:
    """All that Babel may write for a date → the locales that do."""
    day = datetime.date.fromisoformat(iso)
    found = collections.defaultdict(set)
    for locale in LOCALES:
        for pattern in PATTERNS[locale]:
            found[format_date(day, pattern, locale)].add(locale)
    return found


def is_read_right(text: str, iso: str, field: int, locales: set[str]) -> bool:
    """Whether a piece of a date is its year, month or day (field 0, 1, 2), by Babel's tables of names."""
    number = int(iso.split("-")[field])
    if field == 1 and not text.isdigit():
        tables = [Locale.parse(locale).months[use] for locale in locales for use in ("format", "stand-alone")]
        return any(table[width][number] == text for table in tables for width in ("wide", "abbreviated"))
    return text in ((str(number),) if field == 0 else (str(number), f"{number:02}"))


def check_links(source: str, iso: str, sure: set, possible: set, locales: set[str]) -> None:
    """Field by field, without looking at how the date was rendered."""
    assert {i for i, _ in possible} == {0, 1, 2, 3, 5, 6, 8, 9}  # all but the hyphens
    taken = []
    for field, columns in enumerate(((0, 1, 2, 3), (5, 6), (8, 9))):
        spans = [sorted(j for i, j in possible if i == column) for column in columns]
        assert all(span == spans[0] for span in spans)
        span = spans[0]
        assert span == list(range(span[0], span[-1] + 1))
        text = source[span[0] : span[-1] + 1]
        assert is_read_right(text, iso, field, locales), (source, text)
        taken += span
        links = sorted((i, j) for i, j in sure if i in columns)
        if text.isdigit():
            assert [j for _, j in links] == span  # every digit, in its order
            assert [i for i, _ in links] == list(columns)[len(columns) - len(span) :]
            assert all(source[j] == iso[i] for i, j in links)
        else:
            assert not links
    assert len(taken) == len(set(taken))
    assert sure <= possible


def test_ambiguous_dates():
    early, late = datetime.date(2021, 4, 12), datetime.date(2021, 4, 13)
    for pattern in ("M/d/y", "dd.MM.y", "E, dd/MM/y", "d. L. y", "LL/dd/y"):
        assert ambiguous(early, pattern) and not ambiguous(late, pattern)
    for pattern in ("d MMM y", "y-MM-dd", "E, y-MM-dd", "y/M/d(E)", "d. LLLL y"):
        assert not ambiguous(early, pattern) and not ambiguous(late, pattern)


def test_standard_formats_are_the_locales_own():
    day = datetime.date(2021, 10, 30)
    for locale in LOCALES:
        for name in ("short", "medium", "long", "full"):
            own = format_date(day, name, locale)
            if re.search("2021", own):
                (pattern,) = patterns(locale, [name])
                assert render(day, pattern, locale).text == own
    for name, letters in (("full, short weekday", "EEE"), ("full, short month", "MMM")):
        (full,) = patterns("fr_FR", ["full"])
        assert patterns("fr_FR", [name]) == [full.replace(letters + letters[0], letters)]
    for name in ("yMd", "yMMMd", "yMEd", "yMMMEd"):
        assert patterns("en_US", [name]) == [Locale.parse("en_US").datetime_skeletons[name].pattern]


@pytest.mark.parametrize("locale", LOCALES)
def test_rendered_dates_are_babels(locale):
    chosen = patterns(locale)
    assert 6 <= len(chosen) <= 10 and len(set(chosen)) == len(chosen)
    days = [datetime.date(2023, 1, 1) + datetime.timedelta(n) for n in range(0, 730, 11)]  # every month, every weekday
    for day in [*days, datetime.date(2024, 2, 29), datetime.date(1999, 12, 31), datetime.date(2000, 1, 1)]:
        for pattern in chosen:
            rendered = render(day, pattern, locale)
            assert rendered.text == format_date(day, pattern, locale)
            assert set(rendered.spans) == {"y", "M", "d"}
            assert rendered.text[slice(*rendered.spans["y"])] == str(day.year)
            assert int(rendered.text[slice(*rendered.spans["d"])]) == day.day


def test_every_day_of_the_years_comes():
    days = {(datetime.date(2023, 1, 1) + datetime.timedelta(n)).isoformat() for n in range(365)}
    sizes = [sum(part_of(day) == part for day in days) for part in ("train", "dev", "test")]
    parts = load_dates(sizes=sizes, locales=["ja_JP"], formats=["long"], years=(2023, 2023))
    assert {"".join(example.target) for part in parts for example in part} == days
    ends = {"years": (9999, 9999), "locales": ["ja_JP"], "formats": ["long"]}
    assert all(example.target[0] == "9" for example in load_dates(sizes=(9, 0, 0), **ends).train)


@pytest.mark.parametrize("n_dates", [1, 2, 3])
def test_sources_and_links_are_right(n_dates, corpus, pairs):
    some = {1: corpus, 2: pairs}.get(n_dates) or load_dates(sizes=(1, 0, 0), n_dates=n_dates)
    for example in itertools.chain(*some):
        source, target = "".join(example.source), "".join(example.target)
        assert all(len(token) == 1 for token in example.source + example.target)
        assert re.fullmatch(" ".join([r"\d{4}-\d\d-\d\d"] * n_dates), target) and source.count(BETWEEN) == n_dates - 1
        i_start = j_start = 0
        common = set(LOCALES)
        for text, iso in zip(source.split(BETWEEN), target.split(), strict=True):
            written = wordings(iso)
            sure, possible = (
                {(i - i_start, j - j_start) for i, j in links if i_start <= i < i_start + 10}
                for links in (example.sure, example.possible)
            )
            check_links(text, iso, sure, possible, written[text])
            assert all(0 <= j < len(text) for _, j in possible)
            common &= written[text]
            i_start, j_start = i_start + 11, j_start + len(text) + len(BETWEEN)
        assert common  # one locale for all
        assert len({i for i, _ in example.possible}) == 8 * n_dates


def test_no_date_is_in_two_parts(corpus, pairs):
    seen = [
        {"".join(e.target) for e in single} | {d for e in double for d in "".join(e.target).split()}
        for single, double in zip(corpus, pairs, strict=True)
    ]
    others = load_dates(sizes=(200, 50, 60), seed=5, years=(2000, 2003))  # few dates, so that they come often
    for part, other in zip(seen, others, strict=True):
        part |= {"".join(example.target) for example in other}
    assert tuple(map(len, corpus)) == SIZES and len(seen[0]) > 700
    assert not any(a & b for a, b in itertools.combinations(seen, 2))


def test_every_source_has_one_meaning(corpus, pairs):
    meanings = collections.defaultdict(set)
    for splits in (corpus, pairs, load_dates(sizes=(300, 0, 0), years=(2021, 2021))):
        for part in splits:
            assert len({example.source for example in part}) == len(part)
            for example in part:
                meanings[example.source].add(example.target)
    assert all(len(targets) == 1 for targets in meanings.values())
    for source in map("".join, meanings):
        for numbers in re.findall(r"\b(\d+)[-/.](\d+)[-/.](\d+)\b", source):
            if len(numbers[0]) < 4:  # day and month first: one of them cannot be a month
                assert len(numbers[2]) == 4 and max(int(numbers[0]), int(numbers[1])) > 12, source


def test_locales_formats_and_dates_are_spread(corpus):
    used = set()
    for example in corpus.train:
        written = wordings("".join(example.target))["".join(example.source)]
        used |= written if len(written) == 1 else set()
    assert used == set(LOCALES)
    text = "\n".join("".join(example.source) for example in corpus.train)
    for form in (r"^\d+/\d+/\d{4}$", r"^\d{4}年\d+月\d+日$", "juillet", "Juli ", "lipca"):
        assert re.search(form, text, re.M)
    iso = ["".join(example.target).split("-") for example in load_dates(sizes=(1500, 0, 0)).train]
    years, months, days = (set(map(int, numbers)) for numbers in zip(*iso, strict=True))
    assert (years, months, days) == (set(range(1950, 2050)), set(range(1, 13)), set(range(1, 32)))


def test_one_seed_one_corpus(corpus):
    small = (40, 7, 9)
    again, other = load_dates(sizes=small), load_dates(sizes=small, seed=1)
    for part, size in enumerate(small):
        assert again[part] == corpus[part][:size]
        assert not {e.source for e in again[part]} & {e.source for e in other[part]}
    # with one way to write a date, the data of Babel decide nothing
    long = load_dates(sizes=(2, 1, 1), locales=["ja_JP"], formats=["long"])
    drawn = ["".join(example.target) for part in long for example in part]
    assert drawn == ["2021-03-18", "2025-01-16", "2027-10-01", "1970-04-01"]


def test_test_characters_are_known_from_training(corpus):
    train, dev, test = ({letter for example in part for letter in example.source} for part in corpus)
    assert dev | test <= train and 56 < len(train) < 106


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_dates(locales=["fr_FR", "xx_YY"]), "unknown locale 'xx_YY'"),
        (lambda: load_dates(locales=["klingon"]), "unknown locale 'klingon'"),
        (lambda: load_dates(formats=["long", "tiny"]), r"unknown formats \['tiny'\], known are \['short', "),
        (lambda: load_dates(locales=[]), "at least one locale"),
        (lambda: load_dates(years=(999, 2000)), r"from 1000 on, got \(999, 2000\)"),
        (lambda: load_dates(years=(2001, 2000)), r"from 1000 on, got \(2001, 2000\)"),
        (lambda: load_dates(years=(2000, 10000)), r"four digits, got \(2000, 10000\)"),
        (lambda: load_dates(n_dates=0), "n_dates must be at least 1, got 0"),
        (lambda: load_dates(sizes=(5, -1, 5)), r"three numbers.*got \(5, -1, 5\)"),
        (lambda: patterns("de_DE", ["short"]), r"none of the formats \['short'\] is clear in the locale 'de_DE'"),
    ],
)
def test_senseless_wishes_are_refused(call, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        call()


def test_card_tells_the_defaults():
    defaults = {n: p.default for n, p in inspect.signature(load_dates).parameters.items()}
    assert CARD.size.startswith(" + ".join(map(str, defaults["sizes"])))
    assert "{} to {}".format(*defaults["years"]) in CARD.size
    assert len(LOCALES) == len(FORMATS) == 10 and "ten locales" in CARD.size and "ten formats" in CARD.size
    assert "Babel >= 2.14" in CARD.source and defaults["locales"] == LOCALES and defaults["formats"] == FORMATS
