"""Real sentences in two languages: every pair is a pair, and what is held out was never seen in training."""

import collections
import functools
import hashlib
import json
import re
import zipfile

import jaxtyping
import pytest

from attnlib.data import translation
from attnlib.data.translation import LANGUAGES, anchors, detokenize, load_home_assistant, read_strings, tokenize
from attnlib.data.wheels import fetch_wheel


def tenth(name: str) -> int:
    """0 is held out for testing, 1 for stopping."""
    return int(hashlib.sha256(name.encode()).hexdigest()[:16], 16) % 10


def invent(content: int) -> str:
    """A name whose digest falls into this tenth."""
    return next(name for n in range(1000) if tenth(name := f"thing_{n}") == content)


# --- on sentences of our own ------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch):
    """Say what Home Assistant holds: (integration, English, French)."""

    def tell(*strings):
        monkeypatch.setattr(translation, "read_strings", lambda language: iter(strings))

    return tell


TRAIN, OTHER, DEV, TEST = invent(5), invent(7), invent(1), invent(0)


def test_a_sentence_of_several_parts_stays_in_one(told):
    told(
        (TEST, "No lamp was found.", "Aucune lampe trouvée."),
        (DEV, "No lamp was found.", "Aucune lampe."),
        (TRAIN, "**No** lamp was found.", "Pas de lampe."),
        (TEST, "No bell was found.", "Aucune sonnette."),
        (DEV, "no bell was found.", "Pas de sonnette."),
    )
    parts = load_home_assistant()
    assert [len(part) for part in parts] == [1, 0, 1]  # training goes before testing, testing before stopping
    assert parts.train[0].source[1] == "lamp" and parts.test[0].source[1] == "bell"


def test_an_english_sentence_comes_once_with_its_first_translation(told):
    told(
        (TRAIN, "Close the door {name}", "Fermer la porte {name}"),
        (TRAIN, "close the door {host}", "Ferme la porte {host}"),
        (OTHER, "close the door {name}", "La porte ferme"),
    )
    (pair,) = load_home_assistant().train
    assert pair == (("close", "the", "door", "X"), ("fermer", "la", "porte", "X"), TRAIN)


@pytest.mark.parametrize("split", ["integration", "random"])
def test_too_short_too_long_and_not_translated_are_left_out(told, split):
    words = [f"w{n}" for n in range(17)]
    told(
        *((TRAIN, " ".join(words[:n]), " ".join(reversed(words[:n]))) for n in range(1, 18)),
        (TRAIN, "Home Assistant Core", "**Home** assistant core"),
        (TRAIN, "(one, two!)", "(un, deux !)"),  # punctuation does not count, neither here
        (TRAIN, f"{' '.join(words[:16])} ...", "seize"),  # nor there
    )
    parts = load_home_assistant(split=split)
    assert sorted(len(pair.source) for part in parts for pair in part) == [*range(3, 17), 19]


def test_unknown_language_and_split_are_named():
    with pytest.raises(ValueError, match="unknown language 'en', known are fr, de, es, ja"):
        load_home_assistant("en")
    with pytest.raises(ValueError, match='unknown split \'date\', known are "integration" and "random"'):
        load_home_assistant("fr", "date")


# --- tokens -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language", "tokens"),
    [
        ("Turn OFF the Lamp, now!", "en", "turn off the lamp , now !"),
        ("L’écran d'accueil", "fr", "l' écran d' accueil"),
        ("**Stop** at `/tmp/x_1`", "en", "stop at / tmp / x_1"),
        ("See [the manual]({url}#part) (page 3)", "en", "see the manual ( page 3 )"),
        ("see [1] or (2)", "en", "see [ 1 ] or ( 2 )"),
        ("{Name}'s {a}{b} is {0}% { }", "en", "X ' s X X is X % { }"),
        ("3.5\n\u00a0m", "en", "3 . 5 m"),
        ("APIの鍵は{name}です。", "ja", "api の 鍵 は X で す 。"),
        ("ログ x1 y", "ja", "ロ グ x1 y"),
        ("", "fr", ""),
    ],
)
def test_text_becomes_tokens(text, language, tokens):
    assert tokenize(text, language) == tuple(tokens.split())


def test_names_are_kept_on_request():
    assert tokenize("{Host} and {b_2} {", "en", keep_names=True) == ("{host}", "and", "{b_2}", "{")


@pytest.mark.parametrize(
    ("tokens", "language", "text"),
    [
        ("l' écran ( X ) est-il là ?", "fr", "l'écran (X) est-il là?"),
        ("a : b , c ; [ d ] !", "en", "a: b, c; [d]!"),
        ("api key の X 鍵 、 2 つ", "ja", "api keyのX鍵、2つ"),
        ("X api 9", "ja", "X api 9"),
    ],
)
def test_tokens_become_text(tokens, language, text):
    assert detokenize(tokens.split(), language) == text


# --- anchors ----------------------------------------------------------------------------------------


def expected_anchors(source, target):
    return {
        (i, j)
        for i in range(len(target))
        for j in range(len(source))
        if source[j] == target[i]
        and list(source).count(source[j]) == 1
        and list(target).count(target[i]) == 1
        and re.fullmatch(r"X|[^\W_]{3,}|[^\W_]*\d[^\W_]*", target[i])
    }


