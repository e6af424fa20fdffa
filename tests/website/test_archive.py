"""website/archive.py: archives that unpack everywhere, the same bytes each time, or none at all."""

import zipfile

import pytest

from website import archive

FILES = {"b.txt": b"two", "a/é.txt": b"one" * 1000}


def test_the_same_files_give_the_same_bytes_in_one_folder(tmp_path):
    first = archive.write(tmp_path / "1" / "book-0.1.zip", FILES)
    second = archive.write(tmp_path / "2" / "book-0.1.zip", dict(reversed(FILES.items())))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as packed:
        assert packed.namelist() == ["book-0.1/a/é.txt", "book-0.1/b.txt"]
        assert packed.read("book-0.1/a/é.txt") == FILES["a/é.txt"]
        assert {entry.date_time for entry in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert first.stat().st_size < 1000, "it is not compressed"


@pytest.mark.parametrize(
    "bad",
    ["a:b", "what?", 'a"b', "a\\b", "a|b", "a*b", "<a>", "dot./a", "blank /a", "end.", "con", "x/AUX.txt", "Lpt1/a"],
)
def test_names_that_windows_refuses_are_named(bad, tmp_path):
    with pytest.raises(ValueError, match="Windows refuses") as error:
        archive.write(tmp_path / "x.zip", {**FILES, bad: b""})
    assert f"x/{bad}: " in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_names_that_differ_by_case_alone_and_long_ones_are_named_and_others_are_fine():
    assert archive.problems(["a/.b", "console/com/c.txt", "a b/c.d", "auxiliary", "a..b", "nul_.txt"]) == []
    assert archive.problems(["a/B", "A/b"]) == ["A/b: the same as a/B where case does not count"]
    assert archive.problems(["n" * 140, "m" * 141]) == [f"{'m' * 141}: longer than 140 characters"]


def test_an_archive_that_is_too_large_is_not_written(tmp_path, monkeypatch):
    target = archive.write(tmp_path / "x.zip", FILES)
    before = target.read_bytes()
    monkeypatch.setattr(archive, "LARGEST", len(before) - 1)
    with pytest.raises(ValueError, match=r"x\.zip would weigh .* is the limit"):
        archive.write(target, FILES)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_what_no_reader_needs_stays_behind(tmp_path):
    for name in (
        ".buildinfo", ".strict", "index.html", "objects.inv", "book/index.html", "book/a.html", "_sources/book/a.md",
        "_static/scripts/bootstrap.js", "_static/scripts/bootstrap.js.map", "_static/mathjax/startup.js",
        "_static/mathjax/tex-svg.js", "_static/mathjax/input/tex.js", "_static/mathjax/output/svg/fonts/tex.js",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert set(archive.book(tmp_path)) == {
        "README.txt", "LICENSE.txt", "index.html", "pages/book/index.html", "pages/book/a.html",
        "pages/_sources/book/a.md", "pages/_static/scripts/bootstrap.js", "pages/_static/mathjax/startup.js",
        "pages/_static/mathjax/input/tex.js",
    }  # fmt: skip


def test_without_a_book_or_the_commit_of_its_package_nothing_is_packed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setattr(archive, "BUILT", tmp_path)
    monkeypatch.setattr(archive, "write", lambda target, files: pytest.fail("nothing is to be written"))
    assert archive.main() == 1
    assert "`make zip` builds it" in capsys.readouterr().err
    (tmp_path / "index.html").touch()
    assert archive.main() == 1
    assert "is no git repository" in capsys.readouterr().err
