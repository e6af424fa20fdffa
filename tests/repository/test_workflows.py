"""The workflows call what exists, with the least power, and end; so does the list of make's targets.

What is wrong with a workflow by itself, zizmor and actionlint say: `make lint`, and a job of tests.yml.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.name: path.read_text("utf8") for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
PARSED = {name: yaml.safe_load(text) for name, text in WORKFLOWS.items()}
MAKEFILE = (ROOT / "Makefile").read_text("utf8")
#: The power to write, where it is needed: by workflow and job.
WRITES = {
    ("weekly.yml", "report"): {"issues"},
    ("release.yml", "pages"): {"pages", "id-token"},
    ("release.yml", "package"): {"id-token"},
    ("release.yml", "image"): {"packages"},
    ("release.yml", "release"): {"contents"},
}


def jobs() -> list[tuple[str, str, dict]]:
    return [(name, job, body) for name, workflow in PARSED.items() for job, body in workflow["jobs"].items()]


def steps() -> list[dict]:
    return [step for _, _, job in jobs() for step in job.get("steps", [])]


def values(workflow: str, job: str, what: str) -> list[str]:
    """What a job is run once for."""
    return PARSED[workflow]["jobs"][job]["strategy"]["matrix"][what]


def make(*arguments: str) -> str:
    """What make says."""
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def scripts() -> list[str]:
    """The shell in the workflows and the one that they call."""
    return [(ROOT / ".ci" / "run").read_text("utf8"), *(step["run"] for step in steps() if "run" in step)]


def test_what_a_workflow_makes_is_a_target_of_the_makefile():
    lines = [line for script in scripts()[1:] for line in re.findall(r"(?:\.ci/run|make) ([^\n|;&]+)", script)]
    called = {word for line in lines for word in line.split()} - {'"$TARGET"'}
    called |= {*values("tests.yml", "make", "target"), *values("weekly.yml", "make", "target")}
    assert {"matrix", "audit", "zip"} <= called
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))
    assert called <= targets, called - targets


def test_the_parts_of_make_check_are_what_the_workflow_runs():
    (first,), (then,) = (re.findall(rf"{how}=1 (.*)$", MAKEFILE, re.M) for how in ("SIDE_BY_SIDE", "READY"))
    (thorough,) = re.findall(r"^check: ##.*\n\t@\$\(MAKE\) (\w+)=1 test$", MAKEFILE, re.M)
    run = values("tests.yml", "make", "target")
    assert [part for part in f"{first} {then}".split() if part in run] == run
    assert [step["env"][thorough] for step in PARSED["tests.yml"]["jobs"]["make"]["steps"] if "env" in step] == [1]
    quick, all_of_them = (make("--dry-run", "unit", f"{thorough}={word}") for word in ("", "1"))
    assert '-m "not thorough"' in quick and "--cov" not in quick
    assert "thorough" not in all_of_them and "--cov" in all_of_them and "--hypothesis-profile=full" in all_of_them
    quick, all_of_them = (make("--dry-run", "browser", "READY=1", f"{thorough}={word}") for word in ("", "1"))
    assert '-m "not thorough"' in quick and "thorough" not in all_of_them


def test_rows_of_the_weekly_matrix_are_those_of_the_noxfile():
    rows = values("weekly.yml", "matrix", "row")
    noxfile = (ROOT / "noxfile.py").read_text("utf8")
    (pythons,) = re.findall(r"^PYTHONS = \[(.*)\]$", noxfile, re.M)
    assert rows == [*(f"pinned-{python}" for python in re.findall(r"[\d.]+", pythons)), "oldest", "newest"]
    assert {"oldest", "newest", "table"} <= set(re.findall(r"^def (\w+)\(session", noxfile, re.M))
    installed = next(s for s in steps() if "\n" in str(s.get("with", {}).get("python-version", "")))
    assert installed["with"]["python-version"].split() == re.findall(r"[\d.]+", pythons)


def test_what_fails_in_a_week_opens_an_issue_but_for_the_count_of_complaints():
    weekly = PARSED["weekly.yml"]["jobs"]
    assert set(weekly["report"]["needs"]) == set(weekly) - {"myst", "report"}


def test_files_that_a_workflow_names_exist():
    named = {word for script in scripts() for word in re.findall(r"(?<![\w/])(?:scripts|\.ci|tests)/[\w./-]+", script)}
    named |= {use.removeprefix("./") for _, _, job in jobs() if (use := job.get("uses", "")).startswith("./")}
    modules = {
        name for script in scripts() for name in re.findall(r"python\d? -m ((?:scripts|website|tests)[\w.]*)", script)
    }
    named |= {f"{name.replace('.', '/')}.py" for name in modules}
    assert {".ci/run", "scripts/release_notes.py", ".github/workflows/tests.yml"} <= named
    assert [path for path in named if not (ROOT / path).is_file()] == []
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_every_job_ends_and_has_no_power_that_it_does_not_need():
    for name, workflow in PARSED.items():
        assert workflow["permissions"] in ({}, {"contents": "read"})
        assert workflow["concurrency"]["group"].startswith(name.removesuffix(".yml"))  # it does not run twice
    for name, job, body in jobs():
        if not body.get("uses", "").startswith("./"):  # another workflow's jobs have their own
            assert 0 < body["timeout-minutes"] <= 120, job
        powers = {what for what, power in body["permissions"].items() if power == "write"}
        assert powers == WRITES.get((name, job), set()), job


def test_a_failure_is_a_failure():
    for text in [*WORKFLOWS.values(), *scripts()]:
        assert not re.search(r"continue-on-error|\|\| *true|\|\| *:|set \+e", text), text


@pytest.mark.parametrize("script", scripts(), ids=range(len(scripts())))
def test_shell_is_sound(script):
    program = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    result = subprocess.run([program, "--shell=bash", "-"], input=script, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


# --- programs that the workflows run -------------------------------------------------------------------


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_failed_week_opens_one_issue_and_then_adds_to_it(tmp_path):
    (script,) = [script for script in scripts() if "gh issue" in script]
    for open_issue, said in (("", "issue create"), ("7", "issue comment 7")):
        program(tmp_path / "gh", f'echo "$@" >> {tmp_path}/log; case "$1 $2" in "issue list") echo {open_issue};; esac')
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": "address of the log"}
        subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], env=environment, check=True)
        calls = (tmp_path / "log").read_text().splitlines()
        assert calls[-1].startswith(said) and calls[-1].endswith("address of the log")
        assert len([call for call in calls if call.startswith(("issue create", "issue comment"))]) == 1
        (tmp_path / "log").unlink()


@pytest.fixture
def bare(tmp_path):
    """A machine with the shell's own programs and apt-get: what .ci/run installs there, and what it makes."""
    for name in ("bash", "dirname", "env", "sed"):
        (tmp_path / name).symlink_to(shutil.which(name))
    program(tmp_path / "id", "echo 0")
    program(tmp_path / "uname", "echo Linux")
    program(tmp_path / "apt-get", f'echo "$@" >> {tmp_path}/apt')
    program(tmp_path / "make", f'echo "$@" "$PIP_EXTRA_INDEX_URL" >> {tmp_path}/made')
    program(tmp_path / "sysctl", f'echo "$@" >> {tmp_path}/sysctl.log')
    program(tmp_path / "sudo", '[ "$1" != -n ] || shift; "$@"')
    program(tmp_path / "true", "")

    def run(*targets: str, **environment: str) -> tuple[list[str], str]:
        command, environment = [ROOT / ".ci" / "run", *targets], {"PATH": str(tmp_path), **environment}
        subprocess.run(command, env=environment, check=True, capture_output=True)
        log = tmp_path / "apt"
        installed = log.read_text().splitlines()[-1].split()[3:] if log.exists() else []
        log.unlink(missing_ok=True)
        return installed, (tmp_path / "made").read_text().splitlines()[-1].strip()

    run.folder = tmp_path
    return run


