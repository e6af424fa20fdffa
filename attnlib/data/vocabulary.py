"""Tokens and their numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor


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
    def count(cls, text: Iterable[str], size: int | None = None, unknown: str | None = None) -> "Vocabulary":
        """The most frequent tokens of a training text, most frequent first (ties in alphabetical order).

        Args:
            text: tokens; a string counts as its characters.
            size: how many tokens to keep, the unknown token included; None keeps all.
            unknown: the token that will stand for the rest, put first.
        """
        counts = sorted(Counter(text).items(), key=lambda pair: (-pair[1], pair[0]))
        special = [] if unknown is None else [unknown]
        return cls((special + [token for token, _ in counts if token != unknown])[:size], unknown)

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, text: Sequence[str]) -> Int[Tensor, " T"]:
        """Ids of tokens.

        Raises:
            ValueError: a token is not in the vocabulary and there is no unknown token; names it.
        """
        if self.unknown is not None:
            unknown = self.ids[self.unknown]
            return torch.tensor([self.ids.get(token, unknown) for token in text], dtype=torch.long)
        if strangers := sorted(set(text) - self.ids.keys()):
            raise ValueError(f"not in the vocabulary, which has no unknown token: {strangers[:10]}")
        return torch.tensor([self.ids[token] for token in text], dtype=torch.long)

    def decode(self, ids: Int[Tensor, " T"]) -> list[str]:
        """Tokens of ids."""
        return [self.tokens[i] for i in ids.tolist()]

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens, unknown={self.unknown!r})"
