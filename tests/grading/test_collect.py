"""Who handed in what: names of course sites, folders, archives; and what no archive may do."""

import stat
import zipfile

import pytest

from attnlib.grading import collect
from tests.grading.handins import NAME, zipped


@pytest.mark.parametrize(
    "name,student,number,own",
    [
        (f"doe_jane_LATE_12345_678_{NAME}-1.ipynb", "doe_jane", "12345", f"{NAME}-1.ipynb"),
        (f"doejane_12345_678_Copy of {NAME} (1).ipynb", "doejane", "12345", f"Copy of {NAME} (1).ipynb"),
        (f"doejane_12345_678_my_2_3_{NAME}.ipynb", "doejane", "12345", f"my_2_3_{NAME}.ipynb"),
        ("o'neil_späth_1_2_x.ipynb", "o_neil_späth", "1", "x.ipynb"),
        (f"Jane Doe - {NAME}.ipynb", "Jane Doe", "", f"{NAME}.ipynb"),
        ("Jane Doe_4711_assignsubmission_file_", "Jane Doe", "4711", ""),
        (f".._.._1_2_{NAME}.ipynb", "_", "1", f"{NAME}.ipynb"),
        (f"{NAME}.ipynb", "", "", f"{NAME}.ipynb"),
        (f"Copy of {NAME} (1).ipynb", "", "", f"Copy of {NAME} (1).ipynb"),
        ("jane.ipynb", "", "", "jane.ipynb"),
    ],
)
def test_names_of_course_sites(name, student, number, own):
    assert collect.who(name, NAME) == (student, number, own)
    assert collect.tidy(student or "x") == (student or "x")


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
    for number in (3, 4):
        (tmp_path / "in" / f"lee_{number}_9_{NAME}.ipynb").write_text("x")
    handins, _ = collected(tmp_path / "in", tmp_path / "scratch")
    assert [h.student for h in handins] == ["lee_3", "lee_4"]


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


def test_an_archive_that_fills_the_disk_is_refused(tmp_path):
    (tmp_path / "in.zip").write_bytes(zipped({"ann/x.ipynb": bytes(30_000_000)}))
    with pytest.raises(collect.Refused, match="30 MB together"):
        collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert list((tmp_path / "scratch").rglob("*.ipynb")) == []


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


def test_one_students_bomb_costs_the_others_nothing(tmp_path):
    bomb = zipped({"x.ipynb": bytes(30_000_000)})
    (tmp_path / "in.zip").write_bytes(zipped({"ann_1_2_x.zip": bomb, "bob_3_4_x.ipynb": "x"}))
    handins, _ = collected(tmp_path / "in.zip", tmp_path / "scratch")
    assert [(h.student, bool(h.file)) for h in handins] == [("ann", False), ("bob", True)]
    assert "30 MB together" in handins[0].problem
