"""Files of the web: fetched once and whole from a server of our own, or refused in one sentence."""

import hashlib
import http.server
import io
import logging.handlers
import socket
import threading
import zipfile

import pooch
import pytest
import requests

from attnlib.data import DataError, public
from attnlib.data.public import Public, fetch_public, load_public

FRENCH = [
    "Look at 7!\tRegarde 7 !",
    "Look at 7!\tRegardez 7 !",
    *(f"This is {n}.\tC’est\u202f{n}.\tCC BY" for n in range(60)),
]


def archive(lines) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        written.writestr("fra-eng/_about.txt", "x")
        written.writestr("fra-eng/fra.txt", "\n".join(lines) + "\n")
    return buffer.getvalue()


FILES = {"/fra-eng.zip": archive(FRENCH)}
CHECKSUM = "sha1:" + hashlib.sha1(FILES["/fra-eng.zip"]).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves `FILES`, counts the requests, and can hang up in the middle of an answer."""

    requests = 0
    cut = False


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        content = FILES.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if self.server.cut else content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty data directory."""
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def published(server, store, monkeypatch):
    """The corpus at the server, with its checksum; say so again with another path, checksum or port."""

    def publish(path, checksum="sha256:" + "0" * 64, port=server.server_port):
        url = f"http://127.0.0.1:{port}{path}"
        monkeypatch.setitem(public.PUBLIC, "fra-eng", Public(url, checksum))
        return url

    publish("/fra-eng.zip", CHECKSUM)
    return publish


def listing(directory):
    return sorted(path.name for path in directory.rglob("*"))


def refused(sentence: str) -> str:
    """The message of the one error that `fetch_public` raises; it is one line."""
    with pytest.raises(DataError, match=sentence) as error:
        fetch_public("fra-eng")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_file_is_fetched_once_and_whole_and_again_when_it_is_damaged(published, server, store):
    path = fetch_public("fra-eng")
    assert path == store / "fra-eng.zip" and path.read_bytes() == FILES["/fra-eng.zip"]
    assert fetch_public("fra-eng") == path and server.requests == 1
    assert listing(store) == ["fra-eng.zip"]  # nothing is left of the downloads
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert fetch_public("fra-eng").read_bytes() == FILES["/fra-eng.zip"] and server.requests == 2


def test_download_shows_a_progress_bar_and_nothing_else(published, server, store, capfd, monkeypatch):
    said = logging.handlers.BufferingHandler(99)
    pooch.get_logger().addHandler(said)
    bars = []

    class Bar(public.tqdm):
        def close(self):
            bars.append((self.n, self.total))
            super().close()

    monkeypatch.setattr(public, "tqdm", lambda **options: Bar(disable=False, file=io.StringIO(), **options))
    fetch_public("fra-eng")
    size = len(FILES["/fra-eng.zip"])
    assert bars[0] == (size, size)
    bars.clear()
    (store / "fra-eng.zip").unlink()
    server.cut = True
    with pytest.raises(DataError):
        fetch_public("fra-eng")
    assert 0 < bars[0][0] < bars[0][1] == size  # closed, too
    pooch.get_logger().removeHandler(said)
    assert capfd.readouterr() == ("", "") and not said.buffer


@pytest.mark.parametrize(
    ("path", "cut", "sentence"),
    [
        ("/fra-eng.zip", False, "the file served has another checksum.* sha256:" + "0" * 64),
        ("/gone.zip", False, r"http://127.0.0.1:\d+/gone.zip answered 404"),
        ("/fra-eng.zip", True, "no network, or the connection to http://127.0.0.1:.* broke"),
    ],
)
def test_a_download_that_fails_leaves_nothing_and_is_made_anew(path, cut, sentence, published, server, store):
    server.cut = cut
    published(path)
    refused(f"could not download fra-eng: {sentence}")
    assert listing(store) == []
    server.cut = False
    published("/fra-eng.zip", CHECKSUM)
    assert fetch_public("fra-eng").read_bytes() == FILES["/fra-eng.zip"]


@pytest.mark.parametrize("listens", [False, True])
def test_a_server_that_is_not_there_or_says_nothing_is_given_up(listens, published, store, monkeypatch):
    patience, send = [], requests.adapters.HTTPAdapter.send

    def noted(self, request, **options):
        patience.append(options["timeout"])
        return send(self, request, **options)

    monkeypatch.setattr(public, "TIMEOUT", 0.1)
    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", noted)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if listens:
            silent.listen()
        url = published("/fra-eng.zip", port=silent.getsockname()[1])
        refused(f"could not download fra-eng: no network, or the connection to {url}")
    assert patience == [0.1]
    assert listing(store) == []


def test_a_directory_that_cannot_be_written_and_a_full_disk_are_one_sentence(published, server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("ATTNLIB_DATA", str(tmp_path / "file" / "store"))
    message = refused(r"cannot be written \(Not a directory\): set ATTNLIB_DATA to one that can")
    assert str(tmp_path / "file" / "store") in message and server.requests == 0
    errors = iter([PermissionError("Permission denied | Pooch could not.\nWill not."), OSError(28, "No space left")])

    def fail(*arguments, **options):
        raise next(errors)

    monkeypatch.setattr(pooch, "retrieve", fail)
    refused(r"cannot be written \(permission denied\): set ATTNLIB_DATA")
    refused(r"cannot be written \(No space left\): set ATTNLIB_DATA")


def test_unknown_corpus_is_named(store):
    for call in (fetch_public, load_public):
        with pytest.raises(ValueError, match="unknown corpus 'wmt14', known are fra-eng"):
            call("wmt14")
    assert not store.exists()


def test_sentences_become_pairs_split_by_their_english(published):
    parts = load_public("fra-eng")
    for part, tenths in zip(parts, (range(2, 10), [1], [0]), strict=True):
        digests = [hashlib.sha256(" ".join(pair.source).encode()).hexdigest() for pair in part]
        assert digests and all(int(digest[:16], 16) % 10 in tenths for digest in digests)
    expected = [(("this", "is", str(n), "."), ("c'", "est", str(n), ".")) for n in range(60)]
    expected.append((("look", "at", "7", "!"), ("regarde", "7", "!")))  # of two translations, the first
    assert sorted(pair for part in parts for pair in part) == sorted(expected)


def test_card_and_address_belong_together():
    assert list(public.CARDS) == list(public.PUBLIC) == ["fra-eng"]
    for url, checksum in public.PUBLIC.values():
        method, digest = checksum.split(":")
        assert len(bytes.fromhex(digest)) == hashlib.new(method).digest_size
        requests.Request("GET", url).prepare()  # refuses what is no address
    assert public.PUBLIC["fra-eng"].checksum.endswith("86a4f5") and "CC BY 2.0 FR" in public.CARDS["fra-eng"].licence
