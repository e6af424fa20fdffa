"""Captions for images: a CNN sees regions, and a decoder reads one vector of all, or looks from region to region."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlib.decoders import BahdanauDecoder, EveryStepDecoder, InitialStateDecoder
from attnlib.encoder import EncoderOutput
from attnlib.scores import Score
from attnlib.seq2seq import Seq2Seq


class GridEncoder(nn.Module):
    """A small CNN, `f_m = ReLU(W_f [z_m; x_m; y_m] + b_f)`: one vector for each region of a grid over the image.

    z_m is the feature map at region m, after as many halvings (convolution 4 × 4 with stride 2, ReLU) as lead
    from the image to the grid; what it sees of the image has its centre at that of the region. A convolution
    cannot tell one place from another, so the centre (x_m, y_m) of the region, in -1..1, is given beside it.
    The summary is the mean of the f_m.

    Args:
        channels: of the image, 1 for grey, 3 for colour.
        d_annotation: width of f_m.
        grid: the image has M = grid × grid regions, counted row by row.
        size: height and width of the image in pixels: grid times 2, 4, 8, …
        d_hidden: channels of the layers that halve.
        position: whether f_m may know x_m and y_m.

    Raises:
        ValueError: the size is not the grid times a power of 2 that is at least 2.

    Example:
        >>> encoded = GridEncoder(channels=1, d_annotation=5)(torch.rand(2, 1, 48, 48))
        >>> encoded.annotations.shape, encoded.summary.shape
        (torch.Size([2, 36, 5]), torch.Size([2, 5]))

    Source: xu2015show, section 3.1.1 (annotation vectors from a convolutional layer; there a trained VGG net).
    """

    def __init__(
        self,
        channels: int,
        d_annotation: int,
        grid: int = 6,
        size: int = 48,
        d_hidden: int = 64,
        position: bool = True,
    ):
        super().__init__()
        n_halvings = (size // grid).bit_length() - 1 if grid > 0 else 0
        if n_halvings < 1 or grid * 2**n_halvings != size:
            raise ValueError(f"the size must be the grid times 2, 4, 8, …; got size {size} and grid {grid}")
        self.image_shape, self.d_annotation = (channels, size, size), d_annotation
        layers, width = [], channels
        for n in reversed(range(n_halvings)):
            d_layer = max(1, d_hidden // 2**n)  # fewer channels where there are more pixels
            # 4 × 4, not 3 × 3: an even kernel with stride 2 keeps the view of a region centred on it
            layers += [nn.Conv2d(width, d_layer, 4, stride=2, padding=1), nn.GroupNorm(d_layer, d_layer), nn.ReLU()]
            width = d_layer
        self.halve = nn.Sequential(*layers)
        centre = (2 * torch.arange(grid) + 1) / grid - 1
        y, x = torch.meshgrid(centre, centre, indexing="ij")
        centres = torch.stack([x, y], dim=-1).flatten(0, 1)  # (M, 2), row by row
        self.register_buffer("centres", centres if position else centres[:, :0], persistent=False)
        self.W_f = nn.Linear(d_hidden + self.centres.shape[1], d_annotation)
        for layer in (*self.halve[::3], self.W_f):  # torch's own start lets the signal fade from layer to layer
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)

    def forward(self, images: Float[Tensor, "B channels height width"]) -> EncoderOutput:
        """Encode images, with numbers around 0..1.

        Raises:
            ValueError: not a batch of B ≥ 1 images of the channels and size the encoder was made for, or not
                floating-point numbers.
        """
        if images.dim() != 4 or images.shape[1:] != self.image_shape or not images.shape[0]:
            raise ValueError(
                f"need images (B, {', '.join(map(str, self.image_shape))}), B ≥ 1, got {tuple(images.shape)}"
            )
        if not images.is_floating_point():
            raise ValueError(f"images must be floating-point numbers in 0..1, got {images.dtype}")
        seen = self.halve(images).flatten(2).transpose(1, 2)  # (B, M, d_hidden)
        centres = self.centres.expand(images.shape[0], -1, -1)  # (B, M, 2)
        annotations = torch.relu(self.W_f(torch.cat([seen, centres], dim=-1)))
        return EncoderOutput(
            annotations=annotations,
            summary=annotations.mean(1),
            mask=torch.ones_like(annotations[:, None, :, 0], dtype=torch.bool),  # (B, 1, M)
            tokens=None,
        )


def static_captioner(
    vocab_size: int,
    channels: int = 1,
    *,
    d_embed: int = 32,
    d_annotation: int = 64,
    d_hidden: int = 64,
    every_step: bool = True,
    grid: int = 6,
    size: int = 48,
    dropout: float = 0.0,
) -> Seq2Seq:
    """The standard model: one vector for the whole image, the mean of the f_m.

    Args:
        vocab_size: V, number of different words.
        channels: of the image.
        d_embed: width of an embedding.
        d_annotation: width of f_m.
        d_hidden: width of the decoder's state.
        every_step: whether the vector enters every step, or the first state only.
        grid: see `GridEncoder`.
        size: see `GridEncoder`.
        dropout: share of the word embeddings set to 0 in training.

    Example:
        >>> model = static_captioner(vocab_size=7)
        >>> model(torch.rand(2, 1, 48, 48), inputs=torch.tensor([[1, 5], [1, 6]])).logits.shape
        torch.Size([2, 2, 7])

    Source: xu2015show, section 2 (the earlier models that it sets out from).
    """
    encoder = GridEncoder(channels, d_annotation, grid, size)
    decoder = EveryStepDecoder if every_step else InitialStateDecoder
    return Seq2Seq(encoder, decoder(vocab_size, d_embed, d_annotation, d_hidden, dropout=dropout))


def attention_captioner(
    vocab_size: int,
    channels: int = 1,
    *,
    d_embed: int = 32,
    d_annotation: int = 64,
    d_hidden: int = 64,
    score: str | Score = "additive",
    grid: int = 6,
    size: int = 48,
    dropout: float = 0.0,
) -> Seq2Seq:
    """The model with visual attention: `h_t = RNN(h_{t-1}, [y_{t-1}; o_t])`, `o_t = Σ_m β_mt f_m`.

    h_t, o_t and β_mt are the decoder's s_i, c_i and α_ij. Arguments as of `static_captioner`.

    Args:
        score: how the state h_{t-1} is compared with the f_m.

    Example:
        >>> model = attention_captioner(vocab_size=7)
        >>> model(torch.rand(2, 1, 48, 48), inputs=torch.tensor([[1, 5], [1, 6]])).weights.shape
        torch.Size([2, 2, 36])

    Source: xu2015show, equations 4-6 and section 4.2 (soft attention; there an LSTM).
    """
    decoder = BahdanauDecoder(vocab_size, d_embed, d_annotation, d_hidden, score, dropout=dropout)
    return Seq2Seq(GridEncoder(channels, d_annotation, grid, size), decoder)
