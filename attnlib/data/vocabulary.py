"""Tokens and their numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")
PAD, BOS, EOS, UNK = range(4)  # their ids in every vocabulary that has them


class Vocabulary:
    """A fixed list of tokens; the id of a token is its place in the list.

    Args:
        tokens: the tokens, all different.
        unknown: the token that stands for every other; None refuses others.

    Raises:
        ValueError: a token occurs twice, or `unknown` is not among the tokens.

    Example:
        >>> vocabulary = Vocabulary("abc")
        >>> vocabulary.encode("cab")
        tensor([2, 0, 1])
        >>> vocabulary.decode(torch.tensor([1, 0]))
        ['b', 'a']
    """

    def __init__(self, tokens: Iterable[str], unknown: str | None = None):
        self.tokens = list(tokens)
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        if len(self.ids) < len(self.tokens):
            twice = [token for token, n in Counter(self.tokens).items() if n > 1]
            raise ValueError(f"tokens must be different, these occur twice: {twice}")
        if unknown is not None and unknown not in self.ids:
            raise ValueError(f"the unknown token {unknown!r} is not among the tokens")
        self.unknown = unknown

    @classmethod
    def count(
        cls, text: Iterable[str], size: int | None = None, unknown: str | None = None, specials: Sequence[str] = ()
    ) -> "Vocabulary":
        """The most frequent tokens of a training text, most frequent first (ties in alphabetical order).

        Args:
            text: tokens; a string counts as its characters.
            size: how many tokens to keep, the special ones included; None keeps all.
            unknown: the token that will stand for the rest, put first unless it is among the specials.
            specials: tokens that come before all others, such as `SPECIALS`, whatever their counts.

        Raises:
            ValueError: size has no room for the unknown token and the specials.
        """
        first = list(specials) if unknown is None or unknown in specials else [unknown, *specials]
        if size is not None and size < len(first):
            raise ValueError(f"size must be at least {len(first)}, to hold {first}; got {size}")
        counts = sorted(Counter(text).items(), key=lambda pair: (-pair[1], pair[0]))
        return cls((first + [token for token, _ in counts if token not in first])[:size], unknown)

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, text: Sequence[str], require_known: bool = True) -> Int[Tensor, " T"]:
        """Ids of tokens.

        Args:
            text: tokens; a string counts as its characters.
            require_known: refuse a text of which no token is known: the other language, the wrong way to cut it
                into tokens. False takes it, as a row of the unknown token.

        Raises:
            ValueError: a token is not in the vocabulary and there is no unknown token, or none of the tokens is
                known, though there are some; names them.
        """
        unknown = self.ids.get(self.unknown)
        unknown_tokens = set(text) - self.ids.keys()
        if unknown_tokens and unknown is None:
            raise ValueError(f"not in the vocabulary, which has no unknown token: {sorted(unknown_tokens)[:10]}")
        if unknown_tokens and require_known and unknown_tokens | {self.unknown} >= set(text):
            raise ValueError(f"none of these is in the vocabulary: {sorted(unknown_tokens)[:10]}")
        return torch.tensor([self.ids.get(token, unknown) for token in text], dtype=torch.long)

    def decode(self, ids: Int[Tensor, " T"]) -> list[str]:
        """Tokens of ids.

        Raises:
            ValueError: an id is not in 0..V-1; names it.
        """
        if outside := [i for i in ids.tolist() if not 0 <= i < len(self)]:
            raise ValueError(f"ids must lie in 0..{len(self) - 1}, got {outside[:10]}")
        return [self.tokens[i] for i in ids.tolist()]

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens, unknown={self.unknown!r})"
