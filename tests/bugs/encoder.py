"""Bugs of one line in attnlib/encoder.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "encoder.py", "core/test_devices.py",
    ("encoder: lengths on the CPU", "lengths.to(tokens.device, torch.int64, non_blocking=tokens.is_cuda)",
     "lengths.to(torch.int64)", "test_no_step_waits_for_the_device"),
) + of(
    "encoder.py", "core/test_encoder.py",
    ("encoder: two cells called by the same name", '"rnn": nn.RNN}', '"rnn": nn.GRU}'),
    ("encoder: extended ids for a decoder lost", "summary, mask, tokens)", "summary, mask, known)"),
    ("encoder: extended ids written over", "tokens.masked_fill(tokens >= self.vocab_size",
     "tokens.masked_fill_(tokens >= self.vocab_size"),
    ("encoder: last word unknown too", "tokens >= self.vocab_size, ", "tokens >= self.vocab_size - 1, "),
    ("encoder: every stranger is token 0", ", self.unknown)\n", ", 0)\n"),
    ("encoder: no dropout", "embedded = self.dropout(self.embedding(known))", "embedded = self.embedding(known)"),
    ("encoder: lengths in their own type", "lengths.to(tokens.device, torch.int64,", "lengths.to(tokens.device,"),
    ("encoder: mask of everything", "summary, mask, tokens)", "summary, torch.ones_like(mask), tokens)"),
    ("encoder: padding read backwards", "torch.where(j < lengths, lengths - 1 - j, j)", "j.flip(0).expand(B, -1)"),
    ("encoder: reversed one too far", "lengths - 1 - j, j)", "(lengths - j).clamp(max=S - 1), j)"),
    ("encoder: backward states not turned back", "at(self.rnn_backward(at(embedded, mirror))[0], mirror)",
     "self.rnn_backward(at(embedded, mirror))[0]"),
    ("encoder: both directions read forwards", "at(self.rnn_backward(at(embedded, mirror))[0], mirror)",
     "at(self.rnn_backward(embedded)[0], mirror)"),
    ("encoder: summary is the last column", "summary = at(annotations, (lengths - 1).clamp(min=0)).squeeze(1)",
     "summary = annotations[:, -1]"),
    ("encoder: summary of the wrong end", "backward[:, 0]], dim=-1)", "backward[:, -1]], dim=-1)"),
    ("encoder: directions swapped", "torch.cat([annotations, backward], dim=-1)",
     "torch.cat([backward, annotations], dim=-1)"),
    ("encoder: padding has annotations", "        annotations = torch.where(mask.mT, annotations, 0.0)\n", ""),
    ("encoder: an empty sentence has a summary", "        summary = torch.where(lengths > 0, summary, 0.0)\n", ""),
    ("encoder: one weight for both directions", "self.rnn_backward(at(embedded, mirror))",
     "self.rnn(at(embedded, mirror))"),
)