def test_continuous_integration_installs_what_its_targets_need(bare):
    assert bare() == (["git", "nodejs", "chromium-headless-shell", "bubblewrap"], "check")
    assert bare("lint") == ([], "lint")
    assert bare("unit") == (["git", "nodejs", "bubblewrap"], "unit")
    assert bare("browser", CHROMIUM="my-chrome") == (["nodejs", "chromium-headless-shell"], "browser")
    assert {"chromium-headless-shell", "latexmk"} <= set(bare("zip", "pdf")[0])  # make says which, if it misses them
    program(bare.folder / "id", "echo 1000")  # nobody in particular, who may do all without a password
    for name in ("google-chrome", "bwrap", "git"):
        program(bare.folder / name, "")
    assert bare() == (["nodejs"], "check")
    assert not (bare.folder / "sysctl.log").exists()
    assert bare("lint", GITHUB_ACTIONS="true")[1].startswith("lint https://download.pytorch.org/")  # without CUDA
    assert (bare.folder / "sysctl.log").exists()


@pytest.mark.parametrize("name,text", [("apt-get", None), ("sudo", "exit 1"), ("apt-get", '[ "$1" = update ]')])
def test_what_cannot_be_installed_is_named_at_once(bare, name, text):
    program(bare.folder / "id", "echo 1000")
    (bare.folder / name).unlink()
    if text:
        program(bare.folder / name, text)
    command = [ROOT / "scripts" / "programs.sh", "test"]
    result = subprocess.run(command, env={"PATH": str(bare.folder)}, capture_output=True, text=True)
    assert result.returncode == 1 and not (bare.folder / "apt").exists()
    *_, first, line, _, _ = result.stdout.splitlines()
    assert first == "make test needs programs that are not here: git node chromium bwrap."
    assert line.strip() == "Debian, Ubuntu: sudo apt-get install git nodejs chromium-headless-shell bubblewrap"


