"""The block is torch's, the model neither sees the future nor the padding, and two layers do what one cannot."""

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnlib.attention import causal_mask, length_mask
from attnlib.language_models import LMOutput
from attnlib.transformer import TransformerBlock, TransformerLM

B, T, V, H, N_LAYERS = 2, 5, 11, 3, 2
D, D_FF = 2 * H, 13


def draw(length: int = T) -> torch.Tensor:
    return torch.randn(B, length, D, dtype=torch.float64)


def shaken(model: nn.Module) -> nn.Module:
    """In double precision, and no parameter at a value like 0 or 1 that would hide a missing one."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.double()


def a_model(**options) -> TransformerLM:
    return shaken(TransformerLM(V, D, H, N_LAYERS, D_FF, **options))


def copied(block: TransformerBlock) -> nn.TransformerEncoderLayer:
    """torch's own block with the weights of ours."""
    heads, (d_ff, d_model) = block.attention, block.W_1.weight.shape
    theirs = nn.TransformerEncoderLayer(d_model, heads.n_heads, d_ff, dropout=0.0, norm_first=True, batch_first=True)
    theirs.double()
    with torch.no_grad():
        for name in ("weight", "bias"):
            joined = torch.cat([getattr(W, name) for W in (heads.W_q, heads.W_k, heads.W_v)])
            getattr(theirs.self_attn, f"in_proj_{name}").copy_(joined)
    theirs.self_attn.out_proj.load_state_dict(heads.W_o.state_dict())
    for ours, name in (("W_1", "linear1"), ("W_2", "linear2"), ("norm_1", "norm1"), ("norm_2", "norm2")):
        getattr(theirs, name).load_state_dict(getattr(block, ours).state_dict())
    return theirs


