"""The desk as a browser meets it: who is let in, what two of them change, and what a killed desk has kept."""

import asyncio
import json
import os
import re
import subprocess
import sys
import webbrowser
from types import SimpleNamespace

import pytest
from tornado.httpclient import AsyncHTTPClient

from attnlib.course.book import ROOT
from attnlib.grading import __main__ as command
from attnlib.grading.desk import kept, server
from attnlib.grading.desk.store import Change
from tests.grading.desk_class import HOSTILE, LONG, STUDENTS, TEXT, a_class
from tests.grading.handins import NAME

NOTHING = {"items": [], "none": False, "points": None, "comment": "", "corrected": {}}


@pytest.fixture
def course(tmp_path):
    """A course folder in which a class was graded."""
    kept.keep(a_class(), tmp_path)
    return tmp_path


async def ask(address, path, body=None, token=None, **headers):
    """Ask the desk at its address; `(status, headers, what it said)`."""
    place, _, known = address.partition("#")
    named = {"X-Desk-Token": known if token is None else token} | headers
    how = {} if body is None else {"method": "POST", "body": json.dumps(body)}
    answer = await AsyncHTTPClient().fetch(place + path, headers=named, raise_error=False, **how)
    kind = answer.headers["Content-Type"]
    said = json.loads(answer.body) if kind.startswith("application/json") else answer.body.decode()
    return SimpleNamespace(code=answer.code, headers=answer.headers, said=said)


def talk(course, visit):
    """Open the desk, let `visit(desk, asking)` talk to it, and close it."""

    async def main():
        with server.opened(NAME, course) as desk:
            listening = await server.listen(desk)
            try:
                return await visit(desk, lambda path, *rest, **how: ask(desk.address, path, *rest, **how))
            finally:
                listening.stop()
                await listening.close_all_connections()

    return asyncio.run(main())


def change(student, seen=0, since=0, **value):
    return {"since": since, "changes": [{"key": f"cell/{student}/{TEXT}", "seen": seen, "value": NOTHING | value}]}


PATHS = {"class": None, "news?since=-1": None, "statistics": None, "late": None, "export": {}, "change": change("ann")}


def test_only_who_knows_the_token_reads_or_writes(course):
    async def visit(desk, asking):
        for path, body in PATHS.items():
            for token in ("", "wrong", desk.token[:-1], desk.token + "x"):
                refused = await asking(path, body, token=token)
                assert refused.code == 403 and "token" in refused.said["error"], path
                assert not set(refused.said) - {"error"}
        assert desk.marks.store.entries == {} and not desk.folder.exists()
        assert (await asking("class")).code == 200
        page = await asking("", token="")
        assert page.code == 200 and desk.token not in page.said and "ann" not in page.said

    talk(course, visit)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Host": "localhost:{port}", "Origin": "http://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_site_is_refused_even_with_the_token(course, headers):
    async def visit(desk, asking):
        named = {name: value.format(port=desk.port) for name, value in headers.items()}
        for path, body in {**PATHS, "": None, "main.js": None}.items():
            refused = await asking(path, body, **named)
            assert refused.code == 403 and set(refused.said) == {"error"}, path
        assert desk.marks.store.entries == {} and not desk.folder.exists()
        own = f"http://127.0.0.1:{desk.port}"
        assert (await asking("change", change("ann", points=1), Origin=own)).code == 200
        assert (await asking("class", Host=f"localhost:{desk.port}")).code == 200

    talk(course, visit)


def test_each_answer_forbids_foreign_scripts_frames_and_caches(course):
    async def visit(desk, asking):
        for path in ("", "desk.css", "main.js", "icon.svg", "class", "nothing", "news"):
            found = await asking(path)
            policy = dict(part.strip().split(" ", 1) for part in found.headers["Content-Security-Policy"].split(";"))
            assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'", path
            assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
            assert policy["require-trusted-types-for"] == "'script'" and policy["trusted-types"] == "'none'"
            assert found.headers["X-Content-Type-Options"] == "nosniff"
            assert found.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert found.headers["Cache-Control"] == "no-store" and found.headers["Referrer-Policy"] == "no-referrer"
            assert "Access-Control-Allow-Origin" not in found.headers and "Server" not in found.headers
        assert [(await asking(path)).code for path in ("nothing", "server.py", "..%2fserver.py", "static")] == [404] * 4

    talk(course, visit)


