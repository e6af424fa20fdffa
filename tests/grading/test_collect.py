"""Who handed in what: names of course sites, folders, archives; and what no archive may do."""

import stat
import zipfile

import pytest

from attnlib.grading import collect
from attnlib.grading.unpack import Budget
from tests.grading.handins import NAME, zipped


@pytest.mark.parametrize(
    "name,student,own",
    [
        (f"Jane Doe - {NAME}.ipynb", "Jane Doe", f"{NAME}.ipynb"),
        (f"jane_Copy of {NAME} (1).ipynb", "jane", f"Copy of {NAME} (1).ipynb"),
        (f"{NAME}.ipynb", "", f"{NAME}.ipynb"),
        (f"Copy of {NAME} (1).ipynb", "", f"Copy of {NAME} (1).ipynb"),
        ("jane.ipynb", "", "jane.ipynb"),
    ],
)
def test_names_that_people_make(name, student, own):
    assert collect.who(name, NAME) == (student, own)


@pytest.mark.parametrize(
    "name,number",
    [
        (f"{NAME}.ipynb", 0),
        (f"{NAME}-3.ipynb", 3),
        (f"{NAME} (2).ipynb", 2),
        (f"{NAME}(2).ipynb", 2),
        (f"Copy of Copy of {NAME}-1 (12).ipynb", 12),
        (f"Copy_of_{NAME}.ipynb", 0),
        (f"{NAME} copy 4.ipynb", 4),
    ],
)
def test_versions_of_a_file(name, number):
    assert collect.version(name) == (NAME, number)


def collected(folder, scratch):
    scratch.mkdir()
    return collect.collect(folder, NAME, scratch)


def test_folders_of_students(tmp_path):
    top = tmp_path / "in"
    files = [
        f"ann/{NAME}.ipynb",
        "bob/renamed.ipynb",
        f"cy/{NAME}.ipynb",
        "cy/a05_other-9.ipynb",
        f"dee/{NAME}-2.ipynb",
        f"dee/{NAME}-10.ipynb",
        f"Eve X_77_assignsubmission_file_/{NAME}.ipynb",
        f"fay/deep/er/{NAME}.ipynb",
        "gus/essay.pdf",
        "hal:o/x.ipynb",
        "hal_o/x.ipynb",
        "loose.ipynb",
        ".hidden",
    ]
    for file in files:
        (top / file).parent.mkdir(parents=True, exist_ok=True)
        (top / file).write_text(file)
    (top / "ivy").mkdir()
    (top / "ivy" / f"{NAME}.ipynb").symlink_to(top / "ann" / f"{NAME}.ipynb")
    handins, lost = collected(top, tmp_path / "scratch")
    found = {h.student: h.file and h.file.read_text() for h in handins}
    assert found == {
        "ann": f"ann/{NAME}.ipynb",
        "bob": "bob/renamed.ipynb",
        "cy": f"cy/{NAME}.ipynb",
        "dee": f"dee/{NAME}-10.ipynb",
        "Eve X": f"Eve X_77_assignsubmission_file_/{NAME}.ipynb",
        "fay": f"fay/deep/er/{NAME}.ipynb",
        "gus": None,
        "hal_o": "hal:o/x.ipynb",
        "hal_o_2": "hal_o/x.ipynb",
        "ivy": None,
    }
    by_name = {h.student: h for h in handins}
    assert by_name["Eve X"].id == "77"
    assert by_name["cy"].notes == [f"several notebooks: graded is {NAME}.ipynb, not a05_other-9.ipynb"]
    assert by_name["gus"].problem == "no notebook (.ipynb) among: essay.pdf"
    assert "is a link" in by_name["ivy"].problem
    assert lost == ["loose.ipynb: whose is it? Put it into a folder with the student's name."]


def test_two_people_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("lee_3_9", "lee_4_9", "kim_4_5_6", "kim_4_7_8", "Kim_9_1"):
        (tmp_path / "in" / f"{name}_{NAME}.ipynb").write_text("x")
    (tmp_path / "in" / "Lee_3").mkdir()
    (tmp_path / "in" / "Lee_3" / "x.ipynb").write_text("another one")
    handins, _ = collected(tmp_path / "in", tmp_path / "scratch")
    assert [h.student for h in handins] == ["Kim_9", "Lee_3", "kim_4", "lee_3_2", "lee_4"]


def test_many_names_are_cut_short(tmp_path):
    names = [f"{n:02d}" for n in range(20)]
    files = {f"ann/{n}.ipynb": "x" for n in names} | {f"bob/{n}.txt": "x" for n in names}
    (tmp_path / "in.zip").write_bytes(zipped(files))
    ann, bob = collected(tmp_path / "in.zip", tmp_path / "scratch")[0]
    assert ann.notes[0].endswith(
        "graded is 19.ipynb, not " + ", ".join(f"{n}.ipynb" for n in names[:8]) + " and 11 more"
    )
    assert bob.problem.endswith("07.txt and 12 more")


@pytest.mark.parametrize("outer", ["", "class/", "class/again/"])
def test_archives_of_folders(tmp_path, outer):
    (tmp_path / "in.zip").write_bytes(zipped({f"{outer}ann/x.ipynb": "1", f"{outer}bob/x.ipynb": "2"}))
    handins, lost = collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert [(h.student, h.file.read_text()) for h in handins] == [("ann", "1"), ("bob", "2")] and lost == []


