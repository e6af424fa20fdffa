"""Notes made by hand are read for the pairs that they were made about."""

import pytest

from attnlib.data.by_hand import digest, read_notes
from attnlib.data.wheels import DataError

PAIRS = {digest(*pair): pair for pair in [("a dog", "un perro"), ("a cat", "un gato")]}


def test_each_note_comes_with_its_pair_in_the_order_of_the_file(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text(f"# a rule\n#\n{digest('a cat', 'un gato')} 0-0 1-1 |\n{digest('a dog', 'un perro')} right\n")
    assert [*read_notes(file, PAIRS)] == [(("a cat", "un gato"), "0-0 1-1 |"), (("a dog", "un perro"), "right")]


def test_a_note_about_another_pair_is_refused(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text(f"{digest('a dog', 'un gato')} right\n")
    with pytest.raises(DataError, match=r"the sentence [0-9a-f]{16} of notes\.txt is not in the test part any more"):
        [*read_notes(file, PAIRS)]
