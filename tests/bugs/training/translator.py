"""Bugs of one line in attnlib/training/translator.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/translator.py", "training/test_translate.py",
    ("translations in the order of their lengths", "zip(rows, written.sentences(), strict=True)",
     "enumerate(written.sentences(), start)"),
    ("width forgotten", "d, score = settings.width,", "d, score = 256,"),
    ("limit takes the first", "side[i * there // n]", "side[i]"),
    ("precision forgotten", 'enabled=precision != "float32"', "enabled=False"),
    ("never goes on", 'resume=folder / "run.pt",', "resume=None,"),
    ("every process has all", "RankShard(batches)", "batches"),
    ("losses not shared", "ddp_loss(model, mixed_precision_loss(settings.precision))",
     "mixed_precision_loss(settings.precision)"),
    ("dev for test", "getattr(read_texts(corpus), part)", "read_texts(corpus).dev"),
    ("score forgotten", "dropout=settings.dropout, **score)", "dropout=settings.dropout)"),
    ("patience forgotten", "patience=settings.patience or None", "patience=None"),
    ("the worst translations are best", "return 1 - bleu(", "return bleu("),
    ("dropout left on", ".to(pick_device()).eval()", ".to(pick_device())"),
)
