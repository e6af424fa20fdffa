"""A well-known corpus on the web, for readers with a network; no chapter needs it."""

import zipfile
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from attnlib.data.cards import DataCard, Splits
from attnlib.data.examples import part_of
from attnlib.data.translation import tokenize
from attnlib.data.wheels import DataError, data_directory
from attnlib.extras import extra

CARDS = {
    "fra-eng": DataCard(
        title="Sentences of learners, English to French",
        source="fra-eng.zip, the copy that Dive into Deep Learning serves; made by manythings.org/anki from "
        "tatoeba.org",
        licence="CC BY 2.0 FR",
        size="about 167000 lines; every English sentence is used once",
        split="by English sentence: its digest alone decides; the same French may stand in two parts, under other "
        "English",
    ),
}


class Public(NamedTuple):
    """A file on the web."""

    url: str
    checksum: str  # "sha1:…" or "sha256:…"


PUBLIC = {
    "fra-eng": Public(
        "http://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip", "sha1:94646ad1522d915e7b0f9296181140edcf86a4f5"
    ),
}
TIMEOUT = 30  # seconds without a byte, after which the network counts as gone


class SentencePair(NamedTuple):
    """A sentence and its translation."""

    source: tuple[str, ...]
    target: tuple[str, ...]


def load_public(name: str) -> Splits[list[SentencePair]]:
    """A corpus from the web (see `CARDS`): downloaded at the first call, from disk after that.

    Args:
        name: "fra-eng", pairs of English and French sentences, as tokens.

    Raises:
        ValueError: the name is not known.
        DataError: no network, a wrong checksum, a cut connection, a full disk or an unwritable directory.
    """
    return _sentences(fetch_public(name))


def fetch_public(name: str) -> Path:
    """The file of a public corpus in `data_directory()`, its checksum verified on every call.

    A file on disk that is damaged is fetched again.

    Raises:
        ValueError: the name is not known.
        DataError: no network, a wrong checksum, a cut connection, a full disk or an unwritable directory.
    """
    if name not in PUBLIC:
        raise ValueError(f"unknown corpus {name!r}, known are {', '.join(PUBLIC)}")
    with extra("data"):
        import pooch
        import requests

    url, checksum = PUBLIC[name]
    directory = data_directory()
    pooch.get_logger().setLevel("WARNING")  # it announces every download in two lines
    # a bar of our own, because pooch's stays on the screen when the connection breaks; pooch tells it the total,
    # but would take one without for no bar
    bar = tqdm(desc=f"downloading {name}", total=1, unit="B", unit_scale=True, delay=0.2, leave=False)
    try:
        with bar:
            download = pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT)
            file = f"{name}{Path(url).suffix}"
            return Path(pooch.retrieve(url, known_hash=checksum, fname=file, path=directory, downloader=download))
    except requests.HTTPError as error:
        raise DataError(f"could not download {name}: {url} answered {error.response.status_code}") from error
    except requests.RequestException as error:  # an OSError too, so before the disk's
        raise DataError(f"could not download {name}: no network, or the connection to {url} broke") from error
    except ValueError as error:
        raise DataError(
            f"could not download {name}: the file served has another checksum than {checksum}, so it was thrown away"
        ) from error
    except OSError as error:
        why = error.strerror or "permission denied"  # pooch tells it in three sentences
        raise DataError(
            f"the data directory {directory} cannot be written ({why}): set ATTNLIB_DATA to one that can"
        ) from error


def _sentences(path: Path) -> Splits[list[SentencePair]]:
    with zipfile.ZipFile(path) as archive:
        text = archive.read("fra-eng/fra.txt").decode("utf8")
    parts: dict[str, dict[tuple[str, ...], SentencePair]] = {part: {} for part in Splits._fields}
    for line in text.strip("\n").split("\n"):
        english, french = line.split("\t")[:2]  # later editions add a third column, who wrote it
        source = tokenize(english, "en")
        parts[part_of(" ".join(source))].setdefault(source, SentencePair(source, tokenize(french, "fr")))
    return Splits(*(list(part.values()) for part in parts.values()))
