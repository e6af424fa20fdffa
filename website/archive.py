"""The whole book in one archive that needs no network, and the notebooks that people open in another.

    python -m website.archive        (or: make zip, which builds the book first)

The same build gives the same bytes. What some reader's machine could not unpack, is not written.
"""

import html
import re
import runpy
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path

from attnlib.course.book import ROOT, repository, settings
from website.student_notebooks import written

BUILT = ROOT / "_build" / "html"
LARGEST = 40_000_000  # bytes of an archive: what can still be mailed, and loaded where the network is slow
LONGEST = 140  # characters of a name inside: Windows takes 260, and the reader's own folder comes first
NOT_ON_WINDOWS = re.compile(r'[<>:"\\|?*\x00-\x1f]|[ .](/|$)|(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)', re.I)

#: What no page asks for: traces of the build, maps for debuggers, and what theme and MathJax have for other uses.
LEFT_OUT = [
    ".*",
    "*.map",
    "objects.inv",
    "searchindex.js",
    "_static/searchtools.js",
    "index.html",  # the start page of the archive leads on
    "_static/*.html",
    "_static/locales/*",
    "_static/scripts/fontawesome.*",
    *(f"_static/mathjax/{name}" for name in ("tex-*", "mml-*", "latest.js", "node-main.js")),
    *(f"_static/mathjax/{name}" for name in ("adaptors/*", "sre/*", "ui/*", "input/asciimath*", "input/mml*")),
    "_static/mathjax/output/svg*",
]

START = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>{title}</title>
  <style>body {{ max-width: 36em; margin: 3em auto; padding: 0 1em; font: 1.1em/1.5 sans-serif; }}</style>
</head>
<body>
  <h1>{title}</h1>
  <p><a href="pages/book/index.html">Open the book</a></p>
  <p>If that leads nowhere, you are looking into the archive: unpack all of it first.</p>
  <!-- leads on where there are pages -->
  <img src="pages/_static/overview.svg" alt="" hidden onload="location.replace('pages/book/index.html')">
</body>
</html>
"""

HOW_TO_READ = """{title}, version {version}

Unpack the whole archive, then open index.html in a browser. No network is needed: search, formulas, live figures
and the download of notebooks work from the disk. Only links to Colab, Binder, GitHub and papers lead out.

The notebooks lie in pages/_sources/book.

Licences: LICENSE.txt. In pages/_static, MathJax has the Apache License 2.0, the theme BSD 3-Clause, Font Awesome's
icons CC BY 4.0 and its fonts the SIL Open Font License 1.1.
"""

HOW_TO_RUN = """# {title}, version {version}: the notebooks

They have the outputs of a run: open them in Jupyter or an editor, and read. The exercises wait; their solutions are in
`notebooks/solutions`. To run them you need Python 3.11 or newer, git and, once, a network:

```sh
python3 -m venv .venv
.venv/bin/pip install -r requirements.txt
.venv/bin/pip install --no-deps git+{address}@{commit}
.venv/bin/jupyter lab notebooks
```

On Windows the programs are in `.venv\\Scripts\\`. `requirements.txt` has the versions that made the outputs you see.
On Linux pip takes PyTorch with CUDA (gigabytes) unless `PIP_EXTRA_INDEX_URL` names PyTorch's CPU wheels: the address
is on pytorch.org under *Get Started*.
"""


def facts() -> dict[str, str]:
    """What the texts above name, but for the commit: `title`, `version`, `address`."""
    return {
        "title": settings()["title"],
        "version": runpy.run_path(str(ROOT / "attnlib" / "version.py"))["__version__"],
        "address": repository()["url"],
    }


def commit() -> str:
    """The commit that is checked out.

    Raises:
        ValueError: There is none.
    """
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    if known.returncode:
        raise ValueError(f"{ROOT} is no git repository with a commit: the notebooks could not name their package.")
    return known.stdout.strip()


def name() -> str:
    """`NAME-VERSION`: an archive's name, and the folder in it."""
    known = facts()
    return f"{known['address'].rsplit('/', 1)[-1]}-{known['version']}"


def book(built: Path = BUILT) -> dict[str, bytes]:
    """The book's archive, `{name: content}`: a page to begin with, and all others below it."""
    known = facts()
    files = {
        "index.html": START.format(title=html.escape(known["title"])).encode(),
        "README.txt": HOW_TO_READ.format(**known).encode(),
        "LICENSE.txt": (ROOT / "LICENSE").read_bytes(),
    }
    for path in built.rglob("*"):
        inside = path.relative_to(built).as_posix()
        if path.is_file() and not any(fnmatch(inside, pattern) for pattern in LEFT_OUT):
            files[f"pages/{inside}"] = path.read_bytes()
    return files


def notebooks() -> dict[str, bytes]:
    """The archive of the chapters' notebooks and the assignments, with all that running them takes."""
    files = {
        "README.md": HOW_TO_RUN.format(**facts(), commit=commit()).encode(),
        "LICENSE.txt": (ROOT / "LICENSE").read_bytes(),
        "requirements.txt": (ROOT / "requirements.txt").read_bytes(),
    }
    for path in [*sorted(written()), *(ROOT / "book" / "exercises").glob("*.ipynb")]:
        files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    return files


def problems(names: list[str]) -> list[str]:
    """Names that cannot be unpacked everywhere, and why."""
    found = [f"{n}: longer than {LONGEST} characters" for n in names if len(n) > LONGEST]
    found += [f"{n}: Windows refuses such a name" for n in names if NOT_ON_WINDOWS.search(n)]
    seen: dict[str, str] = {}
    for n in names:
        if seen.setdefault(n.lower(), n) != n:
            found.append(f"{n}: the same as {seen[n.lower()]} where case does not count")
    return found


def write(target: Path, files: dict[str, bytes]) -> Path:
    """Write an archive of one folder, named as it is; whole or not at all.

    Raises:
        ValueError: Some machine could not unpack a name, or the archive is larger than `LARGEST`.
    """
    content = {f"{target.stem}/{name}": files[name] for name in sorted(files)}
    if found := problems(list(content)):
        raise ValueError("\n".join(found))
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_suffix(".partial")
    with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for inside, data in content.items():
            entry = zipfile.ZipInfo(inside)  # dated 1980, the first day that the format knows
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, data)
    size = scratch.stat().st_size
    if size > LARGEST:
        scratch.unlink()
        raise ValueError(f"{target.name} would weigh {size:,} bytes, and {LARGEST:,} is the limit.")
    return scratch.replace(target)


def main() -> int:
    """Write both archives, and say how large they are."""
    if not (BUILT / "index.html").exists():
        print(f"There is no built book at {BUILT}: `make zip` builds it.", file=sys.stderr)
        return 1
    try:
        archives = {f"{name()}.zip": book(), f"{name()}-notebooks.zip": notebooks()}
        for target, files in archives.items():
            path = write(ROOT / "_build" / target, files)
            print(f"{path.relative_to(ROOT)}: {len(files)} files, {path.stat().st_size / 1e6:.1f} MB")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