def test_the_page_makes_no_html_of_anything_and_loads_nothing_from_elsewhere():
    for path in server.STATIC.iterdir():
        text = path.read_text("utf8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", text), path
        assert re.findall(r"https?://[^\s\"']+", text) in ([], ["http://www.w3.org/2000/svg"]), path
        assert " style=" not in text and not re.search(r"<\w[^>]* on\w+=", text), path


def test_what_students_wrote_arrives_whole_as_data(course):
    async def visit(desk, asking):
        found = await asking("class")
        assert found.headers["Content-Type"] == "application/json; charset=utf-8"
        [unit] = [unit for unit in found.said["units"] if unit["id"] == TEXT]
        assert unit["answers"]["jim"] == {TEXT: HOSTILE} and unit["answers"]["kim"] == {TEXT: LONG}
        assert set(found.said["students"]) == set(STUDENTS)
        numbers = [student["number"] for student in found.said["students"].values()]
        assert sorted(numbers) == list(range(1, 13)) != numbers
        assert [name for name, student in found.said["students"].items() if student["marked_late"]] == ["ben"]

    talk(course, visit)


def test_two_browsers_merge_and_a_conflict_shows_both(course):
    async def visit(desk, asking):
        first = await asking("change", change("ann", points=1))
        assert first.said["saved"]["cell/ann/q4"]["revision"] == 1 and first.said["conflicts"] == {}
        second = await asking("change", change("ben", points=2))  # has not seen the first, and need not have
        assert second.said["conflicts"] == {} and second.said["entries"].keys() == {"cell/ann/q4", "cell/ben/q4"}
        assert (second.said["points"]["ann"][TEXT], second.said["points"]["ben"][TEXT]) == (1, 2)
        third = await asking("change", change("ann", points=3, comment="mine"))
        assert third.said["saved"] == {}
        theirs = third.said["conflicts"]["cell/ann/q4"]
        assert theirs["value"]["points"] == 1 and theirs["revision"] == 1
        assert third.said["points"]["ann"][TEXT] == 1  # nothing was overwritten
        fourth = await asking("change", change("ann", seen=theirs["revision"], points=3, comment="mine"))
        assert fourth.said["saved"]["cell/ann/q4"]["value"]["comment"] == "mine"
        both = change("ann", seen=1, points=0)
        both["changes"] += change("cem", points=1)["changes"]
        fifth = (await asking("change", both)).said
        assert list(fifth["saved"]) == ["cell/cem/q4"] and list(fifth["conflicts"]) == ["cell/ann/q4"]

    talk(course, visit)


def test_a_browser_hears_at_once_what_another_one_changes(course):
    async def visit(desk, asking):
        waiting = asyncio.ensure_future(asking("news?since=0"))
        await asyncio.sleep(0)
        await asking("class")  # the first question has been heard when the second is answered
        assert not waiting.done()
        await asking("change", change("ann", points=1))
        news = (await waiting).said
        assert news["sequence"] == 1 and news["entries"]["cell/ann/q4"]["value"]["points"] == 1
        assert news["states"][TEXT]["ann"] == "done"
        assert (await asking("news?since=0")).said == news  # who comes later does not wait
        assert (await asking("news?since=x")).code == 400

    talk(course, visit)


def test_who_waits_is_answered_after_a_while(course, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 0.01)
    news = talk(course, lambda desk, asking: asking("news?since=0"))
    assert news.said["sequence"] == 0 and news.said["entries"] == {}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (change("ann", points=4), "q4 of ann: 4 points, but there are 0 to 3."),
        (change("nobody"), "There is nothing called 'cell/nobody/q4' to write to."),
        ({"since": 0}, "This is no change: KeyError: 'changes'"),
        ([], "This is no change"),
        ({"since": 0, "changes": [1]}, "This is no change"),
    ],
)
def test_a_change_that_cannot_be_is_refused_in_words(course, body, words):
    async def visit(desk, asking):
        refused = await asking("change", body)
        assert refused.code == 400 and refused.said["error"].startswith(words)
        assert desk.marks.store.entries == {}

    talk(course, visit)


def test_what_could_not_be_written_is_not_said_to_be_saved(course, monkeypatch):
    async def visit(desk, asking):
        await asking("change", change("ann", points=1))
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError("no space left")))
            refused = await asking("change", change("ann", seen=1, points=2))
        assert refused.code == 500 and "no space left" in refused.said["error"]
        assert (await asking("class")).said["points"]["ann"][TEXT] == 1
        assert (await asking("change", change("ann", seen=1, points=2))).code == 200

    talk(course, visit)


