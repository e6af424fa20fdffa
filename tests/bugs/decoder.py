"""Bugs of one line in attnlib/decoder.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "decoder.py", "test_decoders.py",
    ("decoder: first state without tanh", "torch.tanh(self.W_s(encoded.summary))", "self.W_s(encoded.summary)"),
    ("decoder: first state from padding", "self.W_s(encoded.summary)", "self.W_s(encoded.annotations[:, -1])"),
    ("decoder: keys projected at every step", "query, memory.projected_key, memory.annotations,",
     "query, self.attention.score.project_key(memory.annotations), memory.annotations,"),
    ("decoder: keys not projected", "self.attention.score.project_key(encoded.annotations)", "encoded.annotations"),
    ("decoder: keys as values", "query, memory.projected_key, memory.annotations,",
     "query, memory.projected_key, memory.projected_key,"),
    ("decoder: mask dropped", "memory.annotations, memory.mask)", "memory.annotations)"),
    ("decoder: mask inverted", "memory.annotations, memory.mask)", "memory.annotations, ~memory.mask)"),
    ("decoder: annotations cut from the gradient", "memory.annotations, memory.mask)",
     "memory.annotations.detach(), memory.mask)"),
    ("decoder: look kept on self", "return self.attention.attend(", "self.last = query; return self.attention.attend("),
    ("decoder: mask of another sentence", "field if field is None else field[index]",
     "field if field is None or field.dtype == torch.bool else field[index]"),
    ("decoder: each sentence at most once", "field if field is None else field[index]",
     "field if field is None else field[index.unique()]"),
    ("decoder: one id too many", "check_tokens(tokens, self.vocab_size)", "check_tokens(tokens, self.vocab_size + 1)"),
    ("decoder: rows of the state not checked", "for part in (memory.summary, *state)", "for part in (memory.summary,)"),
    ("decoder: rows of the memory not checked", "for part in (memory.summary, *state)", "for part in state"),
    ("decoder: width not checked", "if encoded.annotations.shape[-1] != self.d_annotation:", "if False:"),
    ("decoder: no dropout", "self.read(self.dropout(self.embedding(tokens)),", "self.read(self.embedding(tokens),"),
    ("decoder: dropout in use too", "self.read(self.dropout(self.embedding(tokens)),",
     "self.read(nn.functional.dropout(self.embedding(tokens), self.dropout.p),"),
)
