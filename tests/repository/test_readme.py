"""What the README says: its links, its numbers and its commands. Its code is run by test_doctests and test_wheel."""

import re

from attnlib import DECODERS, SCORES
from attnlib.grading import assignment
from attnlib.training import translate
from tests.repository.test_repository import CONFIG, ROOT

README = (ROOT / "README.md").read_text("utf8")
NUMBERS = dict(zip(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], range(2, 11), strict=True))


def test_the_readme_reads_as_the_page_of_a_package_index():
    """There, a path leads nowhere."""
    assert [target for target in re.findall(r"\]\(([^)]*)\)", README) if not target.startswith("https://")] == []
    address = CONFIG["repository"]["url"]
    files = re.findall(rf"{re.escape(address)}/blob/main/([\w./-]+)\)", README)
    raw = address.replace("github.com", "raw.githubusercontent.com")
    files += re.findall(rf"{re.escape(raw)}/main/([\w./-]+)\)", README)
    assert len(files) >= 5 and all((ROOT / name).exists() for name in files)


def test_numbers_are_those_of_what_is_there():
    there = {
        r"any of (\w+) decoders": len(DECODERS),
        r"and (\w+) scores": len(SCORES),
        r"(\w+) famous mistakes": len(list((ROOT / "book").glob("bug_*.ipynb"))),
        r"(\w+) assignments are graded": len(assignment.names()),
    }
    assert {words: [NUMBERS[found.lower()] for found in re.findall(words, README)] for words in there} == {
        words: [number] for words, number in there.items()
    }


def test_the_commands_without_make_are_those_of_make():
    makefile = (ROOT / "Makefile").read_text("utf8").replace("$(SANDBOX)", "").replace(" --quiet", "")
    makefile = makefile.replace("$(BIN)/", ".venv/bin/").replace("$(call install,", ".venv/bin/pip install ")
    (block,) = re.findall(r"Without make</summary>.*?```sh\n(.*?)```", README, re.S)
    commands = [c for line in block.splitlines() for c in line.split("  #")[0].strip().split(" && ") if c]
    assert len(commands) > 12
    made_otherwise = ["python3 -m venv .venv"]
    assert [command for command in commands if command not in makefile.replace(" --no-progress", "")] == made_otherwise


def test_the_commands_of_the_translator_are_those_it_prints_itself():
    lines = re.findall(r"^.*-m attnlib\.training\.translate .*$", README, re.M)
    assert len(lines) >= 4
    assert [line for line in lines if f"    {line}\n" not in translate.__doc__] == []
