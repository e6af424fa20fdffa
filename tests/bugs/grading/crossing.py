"""Bugs of one line in attnlib/grading/crossing.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/crossing.py", "grading/test_crossing.py",
    ("gradients of what a function outside holds are lost", "waiting |= held", "pass"),
    ("an alarm is handed to the box", "if self.outside and isinstance(error, TimeoutError):", "if False:"),
    ("a stream outside gets no gradient", "answered.append(anchor)", "pass"),
    ("changes in place are lost", 'put_back([list(given), named], reader.value(message["changed"]))', "pass"),
    ("sizes are believed", "if size > HEADER or body > BODY:", "if False:"),
    ("a call that has been answered counts as open", "self.unanswered -= 1", "pass"),
    ("calls wait for ever", "if self.level > CALLS:", "if self.level > 10**9:"),
)
