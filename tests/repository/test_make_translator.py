"""`make translator`: a finished run becomes one file with a card, or a sentence says why not."""

import json
import random
from dataclasses import replace
from hashlib import sha256

import pytest

from attnlib.course.figures import Translate
from attnlib.course.figures.translator_file import read_translator
from attnlib.data import Splits
from attnlib.data.public import SentencePair
from attnlib.data.texts import CORPORA, Corpus
from attnlib.training.translator import Settings, Translator, train
from scripts import translator as script

WORDS = {"one": "uno", "two": "dos", "red": "rojo", "big": "grande", "cat": "gato", "dog": "perro"}
NAME = "home-assistant-toy"


def draw(n: int, seed: int) -> list[SentencePair]:
    """Sentences of a toy language, translated word by word."""
    rng = random.Random(seed)
    sources = [tuple(rng.choices(list(WORDS), k=rng.randint(2, 4))) for _ in range(n)]
    return [SentencePair(source, tuple(WORDS[w] for w in source)) for source in sources]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run on a toy corpus, to its end (BLEU 90 to 92, four seeds): halfway, eight bits a weight may cost words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CORPORA, NAME, Corpus(lambda: Splits(draw(900, 0), draw(30, 1), draw(30, 2)), "es"))
        folder = tmp_path_factory.mktemp("runs") / "toy"
        train(folder, Settings(NAME, pieces=60, width=24, steps=250, lr=2e-2, dropout=0.0, batch=32))
        yield folder


def test_the_file_translates_as_the_run_and_its_card_says_what_it_is(run, tmp_path, capsys):
    assert script.main([str(run), "--into", str(tmp_path)]) == 0
    path = tmp_path / f"{NAME}.js"
    card, text = json.loads((tmp_path / f"{NAME}.json").read_text("utf8")), path.read_bytes()
    assert str(path) in capsys.readouterr().out
    assert (card["file"], card["bytes"], card["sha256"]) == (path.name, len(text), sha256(text).hexdigest())
    kept, before = read_translator(path), Translator(run)
    assert card["digest"] == kept.digest and card["settings"] == kept.settings == vars(before.settings)
    assert card["parameters"] == sum(weight.numel() for weight in before.model.parameters())
    assert card["steps"] == 250 and 1 <= card["steps of these weights"] <= 250
    assert card["data"]["licence"] == "Apache-2.0" and card["sentences"] == "all"
    scores = card["scores"]
    assert list(scores) == ["dev, greedy, float32", "dev, greedy, int8", "test, greedy, int8", "test, 5 beams, int8"]
    assert all("tok:13a" in score["signature"] for score in scores.values())
    assert scores["dev, greedy, float32"]["BLEU"] == pytest.approx(before.score("dev").score, abs=0.006)
    assert scores["dev, greedy, float32"]["BLEU"] > 60, "a run that has learned nothing proves nothing"
    assert scores["dev, greedy, float32"]["BLEU"] - scores["dev, greedy, int8"]["BLEU"] <= 0.3
    for name, beams in (("test, greedy, int8", 1), ("test, 5 beams, int8", 5)):
        before.model = kept.model.to(next(before.model.parameters()).device)
        assert scores[name]["BLEU"] == pytest.approx(before.score("test", beams).score, abs=0.006)
    assert Translate("two red dog", file=path).output == before(["two red dog"])[0]


def test_as_many_bits_are_kept_as_fit(run, monkeypatch):
    translator = Translator(run)
    sizes = {}
    for bits in script.BITS:
        monkeypatch.setattr(script, "BITS", (bits,))
        sizes[bits] = len(script.pack(translator)[0].encode())
    monkeypatch.undo()
    for largest, bits in ((sizes[8], 8), (sizes[8] - 1, 7), (sizes[7] - 1, 6)):
        monkeypatch.setattr(script, "LARGEST", largest)
        assert script.pack(translator)[1] == bits
    monkeypatch.setattr(script, "LARGEST", sizes[6] - 1)
    with pytest.raises(
        ValueError, match=rf"with 6 bits a weight the file has {sizes[6]:,} bytes, and at most .* width"
    ):
        script.pack(translator)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"corpus": "bible"}, "the run's corpus is 'bible'"),
        ({"decoder": "simple_rnn"}, "'bahdanau' with the score 'additive', the run has 'simple_rnn' with 'own'"),
        ({"score": "additive"}, "the run has 'luong' with 'additive'"),
    ],
)
def test_a_run_that_the_page_cannot_read_is_refused(change, words, run):
    translator = Translator(run)
    translator.settings = replace(translator.settings, **change)
    with pytest.raises(ValueError, match=words):
        script.pack(translator)


def test_what_has_lost_too_much_is_not_written(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "MOST_LOST", -100)
    assert script.main([str(run), "--into", str(tmp_path / "new")]) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("with 8 bits a weight BLEU on dev falls from ") and not (tmp_path / "new").exists()


def test_no_run_is_one_sentence(tmp_path, capsys):
    assert script.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"there is no run in {tmp_path}\n"


def test_a_part_of_the_sentences_is_said_to_be_one(run, tmp_path):
    script.write(run, tmp_path, limit=5)
    assert json.loads((tmp_path / f"{NAME}.json").read_text("utf8"))["sentences"] == 5
