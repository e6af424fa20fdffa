"""The errors marked by hand are those of the translator in the page, and fit its sentences."""

import hashlib

import pytest

from attnlib.course.figures.translate import TRANSLATOR
from attnlib.course.figures.translator_file import read_translator
from attnlib.course.translation_errors import ERRORS, KINDS, load_translation_errors
from attnlib.data import read_texts
from attnlib.training.translator import thin, translate


@pytest.fixture(scope="module")
def judged():
    return load_translation_errors()


def test_fifty_sentences_evenly_spread_each_with_kinds_of_the_rule(judged):
    fifty = thin(read_texts("home-assistant-es").test, 50)
    assert [one[:2] for one in judged] == list(zip(*fifty, strict=True))
    for one in judged:
        assert one.errors.keys() <= set(KINDS)
        assert "nonsense" not in one.errors or one.errors == {"nonsense": ()}
        words = [j for kind, concerned in one.errors.items() for j in concerned or (kind,) if kind != "nonsense"]
        assert set(words) <= set(range(len(one.source.split()))), one
    (cgroup,) = (one for one in judged if one.source == "unsupported system - cgroup version")
    assert cgroup.errors == {"wrong": (1,), "copied": (3,)}
    assert next(one.source for one in judged if not one.errors) == "highest price - today"


def test_they_were_found_in_what_this_file_translates(judged):
    assert hashlib.sha256(TRANSLATOR.read_bytes()).hexdigest() in ERRORS.read_text("utf8"), (
        "another translator: judge it"
    )
    model, subwords, *_ = read_translator(TRANSLATOR)
    said = translate(model.eval(), subwords, [one.source for one in judged], 5)
    differ = [one.source for one, now in zip(judged, said, strict=True) if one.said != now]
    assert len(differ) <= 2, differ  # where two beams are level, another processor may prefer the other
