"""The notebooks that people open, made from the executed pages: notebooks/NAME.ipynb, notebooks/solutions/NAME.ipynb.

    python -m website.student_notebooks write
    python -m website.student_notebooks check    fails when one is not what would be written

The first is the chapter in plain Markdown, with its outputs, and with exercises that wait. The second has the
solutions, and above them, folded, the code of the first that they need. Nothing is run.
"""

import argparse
import re
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attnlib.course.book import ROOT, setup_cell, site
from scripts.launch_links import binder, colab, on_github
from scripts.notebooks import Stale, chapters, with_outputs
from website.notebook_cells import FOLDED, Piece, code, pieces, prose
from website.plain_markdown import PlainMarkdown
from website.references import References, Unknown

NOTEBOOKS = ROOT / "notebooks"
#: The pages that one works through; the others are read.
WORKED_THROUGH = re.compile(r"(?P<chapter>\d\d_)|(?P<exhibit>bug_)|your_own_weights")
#: Longer training on a GPU, and nothing else, is what a chapter gains from one.
SCALED = re.compile(r"^SCALE = (\d+) if device\.type == .cuda.", re.M)


def sources() -> list[Path]:
    """The pages that have a notebook for students."""
    return [source for source in chapters() if WORKED_THROUGH.match(source.stem)]


def following(source: Path) -> Path | None:
    """The next chapter after a chapter, the next exhibit after an exhibit, in the order of the sidebar."""

    def kind(name: str) -> str | None:
        return WORKED_THROUGH.match(name).lastgroup

    pages = re.findall(r"file: book/(\w+)\.ipynb", (ROOT / "_toc.yml").read_text("utf8"))
    pages = [name for name in pages if WORKED_THROUGH.match(name) and kind(name) == kind(source.stem)]
    later = pages[pages.index(source.stem) + 1 :]
    return source.with_name(f"{later[0]}.md") if later else None


# --- the notebooks ----------------------------------------------------------------------------------


class Page:
    """A page as it was read, for both of its notebooks.

    Args:
        source: Its Markdown in book/.

    Raises:
        Stale: The code of the page has changed since it was run.
    """

    def __init__(self, source: Path):
        self.source, self.notebook = source, with_outputs(source)
        self.pieces = pieces(self.notebook)
        self.plain = PlainMarkdown(References(f"{site()}/book"))
        self.address = f"{site()}/book/{source.stem}.html"
        self.solved = any(piece.kind == "solution" for piece in self.pieces)

    def prose(self, piece: Piece) -> list[NotebookNode]:
        """A piece of Markdown as a cell."""
        return prose(piece.cell, self.plain)

    def code(self, piece: Piece, **shown: bool) -> list[NotebookNode]:
        """A piece of code as a cell, and what stands below it."""
        return code(piece.cell, self.plain, self.address, **shown)


def assemble(cells: list[NotebookNode], notebook: NotebookNode) -> NotebookNode:
    """A notebook of these cells, for the kernel of that one; it asks Colab for a GPU where a chapter uses one."""
    metadata = {key: notebook.metadata[key] for key in ("kernelspec", "language_info")}
    metadata["colab"] = {"provenance": []}
    if factor(notebook):
        metadata |= {"accelerator": "GPU", "colab": {"provenance": [], "gpuType": "T4"}}
    return new_notebook(cells=cells, metadata=metadata)


def factor(notebook: NotebookNode) -> str | None:
    """How many times as long a chapter trains on a GPU; None if it makes no difference."""
    found = SCALED.search("\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code"))
    return found[1] if found else None


def badges(path: str, page: str) -> str:
    """Where to open a notebook, named by its path in the repository, and its page."""
    return (
        f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab(path)}) "
        f"[![Binder](https://mybinder.org/badge_logo.svg)]({binder(path)}) · [The page]({page})"
    )


def student(page: Page) -> NotebookNode:
    """The notebook of a page, without its solutions.

    Raises:
        Unknown: Something in its Markdown that has no plain form.
    """
    cells = []
    for piece in (piece for piece in page.pieces if piece.kind != "solution"):
        if piece.cell.cell_type == "markdown":
            cells += page.prose(piece)
        else:
            cells += page.code(piece, outputs=piece.kind == "chapter")
    title, _, rest = cells[0].source.partition("\n")
    head = [title, badges(f"notebooks/{page.source.stem}.ipynb", page.address)]
    if page.solved:
        head.append(f"Solutions of the exercises: {where_solved(page.source)}.")
    if times := factor(page.notebook):
        head.append(
            f"On a GPU the training takes {times} times as many steps; no result needs them. Colab is asked for a GPU: "
            "if it has none to give, choose *CPU* under *Runtime*, *Change runtime type*."
        )
    cells[0].source = "\n\n".join([*head, rest.strip("\n")]).strip("\n")
    cells.insert(1, setup())
    if text := onward(page.source):
        cells.append(new_markdown_cell(text, id="onward"))
    return assemble(cells, page.notebook)


