"""Captions for images: a CNN sees regions, and a decoder reads one vector of all, or looks from region to region."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlib.data.batching import PairBatch
from attnlib.decoders import BahdanauDecoder, EveryStepDecoder, InitialStateDecoder
from attnlib.encoder import Encoded
from attnlib.metrics import cross_entropy
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

    def forward(self, images: Float[Tensor, "B channels height width"]) -> Encoded:
        """Encode images, with numbers around 0..1.

        Raises:
            ValueError: not a batch of B ≥ 1 images of the channels and size the encoder was made for, or not
                floating-point numbers.
        """
        if images.dim() != 4 or images.shape[1:] != self.image_shape or not len(images):
            raise ValueError(
                f"need images (B, {', '.join(map(str, self.image_shape))}), B ≥ 1, got {tuple(images.shape)}"
            )
        if not images.is_floating_point():
            raise ValueError(f"images must be floating-point numbers in 0..1, got {images.dtype}")
        seen = self.halve(images).flatten(2).transpose(1, 2)  # (B, M, d_hidden)
        centres = self.centres.expand(len(images), -1, -1)  # (B, M, 2)
        annotations = torch.relu(self.W_f(torch.cat([seen, centres], dim=-1)))
        return Encoded(
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


def doubly_stochastic_penalty(weights: Float[Tensor, "B T M"], target_mask: Bool[Tensor, "B T"]) -> Float[Tensor, ""]:
    """`Σ_j (1 - Σ_i α_ij)²`, mean over the batch: small where every region is looked at about as much as any other.

    Args:
        weights: α_ij, of every target step.
        target_mask: True = a real target step; the others do not count as looks.

    Raises:
        ValueError: the mask is not boolean, or not one per target step.

    Example:
        >>> weights = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])  # two looks at one region, none at the other
        >>> doubly_stochastic_penalty(weights, torch.tensor([[True, True]]))
        tensor(2.)

    Source: xu2015show, equation 14.
    """
    if target_mask.dtype != torch.bool or target_mask.shape != weights.shape[:-1]:
        raise ValueError(
            f"need one boolean per target step, got weights {tuple(weights.shape)} "
            f"and target_mask {tuple(target_mask.shape)} of {target_mask.dtype}"
        )
    looked = weights.masked_fill(~target_mask.unsqueeze(-1), 0.0).sum(1)  # (B, M)
    return ((1 - looked) ** 2).sum(-1).mean()


def caption_loss(model: Seq2Seq, batch: PairBatch, penalty: float = 0.0) -> tuple[Float[Tensor, ""], int]:
    """Nats per real word, plus penalty times `doubly_stochastic_penalty`, and how many words there are.

    Raises:
        ValueError: a penalty is asked for and the model has no attention.

    Example:
        >>> from attnlib.data import collate
        >>> batch = collate(torch.rand(1, 1, 48, 48), [torch.tensor([4, 5, 6])])
        >>> loss, n_words = caption_loss(attention_captioner(vocab_size=7), batch, penalty=0.1)
        >>> n_words  # three, and <eos>
        4

    Source: xu2015show, equation 14 (there λ, beside the nats of a whole caption).
    """
    decoded = model(batch.source, batch.inputs)
    loss, n_words = cross_entropy(decoded.logits, batch.targets, batch.mask)
    if penalty == 0:
        return loss, n_words
    if decoded.weights is None:
        raise ValueError(f"a penalty of {penalty} on attention needs a model with attention")
    return loss + penalty * doubly_stochastic_penalty(decoded.weights, batch.mask), n_words
