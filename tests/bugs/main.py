"""Bugs of one line in attnlib/__main__.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "__main__.py", "test_main.py",
    ("a build of CUDA hidden", "built for CUDA {torch.version.cuda}", "built for CUDA"),
    ("device by habit", "chosen = pick_device()", "chosen = torch.device(\"cpu\")"),
    ("what is fetched counts as missing", "if file is not None and file not in sizes:", "if file is not None:"),
    ("everything at hand", "if file is None or file in sizes)", "if True)"),
    ("a directory that cannot be written", " or not os.access(there, os.W_OK | os.X_OK):", ":"),
    ("another version will do", "if exactly not in (None, there) else []", "if False else []"),
    ("pages that are not there", "page.as_uri() if page.exists() else address()", "page.as_uri()"),
)
