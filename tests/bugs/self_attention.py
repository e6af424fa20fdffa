"""Bugs of one line in attnlib/self_attention.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "self_attention.py", "core/test_self_attention.py",
    ("one head: keys are queries", "return self.attention(self.W_q(x), self.W_k(x)",
     "return self.attention(self.W_q(x), self.W_q(x)"),
    ("one head: values not projected", "self.W_k(x), self.W_v(x), mask, need_weights)",
     "self.W_k(x), x, mask, need_weights)"),
    ("one head: mask dropped", "self.W_v(x), mask, need_weights)", "self.W_v(x), None, need_weights)"),
    ("one head: W_q and W_k swapped", "return self.attention(self.W_q(x), self.W_k(x)",
     "return self.attention(self.W_k(x), self.W_q(x)"),
    ("one head: a bias nobody asked for", "self.W_q = nn.Linear(d_model, d_head, bias=False)",
     "self.W_q = nn.Linear(d_model, d_head)"),
    ("one head: score ignored", "Attention(score, d_head, d_head", "Attention('scaled_dot', d_head, d_head"),
    ("heads: dot product not scaled", 'Attention("scaled_dot"', 'Attention("dot"'),
    ("heads: √d_model for √d_head", "q, k, v = (self.split(W(x)) for",
     "q, k, v = (self.split(W(x)) / (1 if W is not self.W_q else self.n_heads**0.5) for"),
    ("heads: interleaved", "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
     "x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"),
    ("heads: cut along the text", "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
     "x.reshape(len(x), self.n_heads, x.shape[1], -1)"),
    ("heads: joined along the text", "context.transpose(1, 2).flatten(2)",
     "context.reshape(len(context), query.shape[1], -1)"),
    ("heads: W_o left out", "self.W_o(context.transpose(1, 2).flatten(2))", "context.transpose(1, 2).flatten(2)"),
    ("heads: values are keys", "(self.W_v, value)", "(self.W_v, key)"),
    ("heads: mask dropped", "self.attention(q, k, v, mask, need_weights)",
     "self.attention(q, k, v, None, need_weights)"),
    ("heads: texts taken for heads", "mask = mask.unsqueeze(1)  # (B, 1, T, S)", "pass"),
    ("heads: one mask for all texts", "mask = mask.unsqueeze(1)  # (B, 1, T, S)", "mask = mask[:1].unsqueeze(1)"),
    ("heads: no bias", "self.W_o = nn.Linear(d_model, d_model, bias)", "self.W_o = nn.Linear(d_model, d_model, False)"),
    ("heads: no dropout", "d_model // n_heads, dropout=dropout)", "d_model // n_heads)"),
    ("heads: on is off", "torch.where(heads[:, None, None], q, 0.0)", "torch.where(heads[:, None, None], 0.0, q)"),
)