def test_only_linux_has_the_sandbox(bare):
    program(bare.folder / "uname", "echo Darwin")
    for name in ("git", "node", "google-chrome"):
        program(bare.folder / name, "")
    assert bare() == ([], "check")
    assert '-m "not thorough and not sandbox"' in make("--dry-run", "unit", "SYSTEM=Darwin", "THOROUGH=")
    assert "Darwin cannot build it." in make("--dry-run", "test", "SYSTEM=Darwin").splitlines()[-1]
    assert '-m "not thorough"' in make("--dry-run", "unit", "SYSTEM=Linux", "THOROUGH=")


def release_notes(tag: str, root: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "scripts.release_notes", tag]
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


def test_a_release_is_of_one_version(tmp_path):
    for name in ("scripts/__init__.py", "scripts/release_notes.py", "attnlib/version.py", "CITATION.cff"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    version = re.search(r'"(\d.*)"', (ROOT / "attnlib" / "version.py").read_text("utf8"))[1]
    text = f"# Changelog\n\n## Unreleased\n\nLater.\n\n## {version} - 2026-01-31\n\nA book.\n\n## 0.0.1\n\nA page.\n"
    (tmp_path / "CHANGELOG.md").write_text(text)
    assert release_notes(f"v{version}", tmp_path).stdout == "A book.\n"
    for tag, words in {"v9.9.9": "version.py says", version: "does not begin with v", "v0.0.1": "CITATION"}.items():
        result = release_notes(tag, tmp_path)
        assert result.returncode == 1 and words in result.stderr and not result.stdout
    (tmp_path / "CHANGELOG.md").write_text(text.replace(f"## {version} ", f"## {version}.post1 "))
    assert f"nothing under '## {version}'" in release_notes(f"v{version}", tmp_path).stderr


# --- make ----------------------------------------------------------------------------------------------


def test_make_alone_lists_every_target_that_people_call():
    shown = make()
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.M)
    listed = re.findall(r"^  make ([a-z-]+) +\S.*$", shown, re.M)
    assert listed[0] == "help" and len(listed) == len(set(listed))
    asking = {"tex", "ready", "colab-environment"}  # which are there for others
    assert set(listed) == set(phony.split()) - asking
    assert set(listed) | asking == set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))
    assert max(len(line) for line in shown.splitlines()) <= 120
    documents = "".join((ROOT / name).read_text("utf8") for name in ("README.md", "CONTRIBUTING.md"))
    assert set(re.findall(r"`make ([a-z-]+)", documents)) <= set(listed)