@pytest.mark.parametrize(
    ("source", "target", "links"),
    [
        ("open the modbus port 5", "ouvrir le port modbus 5", {(2, 3), (3, 2), (4, 4)}),
        ("modbus or modbus", "le modbus", set()),
        ("modbus on", "modbus modbus on", set()),  # twice on one side; "on" is two letters long
        ("a X .", "X a .", {(0, 1)}),
        ("X and X", "X et X", set()),
        ("l1 co2 x_y ...", "co2 l1 x_y ...", {(0, 1), (1, 0)}),
        ("", "", set()),
    ],
)
def test_anchors_are_words_that_stand_once_on_both_sides(source, target, links):
    assert anchors(source.split(), target.split()) == links
    assert expected_anchors(source.split(), target.split()) == links


# --- the corpus itself ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpora():
    """Sentences by language, every text read and tokenized once; "random": the French ones, split at random.

    Without the shape checks: two million calls, and no tensor in them.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        strings = {language: list(read_strings(language)) for language in LANGUAGES}
        monkeypatch.setattr(translation, "read_strings", lambda language: iter(strings[language]))
        monkeypatch.setattr(translation, "tokenize", functools.cache(tokenize))
        corpora = {language: load_home_assistant(language) for language in LANGUAGES}
        corpora["random"] = load_home_assistant("fr", "random")
    return corpora


@pytest.mark.parametrize("name", [*LANGUAGES, "random"])
def test_no_sentence_and_no_integration_is_in_two_parts(corpora, name):
    sources = [pair.source for part in corpora[name] for pair in part]
    assert len(set(sources)) == len(sources) > 18_000
    if name == "random":
        return
    train, dev, test = ({pair.integration for pair in part} for part in corpora[name])
    assert {tenth(name) for name in test} == {0} and {tenth(name) for name in dev} == {1}
    assert {tenth(name) for name in train} == set(range(2, 10))
    assert len(train) > 780 and len(dev) > 90 and len(test) > 110


def test_corpus_is_the_same_on_every_machine(corpora):
    def digest(parts) -> str:
        texts = [[(" ".join(pair.source), " ".join(pair.target)) for pair in part] for part in parts]
        return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]

    assert {name: digest(parts) for name, parts in corpora.items()} == {
        "fr": "5faa289cf5d8830a",
        "de": "28f305cf2a6dc74b",
        "es": "4cb7ecbfb8749804",
        "ja": "2a076b4af9e8cb41",
        "random": "a8838961108e304e",
    }


def bare(text: str) -> str:
    """Letters and digits alone, with x for a placeholder: another way to read the same text."""
    text = re.sub(r"\]\([^()]*\)", "", text.lower())
    return "".join(filter(str.isalnum, re.sub(r"\{\w+\}", "x", text)))


@pytest.mark.parametrize("language", ["fr", "ja"])
def test_every_pair_stands_in_its_integration(corpora, language):
    """Read from the wheel in another way: all leaves of the two trees, in step."""
    by_name = collections.defaultdict(list)
    for part in corpora[language]:
        for pair in part:
            by_name[pair.integration].append(pair)

    def leaves(node, other):
        if isinstance(node, str):
            yield bare(node), bare(other)
        else:
            for key in node.keys() & other.keys():
                yield from leaves(node[key], other[key])

    with zipfile.ZipFile(fetch_wheel("homeassistant")) as wheel:
        for name in sorted(by_name)[::7]:
            folder = f"homeassistant/components/{name}/translations/"
            trees = (json.loads(wheel.read(f"{folder}{code}.json")) for code in ("en", language))
            there = set(leaves(*trees))
            for pair in by_name[name]:
                assert (bare("".join(pair.source)), bare("".join(pair.target))) in there, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_are_clean(corpora, language):
    pairs = [pair for part in corpora[language] for pair in part]
    for pair in pairs:
        words = [token for token in pair.source if re.search(r"[^\W_]", token)]
        assert 3 <= len(words) <= 16 and pair.target and pair.source != pair.target
    tokens = {token for pair in pairs for side in pair[:2] for token in side}
    assert not any(re.search(r"[\s*`’]|.{2,}[{}]", token) for token in tokens)
    assert {token for token in tokens if "X" in token} == {"X"}
    assert all(token == token.lower() for token in tokens - {"X"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_tokenize_undoes_detokenize(corpora, language):
    for pair in corpora[language].test + corpora[language].dev:
        for tokens, code in ((pair.source, "en"), (pair.target, language)):
            text = detokenize(tokens, code)
            assert tokenize(text.replace("X", "{x}"), code) == tokens
            assert not re.search(r"[\u3040-\u30ff\u4e00-\u9fff] [\u3040-\u30ff\u4e00-\u9fff]", text)


def test_anchors_of_the_corpus(corpora):
    links = [anchors(pair.source, pair.target) for pair in corpora["fr"].test]
    assert links == [expected_anchors(pair.source, pair.target) for pair in corpora["fr"].test]
    assert sum(map(len, links)) == 1756


def test_card_of_home_assistant_is_true(corpora):
    card, (train, dev, test) = translation.CARD, corpora["fr"]
    for language in LANGUAGES:
        assert f"{sum(map(len, corpora[language]))} ({language})" in card.size
    assert f"fr: {len(train)} + {len(dev)} + {len(test)}" in card.size
    known = {pair.target for pair in train}
    assert f"{sum(pair.target in known for pair in test) / len(test):.1%}".replace("%", " %") in card.split
