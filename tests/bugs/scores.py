"""Bugs of one line in attnlib/scores.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "scores.py", "core/test_scores.py",
    ("no √d", " / math.sqrt(self.d_key)", ""),
    ("d for √d", "math.sqrt(self.d_key)", "self.d_key"),
    ("additive: ReLU for tanh", "hidden.tanh_()", "hidden.relu_()"),
    ("additive: no tanh", "hidden.tanh_()", "hidden"),
    ("concat: no tanh", "torch.tanh(self.W_1(pairs))", "self.W_1(pairs)"),
    ("concat: key before query", "torch.cat([queries, keys], dim=-1)", "torch.cat([keys, queries], dim=-1)"),
    ("additive: U_a and W_a swapped", "self.U_a = nn.Linear(d_key, d_hidden, bias=False)",
     "self.U_a = self.W_a; self.W_a = nn.Linear(d_key, d_hidden, bias=False)"),
    ("additive: a bias nobody asked for", "self.W_a = nn.Linear(d_query, d_hidden, bias=False)",
     "self.W_a = nn.Linear(d_query, d_hidden)"),
    ("general: key cut from the gradient", "return self.W(key)", "return self.W(key.detach())"),
    ("cosine: sharpness forgotten", "return self.sharpness * super()", "return super()"),
    ("location: the last positions", "self.W_a(query)[..., :S]", "self.W_a(query)[..., -S:]"),
    ("given score: one width not compared", "d_query not in (None, score.d_query) or ", ""),
    ("given score: the other width not compared", " or d_key not in (None, score.d_key)", ""),
    ("given score made anew", "        return score\n", "        return type(score)(d_query, d_key)\n"),
    ("options do not reach the score", "SCORES[score](d_query, d_key, **options)", "SCORES[score](d_query, d_key)"),
    ("score made for keys that ask", "SCORES[score](d_query, d_key, **options)",
     "SCORES[score](d_key, d_query, **options)"),
    ("cosine: query not normalised", "super().compare(unit(query), projected_key)",
     "super().compare(query, projected_key)"),
    ("cosine: key not normalised", "        return unit(key)\n", "        return key\n"),
    ("cosine: normalised over positions", "wide.norm(dim=-1, keepdim=True)", "wide.norm(dim=-2, keepdim=True)"),
    ("cosine: normalised in half precision", "wide = x.to(torch.promote_types(x.dtype, torch.float32))", "wide = x"),
    ("cosine: a zero vector has the steepest gradient", "length.where(length > 0, math.inf)", "length.clamp(1e-12)"),
) + of(
    "scores.py", "core/test_scores.py::test_contract",  # what a score that is added may do
    ("score: normalises", "        return self.compare(query, self.project_key(key) if projected_key is None else "
     "projected_key)", "        return self.compare(query, self.project_key(key) if projected_key is None else "
     "projected_key).softmax(-1)"),
    ("score: sees the batch", "return self.compare(query, self.project_key(key) if",
     "return self.compare(query - query.mean(0, keepdim=True), self.project_key(key) if"),
    ("score: writes into the queries", "return self.compare(query, self.project_key(key) if",
     "return self.compare(query.mul_(2), self.project_key(key) if"),
    ("score: checks nothing", "        self.check(query, key, projected_key)\n        return self.compare",
     "        return self.compare"),
)
