"""Bugs of one line in attnlib/grading/desk/server.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/server.py", "grading/test_desk_server.py::test_only_who_knows_the_token_reads_or_writes",
    ("no token is asked for", "if not hmac.compare_digest(", "if False and hmac.compare_digest("),
    ("one page without a token", "class Statistics(Data):", "class Statistics(Guarded):"),
    ("token stands in the page", "self.finish(path.read_bytes())",
     "self.finish(path.read_bytes() + self.desk.token.encode())"),
) + of(
    "grading/desk/server.py", "grading/test_desk_server.py::test_another_site_is_refused_even_with_the_token",
    ("any host", "if len(asked) != 1 or asked[0] not in names:", "if len(asked) != 1:"),
    ("any port", 'names = [f"{HERE}:{self.desk.port}"', 'names = [*asked, f"{HERE}:{self.desk.port}"'),
    ("any origin", 'if "Origin" in headers and', "if False and"),
    ("origin that only looks like ours", 'headers["Origin"] != f"http://{asked[0]}"',
     'not headers["Origin"].endswith(asked[0])'),
    ("page of another site by the browser's own word", 'not in ("same-origin", "none"):', 'in ():'),
    ("neighbour on the same site", 'not in ("same-origin", "none"):', 'not in ("same-origin", "same-site", "none"):'),
) + of(
    "grading/desk/server.py",
    "grading/test_desk_server.py::test_each_answer_forbids_foreign_scripts_frames_and_caches",
    ("scripts in the page", "script-src 'self';", "script-src 'self' 'unsafe-inline';"),
    ("frames", "frame-ancestors 'none';", "frame-ancestors *;"),
    ("pages are kept", '("Cache-Control", "no-store"),', ""),
    ("files beside the page", "if path not in STATIC.iterdir() or path.suffix not in TYPES:",
     "if path.suffix not in TYPES and False:"),
) + of(
    "grading/desk/server.py", "grading/test_desk_server.py::test_two_browsers_merge_and_a_conflict_shows_both",
    ("conflict is called saved", "if key not in conflicts}", "if True}"),
    ("conflict without the other value", "{key: asdict(entries[key]) for key in conflicts}", "{}"),
) + of(
    "grading/desk/server.py",
    "grading/test_desk_server.py::test_a_browser_hears_at_once_what_another_one_changes",
    ("nobody is told", "self.desk.changed.notify_all()", "pass"),
    ("nobody waits", "if self.desk.marks.store.sequence <= since:", "if False:"),
    ("who comes later waits", "if self.desk.marks.store.sequence <= since:", "if True:"),
) + of(
    "grading/desk/server.py",
    "grading/test_desk_server.py::test_what_could_not_be_written_is_not_said_to_be_saved",
    ("full disk is the fault of who writes", 'cannot be written: {error}", 500)', 'cannot be written: {error}")'),
) + of(
    "grading/desk/server.py", "grading/test_desk_server.py::test_times_of_a_table_are_kept_and_may_come_anew",
    ("second table is a conflict", "entry.revision if entry else 0 for", "0 for"),
) + of(
    "grading/desk/server.py", "grading/test_desk_server.py::test_somebody_ends_the_desk",
    ("end is an error", "contextlib.suppress(KeyboardInterrupt)", "contextlib.suppress(OSError)"),
) + of(
    "grading/desk/server.py", "grading/test_desk_server.py::test_what_students_wrote_arrives_whole_as_data",
    ("numbers tell names", "sorted(marks.handins, key=_shuffled)", "sorted(marks.handins)"),
)
