"""Everybody gets a variant, never the published one, and a manifest knows whose it is."""

import csv
import itertools
import zipfile

import nbformat
import pytest

from attnlib.grading import __main__ as command
from attnlib.grading import assignment, variants
from attnlib.grading.assignment import choose, filled, model, names, options, read, values, written
from attnlib.grading.release import student_version

NAME = choose("a03")


def shown(name: str, seed: int) -> tuple[str, ...]:
    return tuple(value for mark, value in values(name, seed).items() if mark != "@SEED@")


@pytest.mark.parametrize("name", names())
def test_every_variant_asks_for_other_work_than_the_published_one(name):
    """At least fifty of them, each with two options that are not the first."""

    def written(value) -> tuple[str, ...]:
        return tuple(map(str, value.values())) if isinstance(value, dict) else (str(value),)

    all_options = list(options(name).values())
    assert shown(name, 0) == sum((written(each[0]) for each in all_options), ())
    others = {
        sum(map(written, chosen), ())
        for chosen in itertools.product(*all_options)
        if sum(value is not each[0] for value, each in zip(chosen, all_options, strict=True)) >= 2
    }
    assert len(others) >= 50
    assert {shown(name, seed) for seed in range(1, 400)} <= others
    assert len({shown(name, seed) for seed in range(1, 400)}) >= 50


def test_a_class_gets_its_hand_outs_and_a_manifest(tmp_path, capsys):
    (tmp_path / "class.csv").write_text("id,student\n1,Jane Doe\n2,Späth; Øyvind\n\n3,../Eve\n", "utf8")
    arguments = ["release", "a03", "--students", str(tmp_path / "class.csv"), "--to", str(tmp_path / "out")]
    assert command.main([*arguments, "--secret", "cedar"]) == command.WELL
    assert "who of 3 students has which variant" in capsys.readouterr().out
    seeds = variants.read_manifest(tmp_path / "out" / "manifest.csv", "a03")
    assert list(seeds) == ["Jane Doe", "Späth; Øyvind", "../Eve"] and len(set(seeds.values())) == 3
    for student, folder in zip(seeds, ["Jane Doe", "Späth_ Øyvind", "_Eve"], strict=True):
        assert seeds[student] == variants.seed_of(NAME, "cedar", student) != variants.seed_of(NAME, "oak", student)
        text = (tmp_path / "out" / folder / f"{NAME}.ipynb").read_text("utf8")
        assert text == student_version(NAME, seeds[student])
        assert "manifest" not in text and "cedar" not in text
        assert nbformat.reads(text, as_version=4).cells
    with open(tmp_path / "out" / "manifest.csv", newline="", encoding="utf8") as file:
        assert [row["variant"] for row in csv.DictReader(file)] == [
            "; ".join(f"{mark.strip('@')} {value}" for mark, value in values(NAME, seed).items())
            for seed in seeds.values()
        ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"class\.csv: nobody stands there"),
        ("student\n\n", r"class\.csv: nobody stands there"),
        ("id,student\n7,Jane\n8,\n", r"class\.csv, line 3: no name stands there"),
        ("Jane/Doe\njane_doe\n", r"line 2: 'jane_doe' and 'Jane/Doe' would share a folder"),
    ],
)
def test_a_roster_that_is_none_is_refused(text, message, tmp_path):
    (tmp_path / "class.csv").write_text(text, "utf8")
    with pytest.raises(ValueError, match=message):
        variants.read_roster(tmp_path / "class.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "has the columns student, assignment and seed"),
        (f"student,assignment,seed\nJane,{NAME},0\n", "line 2: '0' is no seed of a variant"),
        (f"student,assignment,seed\nJane,{NAME},x\n", "line 2: 'x' is no seed of a variant"),
        ("student,assignment,seed\nJane,a01_language_models,5\n", f"a manifest of a01_language_models, not of {NAME}"),
    ],
)
def test_a_manifest_that_is_none_is_refused(text, message, tmp_path):
    (tmp_path / "m.csv").write_text(text, "utf8")
    with pytest.raises(ValueError, match=message):
        variants.read_manifest(tmp_path / "m.csv", "a03")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["a03"], "The secret of the class is empty"),
        (["a03", "a04", "--secret", "cedar"], "--students takes one assignment"),
        (["a03", "--secret", "cedar", "--seed", "7"], "--students takes one assignment"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(more, message, tmp_path, capsys):
    (tmp_path / "class.csv").write_text("Jane\n")
    arguments = ["release", *more, "--students", str(tmp_path / "class.csv"), "--to", str(tmp_path / "out")]
    assert command.main(arguments) == command.WRONG_USE
    assert message in capsys.readouterr().err


@pytest.mark.thorough
def test_a_class_of_variants_is_graded_each_by_its_own(tmp_path):
    """It is said of who hands in somebody else's answers whose variant they answer."""
    manifest = {"ann": 11, "Bob B": 12, "cy": 13}
    assert len({shown(NAME, seed) for seed in manifest.values()}) == 3
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for student, answered in {"ann": 11, "Bob B": 11, "cy": 13, "who": 13}.items():
            own = manifest.get(student, 13)
            handout = nbformat.reads(student_version(NAME, own), as_version=4)
            cells = model(read(NAME, answered)) | dict.fromkeys(written(read(NAME, own)), "A text.")
            archive.writestr(f"{student}/{NAME}.ipynb", nbformat.writes(filled(handout, cells)))
    with open(tmp_path / "manifest.csv", "w", newline="", encoding="utf8") as file:
        csv.writer(file).writerows(
            [["student", "assignment", "seed"], *([student, NAME, seed] for student, seed in manifest.items())]
        )
    arguments = ["grade", "a03", str(tmp_path / "class.zip"), "--out", str(tmp_path / "grades.csv")]
    more = ["--variants", str(tmp_path / "manifest.csv"), "--similar", str(tmp_path / "similar.csv"), "--inputs", "w"]
    assert command.main([*arguments, *more]) == command.NOT_WELL
    with open(tmp_path / "grades.csv", newline="", encoding="utf8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    full = assignment.tests(read(NAME))
    points = {s: {q: float(row[f"{q}/{most}"] or 0) for q, most in full.items()} for s, row in rows.items()}
    assert points["ann"] == points["cy"] == full
    assert sum(points["Bob B"].values()) < sum(full.values())
    assert "variant:q" in rows["Bob B"]["flags"] and "as given to ann" in rows["Bob B"]["flags"]
    assert not rows["ann"]["flags"] and not rows["cy"]["flags"]
    assert rows["who"]["status"] == "NOT GRADED" and "does not stand in the manifest" in rows["who"]["why"]
    with open(tmp_path / "similar.csv", newline="", encoding="utf8") as file:
        first = next(csv.DictReader(file))
    assert {first["student"], first["other"]} == {"ann", "Bob B"} and first["as written"] == "1.00"


def test_a_seed_for_all_and_one_for_each_exclude_each_other(tmp_path, capsys):
    arguments = ["grade", "a03", str(tmp_path), "--out", str(tmp_path / "g.csv"), "--seed", "3", "--variants", "m.csv"]
    assert command.main(arguments) == command.WRONG_USE
    assert "--seed would say that all have one" in capsys.readouterr().err