def where_solved(source: Path) -> str:
    """Links to the solutions of a page: the first is dead in Colab, the others wherever there is no network."""
    path = f"notebooks/solutions/{source.stem}.ipynb"
    return (
        f"[beside this notebook](solutions/{source.stem}.ipynb), "
        f"[on GitHub]({on_github(path)}), [in Colab]({colab(path)})"
    )


def onward(source: Path) -> str:
    """What a student may open after the last cell: the links of the text lead to pages, not to notebooks."""
    lines = []
    if WORKED_THROUGH.match(source.stem).lastgroup == "exhibit":
        lines.append(f"Found it, or given up? Our repair, and what the mistake costs: {where_solved(source)}.")
    if after := following(source):
        title = re.search(r"^# (.+)$", after.read_text("utf8"), re.M)[1]
        path = f"{after.stem}.ipynb"
        lines.append(f"**Next:** [{title}]({path}) ([in Colab]({colab(f'notebooks/{path}')})).")
    return "\n\n".join(lines)


def solutions(page: Page) -> NotebookNode | None:
    """The solutions of a page, below the code that they need; None if it has no exercise.

    Raises:
        Unknown: Something in its Markdown that has no plain form.
    """
    if not page.solved:
        return None
    title = re.match(r"# (.+)", page.pieces[0].cell.source)[1]
    path, asked = (f"notebooks/{folder}{page.source.stem}.ipynb" for folder in ("solutions/", ""))
    head = [
        f"# Solutions: {title}",
        badges(path, page.address),
        f"They use what the notebook of the exercises ([beside this one](../{page.source.stem}.ipynb), "
        f"[in Colab]({colab(asked)})) has computed. Its code comes first, folded in JupyterLab and in Colab: run it "
        "before you run a solution, or run all cells. If you only read, go on to [the solutions](#The-solutions).",
    ]
    cells = [new_markdown_cell("\n\n".join(head), id="head"), setup()]
    folded = {"jp-MarkdownHeadingCollapsed": True}
    cells.append(new_markdown_cell("## The code of the notebook", id="code", metadata=folded))
    for piece in page.pieces:
        if piece.kind == "chapter" and piece.cell.cell_type == "code":
            cells += page.code(piece, outputs=False, folded=True)[:1]  # without a caption: there is no picture
    cells.append(new_markdown_cell("## The solutions", id="solutions"))
    for piece in page.pieces:
        if piece.cell.cell_type == "markdown" and piece.kind != "chapter":
            cells += page.prose(piece)
        elif piece.kind == "solution":
            cells += page.code(piece, folded=False)
    return assemble(cells, page.notebook)


def setup() -> NotebookNode:
    """The cell that installs the course."""
    return new_code_cell(setup_cell(), id="setup", metadata=FOLDED)


# --- all of them ------------------------------------------------------------------------------------


def every_notebook() -> dict[Path, str]:
    """`{file: text}` of all notebooks, as they should be.

    Raises:
        SystemExit: A page cannot be shown; the message says which, and why.
    """
    found = {}
    for source in sources():
        try:
            page = Page(source)
            for folder, notebook in ((NOTEBOOKS, student(page)), (NOTEBOOKS / "solutions", solutions(page))):
                if notebook is not None:
                    found[folder / f"{source.stem}.ipynb"] = nbformat.writes(notebook) + "\n"
        except (Stale, Unknown) as error:
            raise SystemExit(f"book/{source.name}: {error}.") from error
    return found


def written() -> set[Path]:
    """The notebooks that lie there, by their names: not the checkpoints of JupyterLab, nor what a reader has added."""
    return {
        path
        for folder in (NOTEBOOKS, NOTEBOOKS / "solutions")
        for path in folder.glob("*.ipynb")
        if WORKED_THROUGH.match(path.stem)
    }


def problems() -> list[str]:
    """Which files are not what they should be."""
    wanted, there = every_notebook(), written()
    found = [path for path, text in wanted.items() if path not in there or path.read_text("utf8") != text]
    return sorted(path.relative_to(ROOT).as_posix() for path in {*found, *(there - wanted.keys())})


def write() -> None:
    """Write all of them, and remove those whose page is gone."""
    wanted = every_notebook()
    for path in written() - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("write", "check"))
    if parser.parse_args().command == "write":
        write()
    elif found := problems():
        print("\n".join(f"{path} is not what its page would give" for path in found))
        print("`make execute` writes them.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
