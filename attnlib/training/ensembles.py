"""Models trained side by side as one: PyTorch's recurrent layers, written so that `torch.func.vmap` can stack them."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def unroll_recurrent_layers_(model: nn.Module) -> nn.Module:
    """Put an `UnrolledRNN` in the place of each recurrent layer, so that `torch.func.vmap` takes the model.

    PyTorch has no batching rule for `nn.RNN`, `nn.GRU` and `nn.LSTM`, and a slow one for `nn.GRUCell`. As with
    `torch.func.replace_all_batch_norm_modules_`, the model is changed in place and returned; its parameters keep their
    names and are the same tensors, so a `state_dict` goes either way.

    Raises:
        ValueError: a layer is none that `UnrolledRNN` can read.

    Example:
        >>> models = [unroll_recurrent_layers_(Encoder(vocab_size=90, d_embed=4, d_hidden=8)) for _ in range(3)]
        >>> parameters, _ = torch.func.stack_module_state(models)
        >>> def encode(parameters):
        ...     return torch.func.functional_call(models[0], parameters, torch.tensor([[5, 6, 7]])).summary
        >>> torch.func.vmap(encode)(parameters).shape
        torch.Size([3, 1, 8])
    """
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            if isinstance(layer, (nn.RNNBase, nn.RNNCellBase)):
                setattr(parent, name, UnrolledRNN(layer))
    return model


class UnrolledRNN(nn.Module):
    """A recurrent layer or cell of PyTorch, read step by step in products and sums alone.

    It is called as the layer is, and returns the same. Alone it is slower; several under `vmap` are quicker than one
    after the other.

    Args:
        layer: `nn.RNN` (tanh), `nn.GRU` or `nn.LSTM` of one layer and one direction with the batch first, or
            `nn.GRUCell`; with biases. Its parameters are taken over.

    Raises:
        ValueError: the layer is another one.

    Source: the equations of `torch.nn.RNN`, `torch.nn.GRU` and `torch.nn.LSTM`.
    """

    def __init__(self, layer: nn.RNNBase | nn.RNNCellBase):
        super().__init__()
        match layer:
            case nn.GRUCell(bias=True):
                self.mode = "GRU"
            case nn.RNNBase(num_layers=1, bidirectional=False, batch_first=True, bias=True, proj_size=0):
                self.mode = layer.mode
            case _:
                self.mode = None
        if self.mode not in STEPS:
            raise ValueError(f"cannot unroll {layer}: need one layer, one direction, biases and the batch first")
        self.is_cell = isinstance(layer, nn.GRUCell)
        self.d_hidden = layer.hidden_size
        for name, parameter in layer.named_parameters():
            self.register_parameter(name, parameter)

    def forward(self, x: Tensor, state=None):
        """Read (B, T, d_in) from a state (1, B, d_hidden), an LSTM's from two; a cell (B, d_in) from (B, d_hidden)."""
        W_x, W_h, b_x, b_h = self.parameters()
        step, from_input = STEPS[self.mode], x @ W_x.mT + b_x  # (B, T, gates)
        if self.is_cell:
            return step(from_input, state @ W_h.mT + b_h, state)[0]
        if state is None:
            state = (x.new_zeros(1, len(x), self.d_hidden),) * (2 if self.mode == "LSTM" else 1)
        now = [part[0] for part in (state if isinstance(state, tuple) else (state,))]  # (B, d_hidden) each
        outputs = []
        for x_t in from_input.unbind(1):
            now = step(x_t, now[0] @ W_h.mT + b_h, *now)
            outputs.append(now[0])
        last = tuple(part.unsqueeze(0) for part in now)
        return torch.stack(outputs, dim=1), last if self.mode == "LSTM" else last[0]


def rnn_step(x: Float[Tensor, "B d"], s: Float[Tensor, "B d"], h: Tensor) -> tuple[Tensor]:
    """`tanh(x + s)`, of what comes from the input and from the state h."""
    return (torch.tanh(x + s),)


def gru_step(x: Float[Tensor, "B gates"], s: Float[Tensor, "B gates"], h: Float[Tensor, "B d"]) -> tuple[Tensor]:
    """`(1 - z) n + z h`, with the gates r and z, and the candidate `n = tanh(x_n + r s_n)`."""
    (x_r, x_z, x_n), (s_r, s_z, s_n) = x.chunk(3, -1), s.chunk(3, -1)
    n = torch.tanh(x_n + torch.sigmoid(x_r + s_r) * s_n)
    return (n + torch.sigmoid(x_z + s_z) * (h - n),)


def lstm_step(x: Float[Tensor, "B gates"], s: Float[Tensor, "B gates"], h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """`c = f c + i g` and `h = o tanh(c)`, with the gates i, f and o, and the candidate g."""
    i, f, g, o = (x + s).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


STEPS = {"RNN_TANH": rnn_step, "GRU": gru_step, "LSTM": lstm_step}  # by the name that a layer of PyTorch has for itself
