"""Bugs of one line in attnlib/grading/exports.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/exports.py", "grading/test_exports.py::test_every_student_counts_once_with_the_newest_hand_in",
    ("late is part of a name", r'= re.compile(r"(?P<student>.+?)_(?:LATE_)?', r'= re.compile(r"(?P<student>.+?)_'),
    ("anonymous and late is somebody else", r'r"(?:LATE_)?(?P<student>anon_', r'r"(?P<student>anon_'),
    ("Canvas is asked before Blackboard", '    "blackboard": b', '    "canvas": canvas, "blackboard": b'),
    ("online text of Moodle is somebody else", "(?P<plugin>[a-z0-9]+)", "(?P<plugin>file)"),
    ("Moodle 4.1 is not known", "(?:_(?P<name>.*))?", "_(?P<name>.*)"),
    ("the first student of a group counts", 'about.get(":submitters") or []:', '(about.get(":submitters") or [])[:1]:'),
    ("time zone of Gradescope is left out", "time = time.astimezone(UTC).replace(tzinfo=None)", "time = str(time)[:0]"),
    ("objects of Ruby end it", '_Plain.add_multi_constructor("!",', '_Plain.add_multi_constructor("?",'),
    ("name of a Blackboard user is what follows the last underscore", "users[match[\"head\"]] = said[1]", "pass"),
    ("number of Brightspace's assignment is the student's", 'own = {"a": "b", "b": "a"}[of_all[0]]', "own = of_all[0]"),
    ("the list of Brightspace is somebody's", 'if path.name == "index.html"', "if False"),
    ("version 10 comes before version 2", ":05d}", ":d}"),
    ("drafts are handed in", "inside = entries(submitted)", "inside = [x for p in names.values() for x in entries(p)]"),
    ("another assignment counts", "if piece.work in named]", "]"),
    ("folder that no student is named for is graded", 'any(piece.system == "gradescope" for piece in pieces)', "False"),
) + of(
    "grading/exports.py", "grading/test_exports.py::test_times_of_brightspace",
    ("eleven past one is one past eleven", 'r"0\\1"', 'r"\\1"'),
) + of(
    "grading/exports.py", "grading/test_exports.py::test_a_time_in_another_language_is_no_guess",
    ("time that cannot be read looks like one", 'return f"{UNREAD} {words}"', "return words"),
) + of(
    "grading/exports.py", "grading/test_exports.py::test_links_in_a_folder_are_not_followed",
    ("text file of Blackboard may be a link", "if path.is_file() and not path.is_symlink()]", "if path.is_file()]"),
) + of(
    "grading/exports.py", "grading/test_exports.py::test_which_of_several_assignments_is_no_guess",
    ("of several assignments one is guessed", "if len(named) != 1:", "if len(named) > 1:"),
)
