"""Words that only one source has: ids beyond the vocabulary, for a model that copies.

Source and target share one vocabulary of V words. Each source that holds words beyond it has ids of its own for
them, V, V+1, …: its extended vocabulary.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from attnlib.data.vocabulary import Vocabulary


class ExtendedVocabulary:
    """A vocabulary and the words of one source that are not in it; the first of these gets the id V.

    Args:
        vocabulary: with an unknown token.
        source: the words of the source.

    Raises:
        ValueError: the source is one string, or the vocabulary has no unknown token, which models read in place of
            the new words.

    Example:
        >>> vocabulary = Vocabulary(["<unk>", "call", "now"], unknown="<unk>")
        >>> extended = ExtendedVocabulary(vocabulary, ["call", "Ada", "call", "Bo"])
        >>> extended.encode(["call", "Bo", "and", "Ada"])
        tensor([1, 4, 0, 3])
        >>> extended.decode(torch.tensor([4, 2]))
        ['Bo', 'now']

    Source: see2017get, section 2.2.
    """

    def __init__(self, vocabulary: Vocabulary, source: Sequence[str]):
        if isinstance(source, str):
            raise ValueError(f"a source is a sequence of words, got the string {source!r}")
        if vocabulary.unknown is None:
            raise ValueError("copying needs a vocabulary with an unknown token")
        self.vocabulary = vocabulary
        self.new = list(dict.fromkeys(word for word in source if word not in vocabulary.ids))
        self.ids = {word: len(vocabulary) + n for n, word in enumerate(self.new)}

    def __len__(self) -> int:
        return len(self.vocabulary) + len(self.new)

    def encode(self, words: Sequence[str]) -> Int[Tensor, " T"]:
        """Ids of words: of the vocabulary, of this source, or the unknown token."""
        known = self.vocabulary.ids
        unknown = known[self.vocabulary.unknown]
        return torch.tensor([known.get(word, self.ids.get(word, unknown)) for word in words], dtype=torch.long)

    def decode(self, ids: Int[Tensor, " T"]) -> list[str]:
        """Words of ids.

        Raises:
            ValueError: an id means nothing for this source (it may for another).
        """
        words = self.vocabulary.tokens + self.new
        if outside := sorted({i for i in ids.tolist() if not 0 <= i < len(words)}):
            raise ValueError(f"the extended vocabulary of this source has the ids 0..{len(words) - 1}, not {outside}")
        return [words[i] for i in ids.tolist()]
