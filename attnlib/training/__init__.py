"""Training: one loop, what it minimises and reports, checkpoints, several processes, and the command `translate`."""

from attnlib.training.loop import History, fit, pick_device, set_seed

__all__ = ["History", "fit", "pick_device", "set_seed"]
