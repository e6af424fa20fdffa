"""Bugs of one line in attnlib/data/wheels.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "data/wheels.py", "test_data_wheels.py",
    ("checksum not compared", "if found != sha256:", "if False:"),
    ("download without a checksum", "\"--require-hashes\", ", ""),
    ("fetched again every time", "if not os.path.exists(wheel):", "if True:"),
    ("download where the wheel will lie", "tempfile.TemporaryDirectory(dir=directory)",
     "tempfile.TemporaryDirectory()"),
    ("download left behind", "tempfile.TemporaryDirectory(dir=directory) as scratch",
     "__import__(\"contextlib\").nullcontext(tempfile.mkdtemp(dir=directory)) as scratch"),
    ("pip fails unseen", "if pip.returncode:", "if False:"),
    ("no pip unseen", "if importlib.util.find_spec(\"pip\") is None:", "if False:"),
    ("unwritable directory unseen", "except OSError as error:", "except ZeroDivisionError as error:"),
    ("bar counts twice", "bar.update(int(progress[1]) - bar.n)", "bar.update(int(progress[1]))"),
    ("any name goes", "if name not in pinned():", "if not name:"),
    ("reader's directory ignored", "if chosen else user_cache_path", "if not chosen else user_cache_path"),
)
