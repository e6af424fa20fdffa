"""A translator in one file, for the page and for Python alike.

A page that was opened from the disk may read no file, but it may load a script. So the file is a script of one line,
which hands over what follows, and Python reads the same line:

    header   JSON: what the translator was made of, the shape of every weight, how long its subwords are
    data     base64 of zlib of the subwords, as sentencepiece keeps them, then of the weights one after the other

A matrix is kept as a scale for each of its rows (float32) and whole numbers (int8); a vector is kept as float16. All
numbers are little-endian. What has been kept is exact in float32: the page and Python compute from the same numbers.
"""

import base64
import binascii
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnlib.course.figures import bahdanau
from attnlib.course.figures.weights import Weights, loaded, nearest, scale_of, widths
from attnlib.data.subwords import Subwords
from attnlib.decoders import LuongDecoder
from attnlib.encoder import Encoder
from attnlib.seq2seq import Seq2Seq

KIND = "attnlib translator, 1"
BEFORE, AFTER = 'document.currentScript.dispatchEvent(new CustomEvent("source", { detail: ', " }));\n"
#: Where `make translator` leaves them; the site carries every file of this folder.
MODELS = Path(__file__).parent / "models"
SCORE = "decoder.attention.score.W.weight"


class TranslatorFile(NamedTuple):
    """What stands in a file: a translator, and what it was made of."""

    model: Seq2Seq
    subwords: Subwords
    settings: dict[str, Any]  # of its run
    max_length: int  # pieces of a translation, its end included
    digest: str  # of the data: two files with the same one translate alike
    detail: dict[str, Any]  # header and data, as the page gets them


def luong(weights: Weights) -> Seq2Seq:
    """`Seq2Seq(Encoder, LuongDecoder)`, with GRUs, two directions and the score "general", with these weights.

    Raises:
        ValueError: the weights are not those of such a model, or are not finite.
    """
    (V_s, d_x), (V_t, d_y) = (widths(weights, f"{side}.embedding.weight") for side in ("encoder", "decoder"))
    (_, h), (_, d) = (widths(weights, f"{side}.rnn.weight_hh_l0") for side in ("encoder", "decoder"))
    widths(weights, SCORE)
    with torch.device("meta"):
        encoder = Encoder(V_s, d_x, h, bidirectional=True)
        return loaded(Seq2Seq(encoder, LuongDecoder(V_t, d_y, encoder.d_annotation, d)), weights)


def model_of(weights: Weights) -> Seq2Seq:
    """The model that has such weights, with Bahdanau's decoder, whose recurrence is a single cell, or with Luong's.

    Raises:
        ValueError: the weights are not those of one of the two, or are not finite.
    """
    return bahdanau.translator(weights) if "decoder.cell.weight_ih" in weights else luong(weights)


def packed(model: Seq2Seq, subwords: Subwords, settings: Mapping[str, Any], max_length: int, bits: int = 8) -> str:
    """The text of a file.

    Args:
        model: as `model_of` makes it.
        subwords: its pieces, of both languages.
        settings: of its run, as JSON can have them.
        max_length: pieces of a translation, its end included.
        bits: 2 to 8, of a whole number in a matrix. Fewer bits make the file smaller, and the weights coarser.

    Raises:
        ValueError: another number of bits, another kind of model, weights that are not finite, or subwords that are
            not the model's.
    """
    if not 2 <= bits <= 8:
        raise ValueError(f"bits must be in 2..8, got {bits}")
    weights = {name: weight.detach().cpu().float() for name, weight in model.state_dict().items()}
    check_pieces(model_of(weights), subwords)
    parts = [subwords.model]
    for name, weight in weights.items():
        parts += matrix(weight, 2 ** (bits - 1) - 1) if weight.dim() == 2 else [vector(name, weight)]
    data = b"".join(parts)
    header = {
        "kind": KIND,
        "settings": dict(settings),
        "max_length": max_length,
        "digest": digest_of(data),
        "subwords": len(subwords.model),
        "weights": {name: list(weight.shape) for name, weight in weights.items()},
    }
    detail = header | {"data": base64.b64encode(zlib.compress(data, 9)).decode()}
    return f"{BEFORE}{json.dumps(detail)}{AFTER}"


