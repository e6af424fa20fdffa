"""Captions for images: a CNN encodes regions, and any decoder of sentences then writes about them.

With `EveryStepDecoder` this is the standard model, which reads one vector for the whole image; with `BahdanauDecoder`
it is the model with visual attention, `h_t = RNN(h_{t-1}, [y_{t-1}; o_t])` with `o_t = Σ_m β_mt f_m`, where h_t, o_t
and β_mt are the decoder's s_i, c_i and α_ij (xu2015show, equations 4-6 and section 4.2; there an LSTM).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlib.encoder import EncoderOutput
from attnlib.validation import check_sizes


class GridEncoder(nn.Module):
    """A small CNN, `f_m = ReLU(W_f [z_m; x_m; y_m] + b_f)`: one vector for each region of a grid over the image.

    z_m is the feature map at region m, after as many halvings (convolution 4 × 4 with stride 2, ReLU) as lead from the
    image to the grid; what it sees has its centre at that of the region. A convolution cannot tell places apart, so the
    centre (x_m, y_m) of the region, in -1..1, is given beside it. The summary is the mean of the f_m.

    Args:
        channels, d_annotation: of the image, 1 for grey, 3 for colour; width of f_m.
        grid: the image has M = grid × grid regions, counted row by row.
        size: height and width of the image in pixels: grid times 2, 4, 8, …
        d_hidden: channels of the layers that halve.

    Raises:
        ValueError: a number is no integer of at least 1, or the size is not the grid times 2, 4, 8, …

    Example:
        >>> captioner = Seq2Seq(GridEncoder(channels=1, d_annotation=64), BahdanauDecoder(7, 32, 64, 64))
        >>> captioner(torch.rand(2, 1, 48, 48), inputs=torch.tensor([[1, 5], [1, 6]])).weights.shape
        torch.Size([2, 2, 36])

    Source: xu2015show, section 3.1.1 (annotation vectors from a convolutional layer; there a trained VGG net).
    """

    def __init__(self, channels: int, d_annotation: int, grid: int = 6, size: int = 48, d_hidden: int = 64):
        super().__init__()
        check_sizes(channels=channels, d_annotation=d_annotation, grid=grid, size=size, d_hidden=d_hidden)
        n_halvings = (size // grid).bit_length() - 1
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
        self.register_buffer("centres", centres, persistent=False)
        self.W_f = nn.Linear(d_hidden + 2, d_annotation)
        for layer in (*self.halve[::3], self.W_f):  # torch's own start lets the signal fade from layer to layer
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)

    def forward(self, images: Float[Tensor, "B channels height width"]) -> EncoderOutput:
        """Encode images, with numbers around 0..1.

        Raises:
            ValueError: the channels or the size are others than the encoder's, B = 0, or the numbers are integers.
        """
        if images.dim() != 4 or images.shape[1:] != self.image_shape or not images.shape[0]:
            need = f"(B, {', '.join(map(str, self.image_shape))}), B ≥ 1"
            raise ValueError(f"need images {need}, got {tuple(images.shape)}")
        if not images.is_floating_point():
            raise ValueError(f"images must be floating-point numbers in 0..1, got {images.dtype}")
        seen = self.halve(images).flatten(2).transpose(1, 2)  # (B, M, d_hidden)
        centres = self.centres.expand(images.shape[0], -1, -1)  # (B, M, 2)
        annotations = torch.relu(self.W_f(torch.cat([seen, centres], dim=-1)))
        mask = torch.ones_like(annotations[:, None, :, 0], dtype=torch.bool)  # (B, 1, M)
        return EncoderOutput(annotations, summary=annotations.mean(1), mask=mask, tokens=None)