# --- the block --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("padded", "causal"), [(False, False), (True, False), (False, True), (True, True)])
def test_block_equals_torch_in_value_and_gradient(padded, causal):
    block = shaken(TransformerBlock(D, H, D_FF))
    theirs, direction, given, results = copied(block), draw(), draw(), []
    real = length_mask(torch.tensor([2, T]), T) if padded else torch.ones(B, 1, T, dtype=torch.bool)
    past = causal_mask(T) if causal else torch.ones(T, T, dtype=torch.bool)
    for run in (
        lambda x: block(x, real & past).hidden,
        lambda x: block(x, real & past, need_weights=False).hidden,
        lambda x: theirs(x, src_mask=~past, src_key_padding_mask=~real[:, 0]),
    ):
        x = given.clone().requires_grad_()
        block.zero_grad(), theirs.zero_grad()
        found = run(x)
        (found * direction).sum().backward()
        results.append([found.detach(), x.grad])
    assert_close(results[0], results[2])
    assert_close(results[1], results[2])
    block.zero_grad()
    hidden, weights = block(given, real & past)
    (hidden * direction).sum().backward()
    normed = nn.functional.layer_norm(given, (D,), block.norm_1.weight, block.norm_1.bias)
    assert_close(weights, block.attention(normed, normed, normed, real & past).weights)
    assert block(given, need_weights=False).weights is None
    assert_close(block.norm_1.weight.grad, theirs.norm1.weight.grad)
    assert_close(block.W_1.weight.grad, theirs.linear1.weight.grad)
    assert sum(p.numel() for p in block.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_dropout_falls_on_the_weights_the_hidden_layer_and_what_each_step_adds():
    share, x = 0.5, draw()
    block = shaken(TransformerBlock(D, H, D_FF, share))
    assert block.attention.attention.dropout.p == share
    torch.manual_seed(1)
    found = block(x).hidden
    torch.manual_seed(1)
    normed = nn.functional.layer_norm(x, (D,), block.norm_1.weight, block.norm_1.bias)
    between = x + nn.functional.dropout(block.attention(normed, normed, normed).context, share)
    normed = nn.functional.layer_norm(between, (D,), block.norm_2.weight, block.norm_2.bias)
    hidden = nn.functional.dropout(block.W_1(normed).relu(), share)
    assert_close(found, between + nn.functional.dropout(block.W_2(hidden), share))
    block.eval()
    assert_close(block(x), block(x))


# --- the model --------------------------------------------------------------------------------------


def reference(model: TransformerLM, tokens, padding=None):
    """Embedding, positions, torch's blocks, norm and output, one after the other."""
    x = model.embedding.weight[tokens]
    if hasattr(model.positions, "p"):
        x = x + model.positions.p[:T]
    elif not isinstance(model.positions, nn.Identity):
        angles = [[t / 10_000 ** (2 * (c // 2) / D) for c in range(D)] for t in range(T)]
        waves = [[math.cos(a) if c % 2 else math.sin(a) for c, a in enumerate(row)] for row in angles]
        x = x + torch.tensor(waves).double()
    for block in model.blocks:
        x = copied(block)(x, src_mask=~causal_mask(T), src_key_padding_mask=padding)
    states = nn.functional.layer_norm(x, (D,), model.norm.weight, model.norm.bias)
    return states @ model.W.weight.T + model.W.bias, states


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_model_is_its_parts(positions):
    model, tokens = a_model(positions=positions, n_positions=T), torch.randint(V, (B, T))
    output = model(tokens)
    assert isinstance(output, LMOutput) and output.state is None
    assert_close((output.logits, output.states), reference(model, tokens))
    lengths = torch.tensor([2, T])
    logits, _ = reference(model, tokens, padding=~length_mask(lengths, T)[:, 0])
    assert_close(model(tokens, lengths).logits, logits)


def test_weights_of_all_layers_and_heads():
    model, tokens = a_model(), torch.randint(V, (B, T))
    output = model(tokens)
    assert output.weights.shape == (B, N_LAYERS, H, T, T)
    x = model.positions(model.embedding(tokens))
    for n, block in enumerate(model.blocks):
        x, weights = block(x, causal_mask(T)[None])
        assert_close(output.weights[:, n], weights)
    plain = model(tokens, need_weights=False)
    assert plain.weights is None
    assert_close(plain.logits, output.logits)


def test_dropout_falls_on_the_embedding_and_in_every_block():
    share, tokens = 0.5, torch.randint(V, (B, T))
    model = a_model(dropout=share)
    torch.manual_seed(1)
    found = model(tokens)
    torch.manual_seed(1)
    x = nn.functional.dropout(model.positions(model.embedding(tokens)), share)
    for block in model.blocks:
        assert block.dropout.p == block.attention.attention.dropout.p == share
        x = block(x, causal_mask(T)[None]).hidden
    assert_close(found.states, model.norm(x))
    model.eval()
    assert_close(model(tokens), model(tokens))


def test_heads_are_switched_off_layer_by_layer():
    model, tokens = a_model(), torch.randint(V, (B, T))
    everything = torch.ones(N_LAYERS, H, dtype=torch.bool)
    assert_close(model(tokens, heads=everything), model(tokens))
    uniform = causal_mask(T).double() / torch.arange(1, T + 1).double()[:, None]
    for layer in range(N_LAYERS):
        for head in range(H):
            heads = everything.clone()
            heads[layer, head] = False
            output = model(tokens, heads=heads)
            assert_close(output.weights[:, layer, head], uniform.expand(B, T, T))
            assert (output.logits - model(tokens).logits).abs().max() > 1e-6
            assert_close(model(tokens, need_weights=False, heads=heads).logits, output.logits)
            for other in set(range(H)) - {head}:  # what else happens in this layer does not depend on it
                assert_close(output.weights[:, layer, other], model(tokens).weights[:, layer, other])


def test_sizes():
    for options, d_ff in (({}, 4 * D), ({"d_ff": 7}, 7)):
        model = TransformerLM(V, D, H, N_LAYERS, **options)
        assert model.blocks[0].W_1.weight.shape == (d_ff, D)
        blocks = [sum(p.numel() for p in block.parameters()) for block in model.blocks]
        rest = 2 * V * D + V + 2 * D  # embedding and W, b, the last norm
        assert sum(p.numel() for p in model.parameters()) == sum(blocks) + rest  # every layer has weights of its own
    tokens = torch.zeros(1, 1, dtype=torch.long)
    output = TransformerLM(1, 1, 1, 1)(tokens)
    assert output.logits.shape == (1, 1, 1) and output.weights.shape == (1, 1, 1, 1, 1)
    bare = TransformerLM(V, D, H, 0)(tokens)
    assert bare.weights is None and bare.logits.shape == (1, 1, V)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": "sinusiodal"}, "unknown positions 'sinusiodal', known are sinusoidal, learned, none"),
        ({"n_layers": -1}, "at least 0, got -1"),
        ({"n_heads": 4}, "multiple of n_heads, got d_model=6 and n_heads=4"),
    ],
)
def test_models_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TransformerLM(**{"vocab_size": V, "d_model": D, "n_heads": H, "n_layers": 1} | options)


IDS = torch.zeros(B, T, dtype=torch.long)


@pytest.mark.parametrize(
    ("tokens", "options", "message"),
    [
        (IDS, {"lengths": torch.tensor([2])}, r"lengths \(1,\), tokens \(2, 5\)"),
        (IDS, {"lengths": torch.tensor([2, 6])}, r"lie in 0\.\.5, got \[2, 6\]"),
        (IDS, {"heads": torch.ones(H).bool()}, r"\(2, 3\).*got \(3,\)"),
        (IDS, {"heads": torch.ones(N_LAYERS, H)}, r"boolean \(3,\), got torch\.float32"),
        (torch.cat([IDS, IDS], dim=1), {}, r"knows 0\.\.6, got 0\.\.9"),
    ],
)
def test_what_is_no_batch_of_texts_is_refused(tokens, options, message, without_shape_checks):
    model = TransformerLM(V, D, H, N_LAYERS, positions="learned", n_positions=7)
    with pytest.raises(ValueError, match=message):
        model(tokens, **options)


# --- the lesson -------------------------------------------------------------------------------------

SYMBOLS, SHORTEST, LONGEST, LENGTH = 16, 4, 10, 21


def repeated_patterns(n: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Texts that repeat a random pattern with a period of their own, and where the next symbol can be known."""
    period = torch.randint(SHORTEST, LONGEST + 1, (n, 1), generator=generator)
    pattern = torch.rand(n, SYMBOLS, generator=generator).argsort(1)  # no symbol twice
    tokens = pattern.gather(1, torch.arange(LENGTH) % period)
    return tokens, torch.arange(1, LENGTH) > period  # the symbol before has been seen, and with it what follows


@pytest.mark.thorough  # chapter 11, which `make test` runs, asserts it too, and what each layer looks at
def test_one_layer_cannot():
    """It takes a second one to go on with a pattern."""
    shares = {}
    for n_layers in (1, 2):
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(0)
        model = TransformerLM(SYMBOLS, 64, 2, n_layers, d_ff=64)
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / 150)
        for _ in range(150):
            tokens, known = repeated_patterns(64, generator)
            logits = model(tokens[:, :-1], need_weights=False).logits
            loss = nn.functional.cross_entropy(logits[known], tokens[:, 1:][known])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        tokens, known = repeated_patterns(500, torch.Generator().manual_seed(1))
        with torch.no_grad():
            right = model(tokens[:, :-1]).logits.argmax(-1) == tokens[:, 1:]
        shares[n_layers] = right[known].float().mean().item()
    assert shares[1] <= 0.5 and shares[2] >= 0.98, shares
