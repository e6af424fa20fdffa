"""The links made by hand fit the sentences that they were made for."""

import pytest

from attnlib.data import load_home_assistant
from attnlib.data.hand_links import load_hand_links
from attnlib.data.translation import anchors


@pytest.mark.untraced
def test_every_link_lies_inside_its_sentences_and_what_is_the_same_in_both_is_linked():
    examples, test = load_hand_links(), {pair[:2] for pair in load_home_assistant("es").test}
    assert len(examples) == len({e[:2] for e in examples}) == 120
    for source, target, sure, possible in examples:
        assert (source, target) in test and sure <= possible
        assert {i for i, _ in possible} <= set(range(len(target))) and {j for _, j in possible} <= set(
            range(len(source))
        )
        # names and numbers that occur once on either side: what costs nothing agrees with what was read
        assert anchors(source, target) <= possible, (source, target)


def test_links_are_target_and_source_in_this_order():
    words = ("a", "password", "is", "required", "by", "X", ".", "this")
    (example,) = (e for e in load_hand_links() if e.source[:8] == words)
    by_word = {(example.target[i], example.source[j]) for i, j in example.sure}
    assert {("contraseña", "password"), ("requiere", "required"), ("aún", "yet"), ("favor", "please")} <= by_word
    assert ("por", "please") in {(example.target[i], example.source[j]) for i, j in example.possible - example.sure}
