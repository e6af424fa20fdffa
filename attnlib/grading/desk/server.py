"""Serves the desk to browsers on this machine, and to nobody else.

The address has a token behind its `#`, which browsers send nowhere; the page sends it in a header of every request for
data. A page of another site can neither know it nor send that header here. Beside it, the names of host and origin
have to be ours, so that no other name can be made to lead here. What students wrote reaches the page as JSON, and the
page makes text of it: its policy lets no script, style or frame in that does not come from the folder `static`.
"""

import asyncio
import contextlib
import hmac
import json
import secrets
import webbrowser
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import tornado.httpserver
import tornado.locks
import tornado.netutil
import tornado.web

from attnlib.grading import feedback
from attnlib.grading.desk import kept, late
from attnlib.grading.desk.export import export
from attnlib.grading.desk.marks import Marks
from attnlib.grading.desk.store import Change, Store
from attnlib.grading.desk.summary import summary

#: In the folder of the assignment: what people decided, and what is given back.
STATE, GIVEN = "desk.json", "given"
STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HERE = "127.0.0.1"
#: A request is answered after so many seconds, also when nothing has changed.
PATIENCE = 20
#: A change of a whole class, with comments, has less.
LARGEST_REQUEST = 20 << 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


class Desk:
    """What all requests share.

    Args:
        marks: The class, and what people decided.
        folder: Where exports go.
        table: The table of the course site that is filled in, if any.
        column: What it calls the assignment.
    """

    def __init__(self, marks: Marks, folder: Path, table: Path | None = None, column: str = ""):
        self.marks, self.folder, self.table, self.column = marks, folder, table, column
        self.token = secrets.token_urlsafe(32)
        self.port = 0
        self.changed = tornado.locks.Condition()

    @property
    def address(self) -> str:
        """Where the page is, with the token."""
        return f"http://{HERE}:{self.port}/#{self.token}"

    def news(self, since: int) -> dict:
        """The entries that have changed since, and the points and states that follow from all of them."""
        store = self.marks.store
        return {
            "sequence": store.sequence,
            "entries": {key: asdict(entry) for key, entry in store.since(since).items()},
            "points": self.marks.points(),
            "states": self.marks.states(),
        }


class Guarded(tornado.web.RequestHandler):
    """Answers only what this machine asks by its own name."""

    def initialize(self, desk: Desk):
        """Called by tornado."""
        self.desk = desk

    def set_default_headers(self):
        """Called by tornado: nothing is cached, framed, guessed or let in from elsewhere."""
        self.clear_header("Server")
        for name, value in (
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.set_header(name, value)

    def prepare(self):
        """Called by tornado before anything is done."""
        names = [f"{HERE}:{self.desk.port}", f"localhost:{self.desk.port}"]
        asked, headers = self.request.headers.get_list("Host"), self.request.headers
        if len(asked) != 1 or asked[0] not in names:
            raise tornado.web.HTTPError(403, reason="This desk has another address")
        if "Origin" in headers and headers["Origin"] != f"http://{asked[0]}":
            raise tornado.web.HTTPError(403, reason="This desk answers no other site")
        if headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise tornado.web.HTTPError(403, reason="This desk answers no other site")

    def write_error(self, status_code, **details):
        """Called by tornado: errors in words."""
        self.answer({"error": str(details["words"]) if "words" in details else self._reason})

    def answer(self, value: dict):
        """Send JSON."""
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(value))

    def refuse(self, error: Exception | str, status: int = 400):
        """Say in words what cannot be."""
        self.send_error(status, words=error)


class Files(Guarded):
    """The page itself, in which nothing of the class stands."""

    def get(self, name: str):
        """Called by tornado."""
        path = STATIC / (name or "desk.html")
        if path not in STATIC.iterdir() or path.suffix not in TYPES:
            raise tornado.web.HTTPError(404)
        self.set_header("Content-Type", f"{TYPES[path.suffix]}; charset=utf-8")
        self.finish(path.read_bytes())


class Data(Guarded):
    """Answers only who knows the token."""

    def prepare(self):
        """Called by tornado before anything is done."""
        super().prepare()
        if not hmac.compare_digest(self.request.headers.get("X-Desk-Token", "").encode(), self.desk.token.encode()):
            raise tornado.web.HTTPError(403, reason="The token is missing or wrong - open the address of the terminal")


class TheClass(Data):
    """Who handed in what, what the tests said, and everything that was decided."""

    def get(self):
        """Called by tornado."""
        marks = self.desk.marks
        numbers = {student: n for n, student in enumerate(sorted(marks.handins, key=_shuffled), start=1)}
        students = {
            handin.student: {
                "id": handin.id,
                "number": numbers[handin.student],
                "system": handin.system,
                "marked_late": "_LATE_" in f"_{handin.origin}",
                **{name: getattr(marks.graded.results[handin.student], name) for name in PARTS},
            }
            for handin in marks.graded.handins
        }
        units = [asdict(unit) for unit in marks.units.values()]
        title = feedback.title(marks.graded.release)
        about = {
            "name": marks.graded.name,
            "title": title,
            "most": sum(marks.maxima.values()),
            "folder": str(self.desk.folder),
        }
        self.answer({**about, "late_units": late.UNITS, "students": students, "units": units, **self.desk.news(0)})


