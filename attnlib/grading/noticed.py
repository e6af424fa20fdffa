"""Mistakes that are none of the subject: a function renamed, a package missing, a text in the wrong cell.

None costs points in silence: it is said to the student, and a person looks.
"""

import ast
import difflib
import io
import re
import tokenize

from attnlib.course.book import without_magics
from attnlib.grading.assignment import answers, facts, is_answer, is_text
from attnlib.grading.restore import STOOD

#: Fewer words in a cell of one's own are a note; in comments of code, too.
WORDS, COMMENTED = 8, 20
#: How alike two names are that mean one thing, from 0 to 1.
ALIKE = 0.75


def renamed(name: str, source, notebook) -> str:
    """In words, where the function that an assignment asks for may be: what has its parameters, or a name like its own.

    Args:
        name: What is asked for, and is not there.
        source: The assignment.
        notebook: The hand-in, restored.
    """
    asked = {n: node for text in answers(source).values() for n, node in _functions(text).items()}
    own = {}
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code" and (is_answer(cell) or not facts(cell)):
            own |= {
                n: (node, facts(cell).get("grade_id") or f"number {number}")
                for n, node in _functions(cell.source).items()
            }
    wanted = _parameters(asked[name]) if name in asked else None
    found = []
    for other, (node, where) in own.items():
        if other in asked:
            continue
        closeness = difflib.SequenceMatcher(None, _letters(name), _letters(other)).ratio()
        same = wanted is not None and _parameters(node) == wanted
        if same or closeness >= ALIKE:
            found.append(
                (same + closeness, f"`{other}` in cell {where} has {'its parameters' if same else 'a similar name'}")
            )
    said = f"there is no `{name}`"
    return f"{said}; {max(found)[1]}: was it renamed?" if found else said


def _functions(source: str) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    try:
        body = ast.parse(without_magics(source)).body
    except SyntaxError:
        return {}
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _parameters(node) -> list[str] | None:
    return [a.arg for a in node.args.args] if isinstance(node, ast.FunctionDef) else None


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def lacking(kind: str, text: str, where: str) -> str:
    """In words, which package a cell imports that the box lacks, given its error; empty where that is another one."""
    found = re.match(r"No module named '([\w.]+)'", text) if kind == "ModuleNotFoundError" else None
    return f"cell {where} imports {found[1].split('.')[0]}, which the grader does not have" if found else ""


def stray(notebook, release) -> dict[str, list[tuple[str, str]]]:
    """`{text id: [(where, text)]}`: for texts that were left empty, what stands in other cells and may be they.

    Args:
        notebook: The hand-in, restored: what is the student's own has no mark of nbgrader's.
        release: The student version.
    """
    given = {line.strip() for cell in release.cells for line in cell.source.splitlines()}
    empty = [facts(c)["grade_id"] for c in notebook.cells if is_text(c) and all(_is_given(c.source, given))]
    found = []
    for number, cell in enumerate(notebook.cells, 1):
        if not empty or facts(cell) or cell.source.startswith(STOOD):
            continue
        prose = cell.source if cell.cell_type != "code" else _comments(cell.source)
        lines = [line for line in prose.splitlines() if not {line.strip(), line.strip().lstrip("# ")} & given]
        own = "\n".join(lines)
        if len(re.findall(r"[^\W\d_]{2,}", own)) >= (WORDS if cell.cell_type != "code" else COMMENTED):
            found.append((f"number {number}", own.strip()))
    return dict.fromkeys(empty, found) if found else {}


def _is_given(text: str, given: set[str]) -> list[bool]:
    return [not line.strip() or line.strip() in given for line in text.splitlines()]


def _comments(source: str) -> str:
    """What is text in a cell of code: its comments and free-standing strings; all of it where it is no Python."""
    try:
        tree = ast.parse(without_magics(source))
        tokens = list(tokenize.generate_tokens(io.StringIO(without_magics(source)).readline))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return source
    strings = [n.value.value for n in tree.body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
    comments = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join([*(s for s in strings if isinstance(s, str)), *comments])
