"""Bugs of one line in attnlib/training/translator.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/translator.py", "training/test_translate.py",
    ("translations in the order of their lengths", "zip(rows, written.sentences(), strict=True)",
     "enumerate(written.sentences(), start)", "test_it_learns_to_translate"),
    ("width forgotten", "d, score = settings.width,", "d, score = 256,", "test_it_learns_to_translate"),
    ("limit takes the first", "side[i * there // n]", "side[i]", "test_a_limit_thins_the_training_part_evenly"),
    ("precision forgotten", 'enabled=precision != "float32"', "enabled=False",
     "test_mixed_precision_computes_in_16_bits_and_keeps_32"),
    ("never goes on", 'resume=folder / "run.pt",', "resume=None,"),
    ("every process has all", "RankShard(batches)", "batches", "test_two_processes_train_as_one"),
    ("losses not shared", "ddp_loss(model, mixed_precision_loss(settings.precision))",
     "mixed_precision_loss(settings.precision)", "test_two_processes_train_as_one"),
    ("dev for test", "getattr(read_texts(corpus), part)", "read_texts(corpus).dev",
     "test_the_part_asked_for_is_scored_without_dropout"),
    ("score forgotten", "dropout=settings.dropout, **score)", "dropout=settings.dropout)",
     "test_the_score_can_be_chosen_where_there_is_attention"),
    ("patience forgotten", "patience=settings.patience or None", "patience=None",
     "test_the_weights_of_the_best_translations_are_kept_and_patience_ends_a_run"),
    ("the worst translations are best", "return 1 - bleu(", "return bleu(", "test_it_learns_to_translate"),
    ("dropout left on", ".to(pick_device()).eval()", ".to(pick_device())",
     "test_the_part_asked_for_is_scored_without_dropout"),
)
