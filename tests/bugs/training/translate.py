"""Bugs of one line in attnlib/training/translate.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/translate.py", "training/test_translate.py",
    ("translations in the order of their lengths", "zip(rows, written.sentences(), strict=True)",
     "enumerate(written.sentences(), start)"),
    ("width forgotten", "d = settings.width", "d = 256"),
    ("limit takes the first", "side[i * there // n]", "side[i]"),
    ("precision forgotten", 'enabled=precision != "float32"', "enabled=False"),
    ("never goes on", 'resume=folder / "run.pt",', "resume=None,"),
    ("every process has all", "RankShard(batches)", "batches"),
    ("losses not shared", "ddp_loss(model, loss)", "loss"),
    ("dev for test", "getattr(read_texts(self.settings.corpus), part)", "read_texts(self.settings.corpus).dev"),
    ("dropout left on", ".to(pick_device()).eval()", ".to(pick_device())"),
)
