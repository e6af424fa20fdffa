"""Bugs of one line in attnlib/translate.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "translate.py", "test_translate.py",
    ("translations in the order of their lengths", "zip(rows, written.sentences(), strict=True)",
     "enumerate(written.sentences(), start)"),
    ("empty text translated", "(n for n in range(len(ids)) if len(ids[n]))", "range(len(ids))"),
    ("width forgotten", "d = settings.width", "d = 256"),
    ("always the same decoder", "DECODERS[settings.decoder](", "DECODERS[\"luong\"](") ,
    ("limit forgotten", "thin(texts.train, settings.limit or len(texts.train.source))", "texts.train"),
    ("limit takes the first", "side[i * there // n]", "side[i]"),
    ("precision forgotten", "enabled=precision != \"float32\"", "enabled=False"),
    ("other settings of a translator forgiven", "        if other:\n", "        if False:\n"),
    ("any setting will do", "if among is not None and value not in among:", "if False:"),
    ("weights not read", "        load_checkpoint(folder / \"weights.pt\", self.model)\n", ""),
    ("never goes on", "resume=folder / \"run.pt\",", "resume=None,"),
    ("saved as often as it likes", "        save_every=save_every,\n", ""),
    ("every process has all", "Shares(batches)", "batches"),
    ("losses not shared", "shared_loss(model, loss)", "loss"),
    ("every process reports", "                if process()[0] == 0:\n                    print(history)",
     "                print(history)"),
    ("beams forgotten", "beams=beams,", "beams=1,"),
    ("dev for test", "getattr(read_texts(self.settings.corpus), part)", "read_texts(self.settings.corpus).dev"),
    ("failure is success", "        return 1\n", "        return 0\n"),
    ("processes share a GPU", "    if 0 < n_gpus < n:\n", "    if False:\n"),
    ("no GPU is too few", "    if 0 < n_gpus < n:\n", "    if n_gpus < n:\n"),
    ("settings of one process", "agree({**asdict(settings), ", "agree({"),
    ("any run to go on with", "\"run.pt in the folder\": saved", "\"run.pt in the folder\": 0"),
    ("any subwords", "\"the set of subwords\": crc32(subwords.model)", "\"the set of subwords\": 0"),
    ("dropout left on", ".to(pick_device()).eval()", ".to(pick_device())"),
)
