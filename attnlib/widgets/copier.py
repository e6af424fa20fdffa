"""A trained copier as a page holds it: names and shapes of its weights, and what it writes, in float64.

The same as `static/copier.js`, step for step: the figure's picture and its results need no browser.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib.widgets.network import READER, Shapes, check, encode, encoder_shapes, gru_shapes
from attnlib.widgets.weights import unpacked

BEGIN, END = 1, 2  # <bos> and <eos> in every vocabulary of attnlib that has them
TINY = torch.finfo(torch.float32).tiny
FIRM = 1e4  # a gate beyond this is 0 or 1 in every precision, and its logarithm is still finite
KIND = "Seq2Seq(Encoder, CopyDecoder(LuongDecoder)), with GRUs of one layer and the score 'general'"


class Written(NamedTuple):
    """What a copier has written, step by step; the last word is `<eos>` unless it was cut."""

    words: list[str]  # T
    p_gen: list[float]  # T
    share: list[float]  # T, how much of a word's probability was said and not copied
    weights: list[list[float]]  # (T, S)
    log_prob: list[Tensor]  # T of (V and the new words,)


def words_of(text: str) -> list[str]:
    """What stands between blanks.

    Example:
        >>> words_of("  call Ada ")
        ['call', 'Ada']
    """
    return re.findall(r"[^ \t\r\n\u00a0\u3000]+", text)


def expected_shapes(exported: Mapping[str, Mapping], V: int) -> Shapes:
    """Names and shapes of the weights of `Seq2Seq(Encoder, CopyDecoder(LuongDecoder))`, both with GRUs.

    Four widths are taken from the weights themselves; all the others must agree.
    """

    def columns(name: str) -> int:
        shape = exported[name]["shape"] if name in exported else ()
        return shape[1] if len(shape) == 2 else 0

    reads, says = columns("encoder.embedding.weight"), columns("decoder.decoder.embedding.weight")
    h, d = columns(f"{READER}weight_hh_l0"), columns("decoder.decoder.rnn.weight_hh_l0")
    encoder, wide = encoder_shapes(list(exported), V, reads, h)
    inner = {
        "embedding.weight": (V, says),
        "W_s.weight": (d, wide),
        "W_s.bias": (d,),
        "attention.score.W.weight": (d, wide),
        **gru_shapes("rnn.", says, d),
        "W_c.weight": (d, wide + d),
        "W_o.weight": (V, d),
        "W_o.bias": (V,),
    }
    gate = {"decoder.w_g.weight": (1, wide + d + says), "decoder.w_g.bias": (1,)}
    return encoder | {f"decoder.decoder.{name}": shape for name, shape in inner.items()} | gate


def checked(exported: Mapping[str, Mapping], V: int) -> dict[str, Tensor]:
    """Exported weights as tensors, refused where they are not those of a copier with V words.

    Raises:
        ValueError: a name is missing or unknown, a shape does not fit the others or the vocabulary, or the numbers
            are not as many as the shape says.
    """
    weights = unpacked(exported)
    rows = exported.get("encoder.embedding.weight", {}).get("shape", [V])[0]
    if rows != V:
        raise ValueError(f"encoder.embedding.weight has {rows} rows for a vocabulary of {V} words")
    check(KIND, weights, expected_shapes(exported, V))
    return weights


def write(
    weights: Mapping[str, Tensor],
    vocabulary: Sequence[str],
    unknown: int,
    words: Sequence[str],
    held: Callable[[int], float | None],
    most: int,
) -> Written:
    """The likeliest word at every step, until the end.

    Args:
        weights: as `checked` returns them.
        vocabulary: V words.
        unknown: the id read in place of a new word.
        words: the source, at least one word.
        held: step -> p_gen from outside, or None for the model's own.
        most: words, `<eos>` included.
    """
    V, places = len(vocabulary), {word: n for n, word in enumerate(vocabulary)}
    everything = [*vocabulary, *dict.fromkeys(word for word in words if word not in places)]
    ids = torch.tensor([everything.index(word) for word in words])
    inner = {name.removeprefix("decoder.decoder."): weight for name, weight in weights.items()}

    annotations, summary = encode(
        weights, ids.masked_fill(ids >= V, unknown).tolist()
    )  # (S, d_annotation), (d_annotation,)
    key = annotations @ inner["attention.score.W.weight"].T
    state = torch.tanh(inner["W_s.weight"] @ summary + inner["W_s.bias"])
    token, written = BEGIN, Written([], [], [], [], [])
    while len(written.words) < most and token != END:
        y = inner["embedding.weight"][token if token < V else unknown]
        state = torch.gru_cell(y[None], state[None], *(inner[name] for name in gru_shapes("rnn.", 0, 0)))[0]
        alpha = (key @ state).softmax(-1)  # (S,)
        both = torch.cat([alpha @ annotations, state])
        logits = inner["W_o.weight"] @ torch.tanh(inner["W_c.weight"] @ both) + inner["W_o.bias"]
        gate = weights["decoder.w_g.weight"] @ torch.cat([both, y]) + weights["decoder.w_g.bias"]  # (1,)
        p_held = held(len(written.words))
        if p_held is not None:
            gate = torch.logit(gate.new_tensor([p_held]))
        gate = gate.clamp(-FIRM, FIRM)
        said = F.pad(F.logsigmoid(gate) + logits.log_softmax(-1), (0, len(everything) - V), value=-torch.inf)
        copied = torch.zeros(len(everything)).double().scatter_add(0, ids, alpha.clamp(min=TINY))
        log_prob = torch.logaddexp(said, F.logsigmoid(-gate) + copied.log())
        token = int(log_prob.argmax())
        written.words.append(everything[token])
        written.p_gen.append(gate.sigmoid().item())
        written.share.append((said[token] - log_prob[token]).exp().item())
        written.weights.append(alpha.tolist())
        written.log_prob.append(log_prob)
    return written
