"""Words cut into frequent pieces, so that a small vocabulary can write every word."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnlib.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
from attnlib.extras import extra


class Subwords:
    """A vocabulary of pieces of words, learned by byte-pair encoding; sentencepiece does the work.

    A blank is part of the piece that follows it and is written `▁`, so that text comes back as it was, but for
    repeated blanks and other forms of the same character. The first ids are those of `SPECIALS`.

    Args:
        model: what `Subwords.learn` made, as bytes: the contents of `Subwords.model`.

    Raises:
        ValueError: the bytes are not such a model, or its first ids are not those of `SPECIALS`.

    Example:
        >>> subwords = Subwords.learn(["low lower lowest"] * 3, size=16)
        >>> ids = subwords.encode("slow")
        >>> subwords.pieces(ids)
        ['▁', 's', 'low']
        >>> subwords.decode(ids)
        'slow'

    Source: sennrich2016neural (subwords); kudo2018sentencepiece (the program).
    """

    def __init__(self, model: bytes):
        with extra("data"):
            from sentencepiece import SentencePieceProcessor

        self.model = model
        try:
            self._processor = SentencePieceProcessor(model_proto=model)
            first = tuple(self._processor.id_to_piece(list(range(len(SPECIALS)))))
        except (RuntimeError, IndexError) as error:
            raise ValueError(f"these {len(model)} bytes are not a sentencepiece model") from error
        if first != SPECIALS:
            raise ValueError(f"the first pieces must be {', '.join(SPECIALS)}, got {', '.join(first)}")

    @classmethod
    def learn(cls, texts: Iterable[str], size: int) -> "Subwords":
        """Merge the most frequent pair of neighbouring pieces, again and again, until there are `size` pieces.

        Args:
            texts: of the training part, one sentence each; of both languages, to share their pieces.
            size: pieces, the special ones included.

        Raises:
            ValueError: there are no texts, they have too many different characters for that size, or not enough to
                merge.
        """
        with extra("data"):
            from sentencepiece import SentencePieceTrainer

        texts, learned = list(texts), io.BytesIO()
        if not any(map(str.strip, texts)):
            raise ValueError(f"pieces are learned from texts, got {len(texts)} of them and nothing in them")
        try:
            SentencePieceTrainer.train(
                sentence_iterator=iter(texts),
                model_writer=learned,
                model_type="bpe",
                vocab_size=size,
                character_coverage=1.0,
                pad_id=PAD,
                bos_id=BOS,
                eos_id=EOS,
                unk_id=UNK,
                pad_piece=SPECIALS[PAD],
                bos_piece=SPECIALS[BOS],
                eos_piece=SPECIALS[EOS],
                unk_piece=SPECIALS[UNK],
                num_threads=1,
                minloglevel=2,
            )
        except RuntimeError as error:
            reason = str(error).rsplit("] ", 1)[-1].strip() or str(error)
            raise ValueError(f"no {size} pieces can be learned from these texts: {reason}") from error
        return cls(learned.getvalue())

    def __len__(self) -> int:
        return self._processor.get_piece_size()

    def encode(self, text: str) -> Int[Tensor, " T"]:
        """Ids of the pieces of a text; a character that no training text had becomes `<unk>`."""
        return torch.tensor(self._processor.encode(text), dtype=torch.long)

    def cut(self, text: str) -> tuple[list[int], list[str]]:
        """Ids of the pieces of a text, and the pieces as they stand in it, `<unk>` among them as what it was."""
        return self._processor.encode(text), self._processor.encode(text, out_type=str)

    def decode(self, ids: Int[Tensor, " T"]) -> str:
        """The text of ids.

        Raises:
            ValueError: an id is not in 0..V-1; names it.
        """
        self._check(ids)
        return self._processor.decode(ids.tolist())

    def pieces(self, ids: Int[Tensor, " T"]) -> list[str]:
        """The pieces of ids, each as it is written in the vocabulary.

        Raises:
            ValueError: an id is not in 0..V-1; names it.
        """
        self._check(ids)
        return [self._processor.id_to_piece(i) for i in ids.tolist()]

    def _check(self, ids: Tensor) -> None:
        if outside := [i for i in ids.tolist() if not 0 <= i < len(self)]:
            raise ValueError(f"ids must lie in 0..{len(self) - 1}, got {outside[:10]}")

    def save(self, path: Path | str) -> None:
        """Write the model to a file."""
        Path(path).write_bytes(self.model)

    @classmethod
    def load(cls, path: Path | str) -> "Subwords":
        """Read what `save` wrote.

        Raises:
            ValueError: the file is not such a model.
        """
        return cls(Path(path).read_bytes())

    def __repr__(self) -> str:
        return f"Subwords({len(self)} pieces)"


def word_shares(words: Sequence[str], pieces: Sequence[str]) -> Float[Tensor, "W P"]:
    """Which word every piece of a sentence belongs to: the share of a piece's characters that are a word's.

    Each column sums to 1. Times weights over P pieces, the matrix gives weights over W words that have the same sum.
    A piece that spans two words belongs to both. A blank alone, `▁`, belongs to the word after it; at the end of the
    sentence, to the last word.

    Args:
        words: of the sentence, blanks or none between them.
        pieces: of the same sentence, as `Subwords.cut` gives them.

    Raises:
        ValueError: there is no word, a word is empty, or words and pieces are not the same characters.

    Example:
        >>> word_shares(["slow", "!"], ["▁", "s", "low!"])
        tensor([[1.0000, 1.0000, 0.7500],
                [0.0000, 0.0000, 0.2500]])
    """
    texts = [piece.replace("▁", "") for piece in pieces]
    if not words or "" in words:
        raise ValueError(f"need one word or more, none of them empty, got {list(words)}")
    if "".join(words) != "".join(texts):
        raise ValueError(f"the words {' '.join(words)!r} are not the pieces {' '.join(pieces)!r}")
    owners, shares, start = [w for w, word in enumerate(words) for _ in word], torch.zeros(len(words), len(pieces)), 0
    for p, text in enumerate(texts):
        for w in owners[start : start + len(text)] or owners[start : start + 1] or owners[-1:]:
            shares[w, p] += 1 / max(1, len(text))
        start += len(text)
    return shares