def matrix(weight: Tensor, steps: int) -> list[bytes]:
    """The scales of the rows, then whole numbers in -steps..steps."""
    scales = torch.tensor([scale_of(row, steps) for row in weight])
    whole = (weight / scales.unsqueeze(1)).round().char()
    return [scales.numpy().astype("<f4").tobytes(), whole.numpy().tobytes()]


def vector(name: str, weight: Tensor) -> bytes:
    """Numbers of 16 bits."""
    return nearest(name, weight, 16).numpy().astype("<f2").tobytes()


def digest_of(data: bytes) -> str:
    """A short name for the bytes."""
    return sha256(data).hexdigest()[:16]


def check_pieces(model: Seq2Seq, subwords: Subwords) -> None:
    """See that a model has a row for each piece.

    Raises:
        ValueError: it has not.
    """
    sizes = model.encoder.vocab_size, model.decoder.vocab_size
    if sizes != (len(subwords), len(subwords)):
        raise ValueError(
            f"a model of another vocabulary: it reads {sizes[0]} pieces and writes {sizes[1]}, and there are "
            f"{len(subwords)} subwords"
        )


def read_translator(path: Path | str) -> TranslatorFile:
    """Read a file.

    Raises:
        ValueError: there is no such file, it is no file of a translator or was damaged, or its model and its subwords
            do not belong together.
    """
    try:
        text = Path(path).read_text("utf8")
    except FileNotFoundError as error:
        raise ValueError(f"there is no translator {path}: `make translator RUN=…` makes one") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no file of a translator: it is not text") from error
    try:
        return unpacked_translator(text)
    except ValueError as error:
        raise ValueError(f"{path} is no file of a translator, or was damaged: {error}") from error


def unpacked_translator(text: str) -> TranslatorFile:
    """The translator in the text of a file.

    Raises:
        ValueError: as in `read_translator`.
    """
    if not (text.startswith(BEFORE) and text.endswith(AFTER)):
        raise ValueError(f"it must begin with {BEFORE!r} and end with {AFTER!r}")
    detail = json.loads(text[len(BEFORE) : -len(AFTER)])
    if not isinstance(detail, dict) or detail.get("kind") != KIND:
        raise ValueError(f"its kind must be {KIND!r}")
    try:
        data = zlib.decompress(base64.b64decode(detail["data"], validate=True))
        shapes, n, settings = detail["weights"], detail["subwords"], detail["settings"]
        max_length, digest = detail["max_length"], detail["digest"]
        needed = n + sum(map(size, shapes.values()))
    except (KeyError, TypeError, AttributeError, binascii.Error, zlib.error) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if len(data) != needed or digest_of(data) != digest:
        raise ValueError(f"its {len(data)} bytes with the digest {digest_of(data)} should be {needed} with {digest}")
    model, subwords = model_of(dict(tensors(shapes, data[n:]))), Subwords(data[:n])
    check_pieces(model, subwords)
    return TranslatorFile(model, subwords, settings, max_length, digest, detail)


def size(shape: list[int]) -> int:
    """Bytes that a weight takes."""
    return 4 * shape[0] + math.prod(shape) if len(shape) == 2 else 2 * math.prod(shape)


def tensors(shapes: Mapping[str, list[int]], data: bytes) -> Iterator[tuple[str, Tensor]]:
    """The weights, in float32."""
    at = 0
    for name, shape in shapes.items():
        here, at = data[at : at + size(shape)], at + size(shape)
        if len(shape) == 2:
            scales = np.frombuffer(here[: 4 * shape[0]], "<f4").reshape(-1, 1)
            numbers = np.frombuffer(here[4 * shape[0] :], "i1").reshape(shape) * scales
        else:
            numbers = np.frombuffer(here, "<f2").reshape(shape)
        yield name, torch.from_numpy(numbers.astype(np.float32))