def test_statistics_late_rules_and_export_follow_what_is_decided(course):
    async def visit(desk, asking):
        await asking("change", change("ann", points=3))
        rule = {"due": "2026-11-02T23:59", "grace": 0, "amount": 1, "unit": "points", "cap": None}
        days = [{"key": "late", "seen": 0, "value": rule}, {"key": "late/ann", "seen": 0, "value": {"days": 2}}]
        assert (await asking("change", {"since": 0, "changes": days})).code == 200
        said = (await asking("late")).said
        assert (said["ann"]["days"], said["ann"]["points"], said["ben"]["days"]) == (2, 2, None)
        assert "lea" not in said
        said = (await asking("statistics")).said
        assert said["students"] == {"graded": 2, "waiting": 9, "not graded": 1} and said["mean"] == 5.5  # 11 and 0
        said = (await asking("export", {})).said["said"]
        assert said[0] == str(course / NAME / "given" / "grades.csv")
        assert (course / NAME / "given" / "feedback" / "ann" / f"{NAME}.html").exists()

    talk(course, visit)


def test_times_of_a_table_are_kept_and_may_come_anew(course, tmp_path):
    times = tmp_path / "times.csv"
    for text, at in (("2026-11-03 10:00", "2026-11-03T10:00:00"), ("2026-11-04 10:00", "2026-11-04T10:00:00")):
        times.write_text(f"student,handed in\n11,{text}\n")
        with server.opened(NAME, course, times=times) as desk:
            assert desk.marks.handed("ann") == at
        with server.opened(NAME, course) as desk:
            assert desk.marks.handed("ann") == at and desk.marks.handed("ben") == ""


def test_a_killed_desk_has_kept_all_that_it_has_called_saved(course):
    process = subprocess.Popen(
        [sys.executable, "-m", "attnlib.grading", "desk", "a04", "--course", str(course), "--no-browser"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/#\S+", process.stdout.readline())[0]
        for n in range(20):
            said = asyncio.run(ask(address, "change", change("ann", seen=n, points=n / 10, comment=f"number {n}"))).said
            assert said["saved"]["cell/ann/q4"]["revision"] == n + 1
    finally:
        process.kill()
        process.communicate(timeout=60)

    async def visit(desk, asking):  # no lock is left behind
        entry = (await asking("class")).said["entries"]["cell/ann/q4"]
        assert (entry["revision"], entry["value"]["comment"], entry["value"]["points"]) == (20, "number 19", 1.9)

    talk(course, visit)


def test_somebody_ends_the_desk(course, capsys, monkeypatch):
    opened = []

    def browse(address):
        opened.append(address)
        raise KeyboardInterrupt

    monkeypatch.setattr(webbrowser, "open", browse)
    assert command.main(["desk", "a04", "--course", str(course)]) == command.WELL
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == f"The desk is open: {opened[0]}" and last == "The desk is closed. Everything is saved."
    with server.opened(NAME, course):  # it has let go of its file
        pass


def test_the_command_writes_without_a_page(course, capsys):
    with server.opened(NAME, course) as desk:
        desk.marks.store.change([Change(f"cell/ann/{TEXT}", 0, NOTHING | {"points": 2})], desk.marks.check)
    assert (
        command.main(["desk", "a04", "--course", str(course), "--to", str(course / "out"), "--write"]) == command.WELL
    )
    assert capsys.readouterr().out.splitlines()[0] == str(course / "out" / "grades.csv")
    assert (course / "out" / "written.csv").read_text() == f"student,{TEXT},comment\nann,2,\n"


def test_the_command_says_what_is_missing(tmp_path, capsys):
    assert command.main(["desk", "a04", "--course", str(tmp_path)]) == command.WRONG_USE
    assert "grade the class first, with `grade a04 SUBMISSIONS --course" in capsys.readouterr().err
    kept.keep(a_class(), tmp_path)
    with server.opened(NAME, tmp_path):
        assert command.main(["desk", "a04", "--course", str(tmp_path)]) == command.WRONG_USE
    assert "Another desk is open on" in capsys.readouterr().err
    assert command.main(["desk", "a04", "--course", str(tmp_path), "--table", "no.csv"]) == command.WRONG_USE
    assert capsys.readouterr().err == "There is no no.csv.\n"