#: What the page knows of a result.
PARTS = ("status", "points", "words", "flags", "notes", "why")


class News(Data):
    """Waits until something changes."""

    async def get(self):
        """Called by tornado."""
        try:
            since = int(self.get_query_argument("since"))
        except (ValueError, tornado.web.MissingArgumentError) as error:
            return self.refuse(error)
        if self.desk.marks.store.sequence <= since:
            await self.desk.changed.wait(timeout=timedelta(seconds=PATIENCE))
        if not self.request.connection.stream.closed():
            self.answer(self.desk.news(since))


class Changes(Data):
    """Takes changes: those that fit are in the file when the answer comes."""

    def post(self):
        """Called by tornado."""
        store = self.desk.marks.store
        try:
            asked = json.loads(self.request.body)
            before = asked["since"]
            changes = [Change(one["key"], one["seen"], one["value"]) for one in asked["changes"]]
            entries, conflicts = store.change(changes, self.desk.marks.check)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            words = error if type(error) is ValueError else f"This is no change: {type(error).__name__}: {error}"
            return self.refuse(words)
        except OSError as error:
            return self.refuse(f"The file of the desk cannot be written: {error}", 500)
        self.desk.changed.notify_all()
        saved = {key: asdict(entry) for key, entry in entries.items() if key not in conflicts}
        theirs = {key: asdict(entries[key]) for key in conflicts}
        self.answer({**self.desk.news(before), "saved": saved, "conflicts": theirs})


class Statistics(Data):
    """The numbers of the pictures."""

    def get(self):
        """Called by tornado."""
        self.answer(summary(self.desk.marks.outcome().graded, self.desk.marks.graded))


class Late(Data):
    """How late everybody is."""

    def get(self):
        """Called by tornado."""
        marks = self.desk.marks
        found = marks.outcome().late
        self.answer({student: {**asdict(v), "handed": marks.handed(student)} for student, v in found.items()})


class Export(Data):
    """Writes the files that are given back."""

    def post(self):
        """Called by tornado."""
        desk = self.desk
        try:
            self.answer({"said": export(desk.marks, desk.folder, desk.table, desk.column)})
        except OSError as error:
            self.refuse(f"This could not be written: {error}", 500)


def _shuffled(student: str) -> str:
    """An order that says nothing about names, and is the same each time."""
    return hmac.digest(b"desk", student.encode("utf8", "surrogatepass"), "sha256").hex()


def application(desk: Desk) -> tornado.web.Application:
    """All addresses of the desk."""
    routes = (("class", TheClass), ("news", News), ("change", Changes), ("statistics", Statistics), ("late", Late))
    data = [(f"/{name}", handler, {"desk": desk}) for name, handler in (*routes, ("export", Export))]
    return tornado.web.Application([*data, (r"/([\w.]*)", Files, {"desk": desk})], log_function=lambda handler: None)


async def listen(desk: Desk, port: int = 0) -> tornado.httpserver.HTTPServer:
    """Start to answer; `desk.port` is then the port, which the system chooses unless one is named."""
    [socket] = tornado.netutil.bind_sockets(port, HERE)
    server = tornado.httpserver.HTTPServer(application(desk), max_body_size=LARGEST_REQUEST)
    server.add_sockets([socket])
    desk.port = socket.getsockname()[1]
    return server


@contextlib.contextmanager
def opened(
    name: str,
    course: Path,
    to: Path | None = None,
    table: Path | None = None,
    column: str = "",
    times: Path | None = None,
) -> Iterator[Desk]:
    """The desk of an assignment, alone on its file.

    Args:
        name: Full name of the assignment.
        course: The folder that `grade --course` was given.
        to: Where exports go; into the course folder otherwise.
        table: As in `grade`.
        column: As in `grade`.
        times: A table that says when everybody handed in.

    Raises:
        ValueError: The class was not graded yet, another desk is open on it, or a table cannot be read; in words.
    """
    graded = kept.load(name, course)
    if table and not table.exists():
        raise ValueError(f"There is no {table}.")
    with contextlib.closing(Store(course / name / STATE)) as store:
        marks = Marks(graded, store)
        if times:
            found = late.read_times(times, {handin.student: handin.id for handin in graded.handins})
            seen = {student: store.entries.get(f"handed/{student}") for student in found}
            revisions = {student: entry.revision if entry else 0 for student, entry in seen.items()}
            changes = [Change(f"handed/{s}", revisions[s], {"at": time}) for s, time in found.items()]
            store.change(changes, marks.check)
        yield Desk(marks, to or course / name / GIVEN, table, column)


def run(desk: Desk, port: int = 0, browse: bool = True) -> None:
    """Serve until somebody presses Ctrl-C."""

    async def serve() -> None:
        await listen(desk, port)
        print(f"The desk is open: {desk.address}\nEverything is saved at once. End it with Ctrl-C.", flush=True)
        if browse:
            webbrowser.open(desk.address)
        await asyncio.Event().wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
    print("The desk is closed. Everything is saved.", flush=True)
