"""Every target of the small tasks can be worked out from its source, and its gold place holds it."""

import collections
import itertools
import string

import pytest

from attnlib.data.examples import Example
from attnlib.data.tasks import MARKER, load_copy, load_retrieval
from tests.data.loaders import EXAMPLE_LOADERS, contents, corpus


@pytest.mark.parametrize("name", EXAMPLE_LOADERS)
def test_targets_and_links(name):
    for example in itertools.chain(*corpus(name)):
        source, target = example.source, example.target
        if name == "copy":
            places = [*range(len(source))]
            assert "".join(target) == "".join(source)
        elif name == "reverse":
            places = [len(source) - 1 - i for i in range(len(source))]
            assert "".join(target) == "".join(source)[::-1]
        else:
            before, behind = "".join(source).split(MARKER)
            places = [len(before) + 1]
            assert "".join(target) == behind[0]
        assert sorted(example.sure) == list(enumerate(places))
        assert example.possible == example.sure


@pytest.mark.parametrize("name", EXAMPLE_LOADERS)
def test_lengths_and_symbols_all_come_equally_often(name):
    marker = {MARKER} if name == "retrieval" else set()
    examples = EXAMPLE_LOADERS[name](sizes=(3000, 0, 0), lengths=(4, 8), symbols=["x1", "x2", "x3"]).train
    assert {len(example.source) for example in examples} == {4, 5, 6, 7, 8}
    assert set().union(*(example.source for example in examples)) == {"x1", "x2", "x3"} | marker
    if marker:
        # there are 2430 long ones, nearly all in use, and 3 * 27 short
        places = [collections.Counter(e.source.index(MARKER) for e in examples if len(e.source) == n) for n in (7, 8)]
        assert set(places[0]) == set(range(6)) and set(places[1]) == set(range(7))
        assert min(places[1].values()) > 0.7 * max(places[1].values())
    default = collections.Counter(len(e.source) for e in EXAMPLE_LOADERS[name](sizes=(3200, 0, 0)).train)
    assert set(default) == set(range(5, 21))
    assert min(default.values()) > 140 and max(default.values()) < 260  # 200 each, give or take four deviations
    assert set().union(*contents(corpus(name).train)) == set(string.ascii_lowercase) | marker


def test_smallest_sequences():
    (example,) = load_copy(sizes=(1, 0, 0), lengths=(1, 1), symbols=["only"]).train
    assert example == Example(("only",), ("only",), frozenset({(0, 0)}), frozenset({(0, 0)}))
    (example,) = load_retrieval(sizes=(0, 0, 1), lengths=(2, 2)).test
    assert example.source == (MARKER, *example.target) and example.sure == {(0, 1)}


REFUSED = [
    ({"lengths": (0, 3)}, r"lengths must be \(smallest, largest\).*got \(0, 3\)"),
    ({"lengths": (5, 4)}, r"lengths must be \(smallest, largest\).*got \(5, 4\)"),
    ({"lengths": (3,)}, r"lengths must be \(smallest, largest\).*got \(3,\)"),
    ({"symbols": "aba"}, r"no symbol twice.*\['a', 'b', 'a'\]"),
    ({"symbols": ""}, r"at least one symbol.*got \[\]"),
]


@pytest.mark.parametrize(
    ("load", "options", "message"),
    [
        *((load, *refused) for load in EXAMPLE_LOADERS.values() for refused in REFUSED),
        (load_retrieval, {"lengths": (1, 3)}, r"from 2 on, got \(1, 3\)"),
        (load_retrieval, {"symbols": "a*"}, r"marker '\*' .*\['a', '\*'\]"),
    ],
)
def test_senseless_sequences_are_refused(load, options, message, without_shape_checks):
    with pytest.raises(ValueError, match=message):
        load(**options)
