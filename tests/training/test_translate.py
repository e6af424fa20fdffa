"""The translator learns, goes on after a kill, is the same in one process and in two, and says what is wrong."""

import io
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import jaxtyping
import psutil
import pytest
import torch
from torch.testing import assert_close

from attnlib.data import Splits
from attnlib.data.batching import collate
from attnlib.data.public import SentencePair
from attnlib.data.texts import CORPORA, Corpus, read_texts
from attnlib.scores import SCORES
from attnlib.training import translate, translator
from attnlib.training.losses import seq2seq_loss
from attnlib.training.translate import main
from attnlib.training.translator import Settings, Texts, Translator, make_model, mixed_precision_loss, thin, train

ROOT = Path(__file__).parents[2]
WORDS = {"one": "uno", "two": "dos", "red": "rojo", "big": "grande", "cat": "gato", "dog": "perro", "sees": "ve"}
SMALL = ["--pieces", "300", "--width", "16", "--dropout", "0", "--batch", "16", "--limit", "200"]


def draw(n, seed):
    """Sentences of a toy language, translated word by word and backwards."""
    rng = random.Random(seed)
    sources = [tuple(rng.choices(list(WORDS), k=rng.randint(2, 4))) for _ in range(n)]
    return [SentencePair(source, tuple(WORDS[w] for w in reversed(source))) for source in sources]


CORPUS = Corpus(lambda: Splits(draw(900, 0), draw(40, 1), draw(60, 2)), "es")
#: Learned to the end, by a model with attention: what is left to chance is small, whatever the machine's arithmetic.
SETTINGS = {
    "corpus": "toy", "decoder": "bahdanau", "pieces": 70, "width": 48, "dropout": 0.0, "batch": 32, "steps": 300,
    "lr": 1e-2,
}  # fmt: skip


