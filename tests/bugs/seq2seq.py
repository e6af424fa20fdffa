"""Bugs of one line in attnlib/seq2seq.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "seq2seq.py", "core/test_devices.py",
    ("what is given stays on the CPU", "generator=generator).to(inputs.device)", "generator=generator)",
     "test_search_and_scheduled_sampling_stay_there"),
) + of(
    "seq2seq.py", "core/test_seq2seq.py",
    ("seq2seq: lengths dropped", "self.encoder(source, lengths))", "self.encoder(source))"),
    ("teacher: some is all", "if teacher_forcing == 1:", "if teacher_forcing > 0:"),
    ("teacher: chance of the model for that of the truth", ".to(inputs.device) < teacher_forcing",
     ".to(inputs.device) >= teacher_forcing"),
    ("teacher: generator ignored", "torch.rand(inputs.shape, generator=generator)", "torch.rand(inputs.shape)"),
    ("teacher: one coin for a sentence", "torch.rand(inputs.shape, generator=generator)",
     "torch.rand(len(inputs), 1, generator=generator).expand(inputs.shape)"),
    ("teacher: one coin for the batch", "torch.rand(inputs.shape, generator=generator)",
     "torch.rand(1, inputs.shape[1], generator=generator).expand(inputs.shape)"),
    ("teacher: coin of the step before", "torch.where(given[:, i : i + 1],", "torch.where(given[:, i - 1 : i],"),
    ("teacher: true token of the step before", "inputs[:, i : i + 1], own)", "inputs[:, i - 1 : i], own)"),
    ("teacher: own token of the first step", "own = steps[-1].logits", "own = steps[0].logits"),
    ("teacher: first state at every step", "self.decoder(token, memory, steps[-1].state)",
     "self.decoder(token, memory, state)"),
    ("teacher: carry of the first step", "return last._replace(**", "return steps[0]._replace(**"),
    ("teacher: weights of the last step only", 'if name != "state" and value is not None]',
     'if name in ("logits", "states")]'),
    ("teacher: last step lost", "for i in range(1, inputs.shape[1]):", "for i in range(1, inputs.shape[1] - 1):"),
)
