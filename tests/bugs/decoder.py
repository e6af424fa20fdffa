"""Bugs of one line in attnlib/decoder.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "decoder.py", "core/test_decoder.py",
    ("decoder: mask of another sentence", "field if field is None else field[index]",
     "field if field is None or field.dtype == torch.bool else field[index]",
     "test_rows_of_a_memory_are_picked_in_every_field"),
    ("decoder: no dropout", "self.decode_embedded(self.dropout(self.embedding(tokens)), memory",
     "self.decode_embedded(self.embedding(tokens), memory", "test_dropout_thins_the_embedding_in_training_only"),
) + of(
    "decoder.py", "core/test_decoder.py::test_contract_with_every_encoder",  # what a decoder that is added may do
    ("decoder: hears the future", "self.decode_embedded(self.dropout(self.embedding(tokens)), memory, state)",
     "self.decode_embedded(self.embedding(tokens) + self.embedding(tokens).mean(1, keepdim=True), memory, state)"),
    ("decoder: forgets", "self.decode_embedded(self.dropout(self.embedding(tokens)), memory, state)",
     "self.decode_embedded(self.embedding(tokens), memory, state)._replace(state=state)"),
    ("decoder: hears the whole batch", "self.decode_embedded(self.dropout(self.embedding(tokens)), memory, state)",
     "self.decode_embedded(self.embedding(tokens) - self.embedding(tokens).mean(0, keepdim=True), memory, state)"),
    ("decoder: writes into the memory", "self.decode_embedded(self.dropout(self.embedding(tokens)), memory, state)",
     "self.decode_embedded(self.embedding(tokens), memory._replace(mask=memory.mask.logical_not_()), state)"),
    ("decoder: a look at nothing is a whole one",
     "return self.attention(query, None, memory.annotations, memory.mask, projected_key=memory.projected_key)",
     "found = self.attention(query, None, memory.annotations, memory.mask, projected_key=memory.projected_key)\n"
     "        return found._replace(weights=found.weights / found.weights.sum(-1, keepdim=True))"),
) + of(
    "decoder.py", "core/test_decoders.py",
    ("decoder: first state without tanh", "torch.tanh(self.W_s(encoded.summary))", "self.W_s(encoded.summary)"),
    ("decoder: first state from padding", "self.W_s(encoded.summary)", "self.W_s(encoded.annotations[:, -1])"),
    ("decoder: keys not projected", "self.attention.score.project_key(encoded.annotations)", "encoded.annotations"),
    ("decoder: keys as values", "self.attention(query, None, memory.annotations, memory.mask,",
     "self.attention(query, None, memory.projected_key, memory.mask,"),
    ("decoder: mask dropped", "memory.annotations, memory.mask, projected_key",
     "memory.annotations, None, projected_key"),
) + of(
    "decoder.py", "core/test_models.py::test_derivatives_of_both_orders_are_what_differences_say",
    ("decoder: annotations cut from the gradient", "self.attention(query, None, memory.annotations,",
     "self.attention(query, None, memory.annotations.detach(),"),
)
