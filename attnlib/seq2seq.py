"""An encoder and a decoder, trained together."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from attnlib.decoder import DecoderOutput, Memory, State


class Seq2Seq(nn.Module):
    """Any encoder (of sentences, of images) with any decoder.

    Args:
        encoder: source → `EncoderOutput`, with the width of its annotations as `d_annotation`.
        decoder: a `Decoder` made for that width, or a `CopyDecoder` around one.

    Raises:
        ValueError: the decoder was made for another width; in `encode`, the encoder refuses the source or the lengths.

    Example:
        >>> model = Seq2Seq(Encoder(9, 4, 5), BahdanauDecoder(7, 4, 5, 6))
        >>> model(torch.tensor([[1, 2, 3]]), inputs=torch.tensor([[1, 5]])).logits.shape
        torch.Size([1, 2, 7])

    Source: sutskever2014sequence; bahdanau2015neural, section 2.1.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module):
        super().__init__()
        if encoder.d_annotation != decoder.d_annotation:
            widths = f"{encoder.d_annotation}, the decoder was made for {decoder.d_annotation}"
            raise ValueError(f"the encoder makes annotations of width {widths}")
        self.encoder, self.decoder = encoder, decoder

    def encode(self, source: Tensor, lengths: Int[Tensor, " B"] | None = None) -> tuple[Memory, State]:
        """Memory and first state of the decoder (see `Decoder.init_state`)."""
        return self.decoder.init_state(self.encoder(source) if lengths is None else self.encoder(source, lengths))

    def forward(
        self,
        source: Tensor,
        inputs: Int[Tensor, "B T"],
        lengths: Int[Tensor, " B"] | None = None,
        teacher_forcing: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> DecoderOutput:
        """What the decoder predicts after each of the inputs.

        Args:
            source: what the encoder reads, (B, S) token ids or (B, channels, height, width) images.
            inputs: target tokens `<bos> y_1 … y_{T-1}`, padded.
            lengths: real source tokens of each sentence; None where all are real.
            teacher_forcing: chance that a step from the second on is given the true token, not the model's likeliest.
            generator: source of that randomness, on the CPU.

        Raises:
            ValueError: teacher_forcing is not in 0..1, or the encoder or the decoder refuses what it is given.

        Source: bengio2015scheduled (scheduled sampling; there the model's token is sampled).
        """
        if not 0 <= teacher_forcing <= 1:
            raise ValueError(f"teacher_forcing is a probability, got {teacher_forcing}")
        memory, state = self.encode(source, lengths)
        if teacher_forcing == 1:
            return self.decoder(inputs, memory, state)
        given = torch.rand(inputs.shape, generator=generator).to(inputs.device) < teacher_forcing
        steps = [self.decoder(inputs[..., :1], memory, state)]  # refuses what is not (B, T) with T ≥ 1
        for i in range(1, inputs.shape[1]):
            own = steps[-1].logits.argmax(-1)  # (B, 1)
            token = torch.where(given[:, i : i + 1], inputs[:, i : i + 1], own)
            steps.append(self.decoder(token, memory, steps[-1].state))
        last = steps[-1]
        by_step = [name for name, value in last._asdict().items() if name != "state" and value is not None]
        return last._replace(**{name: torch.cat([getattr(step, name) for step in steps], 1) for name in by_step})
