"""Bugs of one line in attnlib/widgets/attention_surgery.py, and in what it stands on."""

from tests.bugs import of

# fmt: off
BUGS = [
    *of(
        "widgets/attention_surgery.py", "test_attention_surgery.py",
        ("surgery: shares not divided by their sum", "return (row / row.sum()).tolist()", "return row.tolist()"),
        ("surgery: a step beyond the last", "int(step) >= max_length:", "int(step) > max_length:"),
        ("surgery: negative weights", "if row.min() < 0 or row.sum() <= 0:", "if row.sum() <= 0:"),
        ("surgery: original with the edits", "self._read, self._own = self.text, self._written({})",
         "self._read, self._own = self.text, self._written(self.edits)"),
        ("surgery: original of the text before", "if self._read != self.text:", "if self._read is None:"),
        ("surgery: edits of another text are kept", "if any(len(row) != len(self.tokens) for row in",
         "if any(not row for row in"),
        ("surgery: the end is spelled", "if token != END))", "))"),
        ("surgery: everything is read", "if character in self._ids][: self.longest]", "if character in self._ids]"),
        ("surgery: unknown characters in a text", "if strange := sorted(set(given)", "if False and sorted(set(given)"),
        ("surgery: too long a text", "if not 1 <= len(given) <= longest:", "if not 1 <= len(given):"),
        ("surgery: no end in the vocabulary", "for mark in (BEGIN, END):\n            if",
         "for mark in (BEGIN,):\n            if"),
        ("surgery: nothing is shown", "most = (self.longest if name", "most = 99 + (self.longest if name"),
        ("surgery: painted steps in the order of words", "sorted(self.edits, key=int)", "sorted(self.edits)"),
    ),
    *of(
        "widgets/bahdanau.py", "test_attention_surgery.py",
        ("surgery: minus the state", "energy = torch.tanh(projected + w", "energy = torch.tanh(projected - w"),
        ("surgery: minout", "amax(-1)", "amin(-1)"),
        ("surgery: maxout of halves", "t.unflatten(0, (-1, 2)).amax(-1)", "t.unflatten(0, (2, -1)).amax(0)"),
        ("surgery: context before the token", "torch.cat([y, c])", "torch.cat([c, y])"),
        ("surgery: edit of the step after", "edits.get(len(steps))", "edits.get(len(steps) - 1)"),
        ("surgery: begins anew at every end", "or token != end)", "or token == end)"),
        ("surgery: one token too many", "while len(steps) < max_length", "while len(steps) <= max_length"),
        ("surgery: vocabulary of another size", "!= size:", "is None:"),
    ),
    *of(
        "widgets/network.py", "test_attention_surgery.py",
        ("network: strange weights are ignored", "if missing or unknown:", "if missing:"),
        ("network: missing weights are ignored", "if missing or unknown:", "if unknown:"),
        ("network: weights that are not finite", "if not weights[name].isfinite().all():", "if False:"),
        ("network: shapes not looked at", "!= shape:", "is None:"),
        ("network: one direction for two", 'bidirectional="weight_hh_l0_reverse" in own', "bidirectional=False"),
    ),
    *of(
        "widgets/weights.py", "test_widget_network.py",
        ("weights: big-endian", 'numpy().astype("<f2")', 'numpy().astype(">f2")'),
        ("weights: lost digits are not noticed", "if not torch.equal(half.float(), weight):", "if False:"),
        ("weights: cut, not rounded", "weight.copy_(weight.half())", "weight.copy_((weight * 1024).trunc() / 1024)"),
        ("weights: infinity is rounded", "if not weight.half().isfinite().all():", "if weight.half().isnan().any():"),
        ("weights: too few bytes", "if len(data) != 2 * math.prod(shape):", "if len(data) < math.prod(shape):"),
    ),
]