@pytest.fixture
def toy(monkeypatch):
    """A corpus named toy."""
    monkeypatch.setitem(CORPORA, "toy", CORPUS)
    return Settings(**SETTINGS)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A finished run on the toy corpus, and its history."""
    folder = tmp_path_factory.mktemp("toy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # the shapes of three hundred equal steps
        patch.setitem(CORPORA, "toy", CORPUS)
        return folder, train(folder, Settings(**SETTINGS))


@pytest.fixture
def trained(learned, tmp_path_factory):
    """The same in a folder of its own, to which a test may add."""
    folder, history = learned
    return shutil.copytree(folder, tmp_path_factory.mktemp("run") / "toy"), history


# --- in this process --------------------------------------------------------------------------------


def test_it_learns_to_translate(trained, toy):
    folder, history = trained
    assert len(history.train_loss) == 300
    assert min(history.valid_loss) < 0.1  # BLEU on dev above 90
    run = Translator(folder)
    score, signature = run.score("test", limit=40)
    assert score > 92 and "tok:13a" in signature
    assert run(["two red dog", "one big cat sees"]) == ["perro rojo dos", "ve gato grande uno"]


def test_the_folder_holds_all_that_was_said(trained, toy):
    folder, history = trained
    assert {p.name for p in folder.iterdir()} == {
        "settings.json", "subwords.model", "run.pt", "weights.pt", "history.json",
    }  # fmt: skip
    assert json.loads((folder / "history.json").read_text())["train_loss"] == history.train_loss
    assert translator.read_settings(folder) == toy


def test_translations_do_not_depend_on_their_neighbours(trained, toy, monkeypatch):
    run, texts = Translator(trained[0]), [" ".join(p.source) for p in draw(30, 5)]
    together = run(texts, batch=7)
    assert together == [run([text])[0] for text in texts]
    assert len(set(together)) > 20
    asked, search = [], translator.beam_search
    monkeypatch.setattr(translator, "beam_search", lambda *a, **o: asked.append(o["beam_size"]) or search(*a, **o))
    assert run(texts, beam_size=3)[:3] == run(texts[:3], beam_size=3) and asked == [3, 3]
    assert run(["one", "", " ", "one"]) == [together := run(["one"])[0], "", "", together]
    assert run([]) == []


def test_the_part_asked_for_is_scored_without_dropout(trained, toy, monkeypatch):
    run, judged = Translator(trained[0]), []
    monkeypatch.setattr(translator, "bleu", lambda said, told, cut: judged.append(told) or translator.BLEU(1.0, cut))
    for part in ("dev", "test"):
        run.score(part)
        assert judged[-1] == getattr(translator.read_texts("toy"), part).target
    assert not run.model.training


def test_what_is_no_run_or_another_is_refused(trained, tmp_path, toy):
    for name, settings in (("empty", None), ("other", '{"colour": 1}'), ("new", json.dumps(vars(toy)))):
        (tmp_path / name).mkdir()
        if settings is not None:
            (tmp_path / name / "settings.json").write_text(settings)
    other = Settings(**{**vars(toy), "width": 64, "seed": 3})
    for call, message in (
        (lambda: Translator(tmp_path / "empty"), f"there is no run in {tmp_path}/empty"),
        (lambda: Translator(tmp_path / "other"), f"there is no run in {tmp_path}/other"),
        (lambda: Translator(tmp_path / "new"), "no weights yet: train it until its first validation"),
        (lambda: train(trained[0], other), "holds a run with width=48, not 64, seed=0, not 3"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_limit_thins_the_training_part_evenly(toy, tmp_path, monkeypatch):
    texts = Texts([str(n) for n in range(10)], [str(-n) for n in range(10)])
    assert thin(texts, 4) == (["0", "2", "5", "7"], ["0", "-2", "-5", "-7"])
    assert thin(texts, 99) == texts and thin(texts, 0) == ([], [])
    seen = []
    monkeypatch.setattr(translator, "BucketedPairs", lambda sources, *rest: seen.append(len(sources)) or [][0])
    with pytest.raises(IndexError):
        train(tmp_path, Settings(**{**vars(toy), "limit": 90}))
    assert seen == [90]


def test_every_decoder_can_be_had(toy):
    for name in translator.DECODERS:
        model = make_model(Settings(**{**vars(toy), "decoder": name}), vocab_size=9)
        batch = collate([torch.tensor([4, 5, 6])], [torch.tensor([7, 8])])
        loss, n_tokens = seq2seq_loss(model, batch)
        assert loss.isfinite() and n_tokens == 3
        assert type(model.decoder) is translator.DECODERS[name]


def test_the_score_can_be_chosen_where_there_is_attention(toy):
    for decoder, score, kind in (("luong", "own", "general"), ("luong", "dot", "dot"), ("bahdanau", "own", "additive")):
        settings = Settings(**{**vars(toy), "decoder": decoder, "score": score})
        assert type(make_model(settings, vocab_size=9).decoder.attention.score) is SCORES[kind]
    with pytest.raises(ValueError, match="'initial_state' has no attention: the score is 'own', not 'dot'"):
        Settings(**{**vars(toy), "decoder": "initial_state", "score": "dot"})


def test_the_weights_of_the_best_translations_are_kept_and_patience_ends_a_run(toy, tmp_path, monkeypatch):
    found, said = iter([20.0, 60.0, 50.0, 55.0, 99.0]), []
    monkeypatch.setattr(translator, "bleu", lambda texts, *_: said.append(texts) or translator.BLEU(next(found), ""))
    settings = Settings(**{**vars(toy), "steps": 10, "limit": 80, "patience": 2})
    history = train(tmp_path, settings)
    assert history.valid_loss == pytest.approx([0.8, 0.4, 0.5, 0.45]) and history.stopped_early
    assert (history.best_step, len(history.train_loss)) == (2, 4)
    assert Translator(tmp_path)(read_texts("toy").dev.source) == said[1]


def test_mixed_precision_computes_in_16_bits_and_keeps_32(toy):
    torch.manual_seed(0)
    model = make_model(toy, vocab_size=30)
    batch = collate([torch.tensor([4, 5, 6, 7])] * 3, [torch.tensor([7, 8, 9])] * 3)
    found, seen = {}, []
    model.decoder.embedding.register_forward_hook(lambda *_: seen.append(torch.is_autocast_enabled("cpu")))
    for precision in translator.PRECISIONS:
        model.zero_grad()
        loss, _ = mixed_precision_loss(precision)(model, batch)
        loss.backward()
        found[precision] = loss.item(), torch.cat([p.grad.flatten() for p in model.parameters()])
        assert all(p.dtype == p.grad.dtype == torch.float32 for p in model.parameters())
    assert seen == [False, True]
    (exact, gradient), (rounded, other) = found.values()
    assert exact != rounded  # something was rounded, to 8 bits
    assert_close(rounded, exact, rtol=1e-2, atol=0)
    assert torch.cosine_similarity(gradient, other, dim=0) > 0.999
    assert_close(exact, seq2seq_loss(model, batch)[0].item())


# --- as a command -----------------------------------------------------------------------------------


def test_the_command_scores_and_translates(trained, toy, capsys, monkeypatch):
    folder = str(trained[0])
    assert main(["score", folder, "--part", "dev", "--limit", "20", "--beam-size", "2"]) == 0
    line = capsys.readouterr().out
    assert line.startswith("BLEU ") and "nrefs:1|case:mixed" in line and float(line.split()[1]) > 80
    monkeypatch.setattr(sys, "stdin", io.StringIO("two red dog\n\none big cat sees\n"))
    assert main(["translate", folder]) == 0
    assert capsys.readouterr().out == "perro rojo dos\n\nve gato grande uno\n"


def test_what_whole_parts_score_is_kept_and_stands_in_the_table(trained, toy, capsys):
    folder, history = trained
    looks = json.loads((folder / "history.json").read_text())
    looks["valid_loss"] = [*[0.5] * (len(history.valid_loss) - 2), 0.25, 0.5]  # the last is not the best
    looks["best_step"] = 1234
    (folder / "history.json").write_text(json.dumps(looks))
    for options in ([], ["--part", "dev", "--beam-size", "2"], ["--part", "dev", "--limit", "3"]):
        assert main(["score", str(folder), *options]) == 0
    kept = json.loads((folder / "scores.json").read_text())
    assert kept.keys() == {"test, beam 1", "dev, beam 2"}
    assert kept["test, beam 1"] == Translator(folder).score("test")._asdict()
    capsys.readouterr()
    assert main(["compare", str(folder)]) == 0
    head, rule, row = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()
    )
    assert len(head) == len(rule) == len(row) == 10
    shown = dict(zip(head, row, strict=True))
    parameters = sum(weight.numel() for weight in torch.load(folder / "weights.pt", weights_only=True).values())
    assert (shown["decoder"], shown["score"], shown["steps"]) == ("bahdanau", "own", "300")
    assert shown["parameters"] == f"{parameters:,}" and shown["test, beam 1"] == f"{kept['test, beam 1']['score']:.1f}"
    assert shown["best dev"] == "75.0 at 1,234"
    (folder / "history.json").rename(folder / "away")
    assert main(["compare", str(folder)]) == 1 and "has not ended" in capsys.readouterr().err
    (folder / "away").rename(folder / "history.json")


def test_the_command_says_what_is_wrong(trained, toy, tmp_path, capsys):
    new = ["train", str(tmp_path / "x"), "--corpus", "toy"]
    for arguments, message in (
        (["score", str(tmp_path)], f"there is no run in {tmp_path}\n"),
        (["train", str(trained[0]), "--corpus", "toy", "--steps", "7"], "steps=300, not 7"),
        ([*new, "--pieces", "5"], "no 5 pieces can be learned"),
        ([*new, "--corpus", "mine"], "unknown corpus 'mine', known are"),
        ([*new, "--decoder", "mine"], "unknown decoder 'mine', known are"),
        ([*new, "--score", "mine"], "unknown score 'mine', known are own, dot"),
        (["compare", str(tmp_path)], f"there is no run in {tmp_path}\n"),
        ([*new, "--precision", "mine"], "unknown precision 'mine', known are"),
    ):
        assert main(arguments) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()  # what cannot begin leaves nothing behind
    assert main([*new, "--pieces", "70", "--batch", "0"]) == 1
    assert "batch" in capsys.readouterr().err


def test_more_processes_than_gpus_are_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(translate, "train", None)  # it does not come to that
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    assert main(["train", str(tmp_path)]) == 1
    assert "3 processes and 2 GPU(s) on this machine" in capsys.readouterr().err
    for n_processes, n_gpus in (("3", 0), ("3", 3), ("1", 1)):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", n_processes)
        monkeypatch.setattr(torch.cuda, "device_count", lambda n=n_gpus: n)
        translate.check_processes()


def test_help_names_every_setting_and_what_it_is_without_it(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit) as stop:
        main(["train", "--help"])
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for name, default in vars(Settings()).items():
        assert f"--{name}" in text and f"[{default}]" in text
    assert all(name in text for name in (*CORPORA, *translator.DECODERS, *translator.PRECISIONS))


PAGE = (ROOT / "book" / "several_machines.md").read_text("utf8")
#: The commands of that page, *Train on several machines*: for one machine, two names for all, the first, the second.
TOGETHER, NAMES, *NODES = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
PRINTED = "attnlib.training.translate train runs/es --corpus home-assistant-es --steps 2000"  # what each of them runs


def as_printed(line: str, folder: Path, *settings: str) -> list[str]:
    """A command of the page, for a shell: into another folder, and the last of two equal settings counts."""
    assert line.rstrip().endswith(PRINTED)
    return ["bash", "-c", line.rstrip().replace("runs/es", str(folder)) + ' "$@"', "page", *settings]


ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "PYTHONPATH": str(ROOT),
    "TQDM_DISABLE": "1",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # where torchrun is
}


def run(*line: str) -> str:
    result = subprocess.run(line, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


def loss_of(folder):
    return json.loads((folder / "history.json").read_text())


ALONE = [sys.executable, "-m", "attnlib.training.translate", "train"]
SIXTY = [*SMALL, "--steps", "60", "--save-every", "10"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of sixty steps in one process."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(*ALONE, str(folder), *SIXTY)
    losses = loss_of(folder)["train_loss"]
    assert len(losses) == 60 and losses[-1] < losses[0]
    return folder


def assert_as_one(folder, undisturbed):
    """Two processes have done what one does, but for the order in which numbers are added up."""
    two, one = loss_of(folder), loss_of(undisturbed)
    assert_close(two["train_loss"], one["train_loss"], rtol=1e-4, atol=0)
    assert_close(two["valid_loss"], one["valid_loss"], rtol=1e-4, atol=0)
    assert two["tokens"] == one["tokens"]
    weights = [torch.load(run / "weights.pt", weights_only=True) for run in (folder, undisturbed)]
    assert_close(*weights, rtol=1e-3, atol=1e-4)


@pytest.mark.thorough  # chapter 15 does the same, and asserts it
def test_two_processes_train_as_one(undisturbed, tmp_path):
    said = run(*as_printed(TOGETHER, tmp_path / "run", *SIXTY))
    assert said.count("History(60 steps") == 1  # only the first process reports
    assert_as_one(tmp_path / "run", undisturbed)


# --- on several machines, which are programs on this one --------------------------------------------


@pytest.fixture
def machines(tmp_path):
    """Start both machines, or the first alone, with the commands of the page; end what is left of them."""
    started = []

    def start(*settings: str, nodes: list[str] = NODES) -> list[subprocess.Popen]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            names = {"FIRST": "127.0.0.1", "PORT": str(free.getsockname()[1])}
        assert set(re.findall(r"(\w+)=", NAMES)) == set(names)
        for line in nodes:
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            command = as_printed(line, tmp_path / "run", *settings)
            started.append(subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT | names, **pipes))
        return started[-len(nodes) :]

    yield start
    for node in started:
        if node.poll() is None:
            kill(node)
        node.communicate()


def kill(node: subprocess.Popen) -> None:
    """All of a machine at once."""
    machine = psutil.Process(node.pid)
    for program in [machine, *machine.children(recursive=True)]:
        program.kill()


@pytest.mark.thorough  # it trains three times, to its end, to a death and from there
def test_two_machines_train_as_one_and_go_on_when_one_has_died(undisturbed, machines, tmp_path):
    first, second = machines(*SIXTY)
    while not (tmp_path / "run" / "run.pt").exists() and first.poll() is None:
        time.sleep(0.01)
    kill(second)
    _, said = first.communicate(timeout=300)
    assert first.returncode != 0 and re.search("Connection (reset|closed) by peer", said), said
    assert not (tmp_path / "run" / "history.json").exists()
    done = len(torch.load(tmp_path / "run" / "run.pt", weights_only=True)["history"]["train_loss"])
    assert 0 < done < 60 and done % 10 == 0
    heard = [node.communicate(timeout=300) for node in machines(*SIXTY)]  # the same again
    assert [out.count("History(60 steps") for out, _ in heard] == [1, 0], heard
    assert_as_one(tmp_path / "run", undisturbed)


def test_all_processes_are_told_what_must_be_equal(toy, monkeypatch, tmp_path):
    told, begun, folder = [], {}, tmp_path / "run"
    monkeypatch.setattr(translator, "check_same_on_all_ranks", lambda facts: told.append(dict(facts)) or begun["go on"])

    def begin():
        with pytest.raises(KeyError, match="go on"):  # before anything is written
            train(folder, toy)

    begin()
    toy.steps = 8
    begin()
    assert not folder.exists()
    folder.mkdir()
    for saved in (b"some", b"other"):
        (folder / "run.pt").write_bytes(saved)
        begin()
    monkeypatch.setitem(CORPORA, "toy", Corpus(lambda: Splits(draw(900, 3), draw(40, 1), draw(60, 2)), "es"))
    begin()
    differ = [{name for name in a if a[name] != b[name]} for a, b in pairwise(told)]
    assert differ == [{"steps"}, {"run.pt in the folder"}, {"run.pt in the folder"}, {"the set of subwords"}]


def test_what_the_page_says_of_errors_is_what_attnlib_says():
    files = [ROOT / "attnlib" / "training" / name for name in ("distributed.py", "translate.py", "translator.py")]
    source = "".join(file.read_text("utf8") for file in files)
    for part in ("the processes do not begin alike", "GPU(s) on this machine", "processes cannot share batches of",
                 "holds a run with"):  # fmt: skip
        assert part in PAGE and part in source
