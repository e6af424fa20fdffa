"""Bugs of one line that show on a second device alone."""

from tests.bugs import of

# fmt: off
BUGS = [
    *of("attention.py", "test_devices.py",
        ("mask of lengths on the CPU", "torch.arange(S, device=lengths.device)", "torch.arange(S)"),
        ("causal mask on the CPU", "torch.ones(T, earlier + T, dtype=torch.bool, device=device)",
         "torch.ones(T, earlier + T, dtype=torch.bool)")),
    *of("encoder.py", "test_devices.py",
        ("lengths of packed sentences on the device", "lengths.clamp(min=1).cpu()", "lengths.clamp(min=1)")),
    *of("rnn_lm.py", "test_devices.py",
        ("mask of earlier states on the CPU", "itself=False, device=memory.device)", "itself=False)"),
        ("drawn token left on the CPU", "generator=generator).to(prompt.device)", "generator=generator)")),
    *of("search.py", "test_devices.py",
        ("beam: rows on the CPU", "torch.arange(B, device=device).repeat_interleave(beams)",
         "torch.arange(B).repeat_interleave(beams)"),
        ("beam: first beams on the CPU", "torch.arange(B, device=device).unsqueeze(1)", "torch.arange(B).unsqueeze(1)"),
        ("beam: first tokens on the CPU", "torch.full((B * beams, 1), BOS, device=device)",
         "torch.full((B * beams, 1), BOS)")),
    *of("self_attention.py", "test_devices.py",
        ("positions on the CPU", "dtype=exact, device=x.device).unsqueeze(1)", "dtype=exact).unsqueeze(1)")),
    *of("seq2seq.py", "test_devices.py",
        ("what is given stays on the CPU", "generator=generator).to(inputs.device)", "generator=generator)")),
    *of("transformer.py", "test_devices.py",
        ("mask of a language model on the CPU", "causal_mask(T, device=tokens.device)", "causal_mask(T)")),
    *of("training.py", "test_devices.py",
        ("batch left where it was", "batch = batch.to(device) if hasattr(batch, \"to\") else batch", "batch = batch")),
    *of("data/tasks.py", "test_devices.py",
        ("texts move without their last field", "Labelled(*(field.to(device) for field in self[:-1]), self.vocabulary)",
         "Labelled(*(field.to(device) for field in self[:-2]), *self[-2:])")),
]