@pytest.mark.parametrize(
    "name", ["../evil.ipynb", "/evil.ipynb", "a/../../evil.ipynb", "..\\evil.ipynb", "C:\\evil.ipynb"]
)
def test_an_archive_that_writes_elsewhere_is_refused(tmp_path, name):
    (tmp_path / "in.zip").write_bytes(zipped({name: "x"}))
    with pytest.raises(collect.Refused, match="written elsewhere"):
        collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert not [path for path in tmp_path.rglob("*") if "evil" in path.name]


def test_an_archive_with_a_link_or_that_is_broken_is_refused(tmp_path):
    link = zipfile.ZipInfo("ann/x.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(collect.Refused, match="a link"):
        collected(tmp_path / "in.zip", tmp_path / "scratch")
    (tmp_path / "half.zip").write_bytes(zipped({"ann/x.ipynb": "x"})[:-30])
    with pytest.raises(collect.Refused, match="neither a folder nor a zip"):
        collected(tmp_path / "half.zip", tmp_path / "scratch2")


def test_one_students_bomb_costs_the_others_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(collect, "LARGEST_OF_ONE", 1_000_000)
    bomb = zipped({"x.ipynb": bytes(1_000_001)})
    (tmp_path / "in.zip").write_bytes(zipped({"ann_1_2_x.zip": bomb, "bob_3_4_x.ipynb": "x"}))
    handins, _ = collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert [(h.student, bool(h.file)) for h in handins] == [("ann", False), ("bob", True)]
    assert "ann_1_2_x.zip of ann is not unpacked" in handins[0].problem and "than 1 MB" in handins[0].problem


def written(folder):
    """Bytes and files that lie in a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files), len(files)


@pytest.mark.parametrize("shape", ["wide", "deep", "both", "many"])
def test_the_archives_of_a_student_write_no_more_in_sum_than_the_limit(tmp_path, monkeypatch, shape):
    """Archives in archives, each of them small: 25 kB of them once wrote 1.5 GB."""
    monkeypatch.setattr(collect, "LARGEST_OF_ONE", 3_000_000)
    monkeypatch.setattr(collect, "MOST_FILES_OF_ONE", 60)
    bomb = zipped({"x.ipynb": bytes(400_000)})
    if shape == "wide":
        bomb = zipped({f"{n}.zip": bomb for n in range(40)})
    elif shape == "deep":
        for n in range(20):
            bomb = zipped({f"{n}.zip": bomb, "x.ipynb": bytes(400_000)})
    elif shape == "both":
        for _ in range(3):
            bomb = zipped({f"{n}.zip": bomb for n in range(6)})
    else:
        bomb = zipped({f"{n}.zip": zipped({f"{m}.ipynb": "" for m in range(9)}) for n in range(9)})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ann_1_2_x.zip").write_bytes(bomb)
    (tmp_path / "in" / "ann_1_3_y.zip").write_bytes(bomb)
    (tmp_path / "in" / "bob_3_4_x.zip").write_bytes(zipped({f"{NAME}.ipynb": "bob's"}))
    handins, _ = collected(tmp_path / "in", tmp_path / "scratch")
    size, files = written(tmp_path / "scratch")
    assert size <= 3_000_005 and files <= 61 and (size > 2_000_000 or files > 50)
    ann, bob = handins
    said = ann.problem or ann.notes[-1]
    assert "of ann is not unpacked" in said and "no more than 3 MB in 60 files together" in said
    assert bob.file.read_text() == "bob's" and not bob.notes


def test_the_archives_of_a_class_have_a_limit_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(
        collect, "Budget", lambda whose, size=2_500_000, files=50, above=None: Budget(whose, size, files, above)
    )
    (tmp_path / "in").mkdir()
    for n in range(4):
        (tmp_path / "in" / f"s{n}_{n}_9_x.zip").write_bytes(zipped({"x.ipynb": bytes(1_000_000)}))
    handins, _ = collected(tmp_path / "in", tmp_path / "scratch")
    assert written(tmp_path / "scratch") == (2_000_000, 2)
    assert [bool(h.file) for h in handins] == [True, True, False, False]
    assert (
        "of s2 is not unpacked" in handins[2].problem
        and "of the class may write no more than 2.5 MB" in handins[2].problem
    )


def test_a_broken_archive_costs_one_student(tmp_path):
    good = zipped({"x.ipynb": "x" * 1000})
    at = good.index(b"x.ipynb") + len(b"x.ipynb")
    deep = zipped({f"{NAME}.ipynb": "x"})
    for _ in range(60):
        deep = zipped({"x.zip": deep})
    (tmp_path / "in").mkdir()
    bad = {"text": b"no archive", "half": good[:-40], "bits": good[:at] + b"\xff" * 8 + good[at + 8 :], "deep": deep}
    bad["folders"] = zipped({"a/" * 1500 + "x.ipynb": "x"})
    for n, (name, content) in enumerate(bad.items()):
        (tmp_path / "in" / f"{name}_{n}_9_x.zip").write_bytes(content)
    (tmp_path / "in" / "good_77_9_x.zip").write_bytes(good)
    handins, lost = collected(tmp_path / "in", tmp_path / "scratch")
    assert [h.student for h in handins if h.file] == ["good"] and lost == []
    problems = {h.student: h.problem for h in handins if not h.file}
    assert problems.keys() == bad.keys()
    assert all("cannot be unpacked" in problems[name] for name in ("text", "half", "bits"))
    assert problems["deep"] == "deep has more than 40 folders and archives within each other"
    assert "more than 40 folders" in problems["folders"]
