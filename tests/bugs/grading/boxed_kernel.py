"""Bugs of one line in attnlib/grading/boxed_kernel.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/boxed_kernel.py", "grading/test_sandbox.py::test_a_link_in_place_of_a_socket_is_not_followed",
    ("link to a socket followed", "os.O_PATH | os.O_NOFOLLOW", "os.O_PATH"),
)
