"""Bugs of one line in attnlib/training/losses.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/losses.py", "core/test_devices.py",
    ("masked mean: padding in the divisor", "n = mask.sum()", "n = torch.ones_like(mask).sum()",
     "test_no_step_waits_for_the_device"),
    ("masked mean: padding has a gradient", "logits.masked_fill(~mask.unsqueeze(-1), 0.0), targets.masked_fill",
     "logits, targets.masked_fill", "test_a_masked_loss_is_the_same_there"),
) + of(
    "training/losses.py", "training/test_losses.py",
    ("coverage: this step counts as before", "before = weights.cumsum(1) - weights", "before = weights.cumsum(1)"),
    ("coverage: before along the source", "before = weights.cumsum(1) - weights",
     "before = weights.cumsum(2) - weights"),
    ("coverage: max for min", "torch.minimum(weights, before)", "torch.maximum(weights, before)"),
    ("coverage: padded steps count", ".sum(-1)[mask].mean()", ".sum(-1).mean()"),
    ("penalty on padding", "weights.masked_fill(~target_mask.unsqueeze(-1), 0.0).sum(1)", "weights.sum(1)"),
    ("penalty over regions, not steps", "unsqueeze(-1), 0.0).sum(1)", "unsqueeze(-1), 0.0).sum(2)"),
    ("penalty not squared", "((1 - looked) ** 2).sum(-1)", "(1 - looked).abs().sum(-1)"),
    ("mean over the regions in the penalty", "** 2).sum(-1).mean()", "** 2).mean(-1).mean()"),
    ("loss over padding", "logits, targets = logits[mask], targets[mask]", "pass"),
    ("padding in the divisor", "targets.reshape(-1).long()), targets.numel()",
     "targets.reshape(-1).long()) * (1 if mask is None else mask.double().mean()), targets.numel()"),
    ("padding among the tokens", "targets.reshape(-1).long()), targets.numel()",
     "targets.reshape(-1).long()), targets.numel() if mask is None else mask.numel()"),
    ("sum for mean", "targets.reshape(-1).long()), targets.numel()",
     "targets.reshape(-1).long(), reduction='sum'), targets.numel()"),
) + of(
    "training/losses.py", "core/test_seq2seq.py",
    ("loss: the answer read", "model(batch.source, batch.inputs,", "model(batch.source, batch.targets,"),
    ("loss: source padding read", "batch.lengths, teacher_forcing)", "None, teacher_forcing)"),
    ("loss: always a teacher", "batch.lengths, teacher_forcing)", "batch.lengths)"),
    ("loss: padding counted", "return cross_entropy(decoded.logits, batch.targets, batch.mask)\n\n\ndef caption",
     "return cross_entropy(decoded.logits, batch.targets)\n\n\ndef caption"),
    ("loss: against the inputs", "return cross_entropy(decoded.logits, batch.targets, batch.mask)\n\n\ndef caption",
     "return cross_entropy(decoded.logits, batch.inputs, batch.mask)\n\n\ndef caption"),
) + of(
    "training/losses.py", "core/test_captioning.py",
    ("penalty once whatever its weight", "loss + penalty * doubly", "loss + doubly"),
)
