"""What a person should look at in a hand-in, found in the student's own cells. It never changes a score.

Tests run in the kernel in which the student's code runs, so no tool can keep that code from tampering with them. This
says where it might: `frames:q1` is a word of a fixed list and the cell in which it stands. Honest work gives nothing.
"""

import ast
import functools
import io
import re
import tokenize

from IPython.core.inputtransformer2 import TransformerManager

from attnlib.grading.assignment import facts, is_answer, is_given, is_test
from attnlib.grading.suspicious_words import ATTRIBUTES, BUILTINS, ENDLESS, FAKES, MAGICS, MODULES, NAMES


def flags(notebook) -> list[str]:
    """Look through the student's own cells.

    Args:
        notebook: A hand-in with the marks of its release (`restore.restored`): they say which cells are the student's.

    Returns:
        `flag:cell`, in the order of cells; a cell that is not one of the assignment's is called by its number, from 1.
    """
    tests = [cell for cell in notebook.cells if is_test(cell)]
    given = [cell for cell in notebook.cells if is_given(cell)]
    wanted, helpers, imported = _used(tests), _imported(tests), _imported(given)
    found: list[str] = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code" or (facts(cell) and not is_answer(cell)):
            continue
        where = facts(cell).get("grade_id") or f"cell{number}"
        found += [f"{flag}:{where}" for flag in sorted(_scan(cell.source, wanted, helpers, imported))]
    return found


def _python(source: str) -> str:
    """Plain Python of a cell: `!ls` and `%time` become calls."""
    return TransformerManager().transform_cell(source)


@functools.lru_cache(1000)  # what was given out is the same in all hand-ins
def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(_python(source))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _used(cells) -> set[str]:
    """Names that cells read."""
    trees = [_tree(cell.source) for cell in cells]
    return {n.id for t in trees if t for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _imported(cells) -> dict[str, str]:
    """`{name: module}` of what cells import."""
    return {k: v for cell in cells for k, v in _imports(_tree(cell.source)).items()}


def _imports(tree: ast.Module | None) -> dict[str, str]:
    names = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
    return names


def _scan(source: str, wanted: set[str], helpers: dict[str, str], imported: dict[str, str]) -> set[str]:
    """The flags of one cell."""
    tree = _tree(source)
    if tree is None:
        return _scan_words(source)
    found, inner, written_by_magics = _magics(tree)
    for body in inner:
        found |= _scan(body, wanted, helpers, imported)
    own = _imports(tree)
    modules = {**helpers, **imported, **own}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}

    for node in ast.walk(tree):
        if node in written_by_magics:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= _of_import(node)
        elif isinstance(node, ast.Name):
            found |= _of_name(node, bound)
        elif isinstance(node, ast.Attribute):
            found |= {NAMES[node.attr]} if node.attr in NAMES else set()
            root = modules.get(getattr(node.value, "id", ""), "").split(".")[0]
            found |= {ATTRIBUTES[root, node.attr]} if (root, node.attr) in ATTRIBUTES else set()
            if isinstance(node.ctx, ast.Store | ast.Del) and _root(node) in {*modules, "__builtins__"}:
                found.add("patches")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES:
            found.add(NAMES[node.value])
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr" and node.args:
            if _root(node.args[0]) in modules:
                found.add("patches")
        elif isinstance(node, ast.ClassDef):
            made = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            made |= {t.id for n in node.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
            found |= {"fakes"} if made & FAKES else set()
        elif isinstance(node, ast.While | ast.For) and any(_catches_all(n) for n in ast.walk(node)):
            found.add("catches_all")

    if any(_from_package(name, module, wanted, imported) for name, module in own.items()) or any(
        isinstance(n, ast.Attribute) and n.attr in wanted and _is_package(modules.get(_root(n), ""))
        for n in ast.walk(tree)
    ):
        found.add("attnlib")
    theirs = {**imported, **helpers}
    if any(name in theirs and own.get(name) != theirs[name] for name in _bound_at_top(tree)):
        found.add("redefines")
    return found


def _from_package(name: str, module: str, wanted: set[str], imported: dict[str, str]) -> bool:
    """Does an import bring in something of attnlib that nobody gave, and that is not there to check with?"""
    return _is_package(module) and (imported.get(name) != module or name in wanted)


def _is_package(module: str) -> bool:
    return module.split(".")[0] == "attnlib" and not module.startswith("attnlib.course")


def _of_import(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.Import):
        paths = [alias.name.split(".") for alias in node.names]
    else:
        paths = [[*(node.module or "").split("."), alias.name] for alias in node.names]
    found = {MODULES[path[0]] for path in paths if path[0] in MODULES}
    found |= {ATTRIBUTES[tuple(path[:2])] for path in paths if tuple(path[:2]) in ATTRIBUTES}
    return found | {NAMES[path[-1]] for path in paths if path[-1] in NAMES}


def _of_name(node: ast.Name, bound: set[str]) -> set[str]:
    if node.id in NAMES:
        return {NAMES[node.id]}
    if isinstance(node.ctx, ast.Load) and node.id not in bound:
        if node.id in BUILTINS:
            return {BUILTINS[node.id]}
        if re.fullmatch(r"_i?\d+", node.id):
            return {"history"}
    return set()


def _root(node: ast.AST) -> str:
    """`torch` of `torch.nn.functional.softmax`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return getattr(node, "id", "")


def _catches_all(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    kinds = [node.type, *(node.type.elts if isinstance(node.type, ast.Tuple) else [])]
    return node.type is None or any(getattr(kind, "id", "") in ENDLESS for kind in kinds)


def _bound_at_top(tree: ast.Module) -> set[str]:
    """Names that a cell gives a meaning in the notebook itself, not in a function."""
    names: set[str] = set()
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            names |= {name for n in ast.walk(node) if isinstance(n, ast.Global) for name in n.names}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= set(_imports(ast.Module([node], [])))
        elif isinstance(node, ast.Name):
            names |= {node.id} if isinstance(node.ctx, ast.Store | ast.Del) else set()
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack += ast.iter_child_nodes(node)
    return names


def _magics(tree: ast.Module) -> tuple[set[str], list[str], set[ast.AST]]:
    """Flags of `!command`, `%magic` and `%%magic`, the Python inside of such cells, and what they were turned into."""
    found, inner, own = set(), [], set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if getattr(getattr(node.func.value, "func", None), "id", "") != "get_ipython":
            continue
        own.add(node.func.value.func)
        texts = [a.value if isinstance(a, ast.Constant) else "" for a in node.args]
        if node.func.attr in {"system", "getoutput"}:
            found.add("shell")
        elif node.func.attr in {"run_line_magic", "run_cell_magic"} and texts:
            found |= set() if texts[0] in MAGICS else {"shell"}
            inner += texts[2:] if texts[0] in MAGICS else []
            inner += texts[1:2] if texts[0] in {"time", "timeit"} else []
    return found, inner, own


def _scan_words(source: str) -> set[str]:
    """Flags of a cell that is not Python: of the words in it that would be flagged if it were."""
    words = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            words += [token.string] if token.type == tokenize.NAME else []
    except (tokenize.TokenError, SyntaxError):
        words = re.findall(r"\w+", source)  # comments and texts, too: better one too many
    used = re.findall(r"\b(?:import|from)\s+(\w+)|\b(\w+)\s*\.\s*\w", source)
    found = {MODULES[w] for pair in used for w in pair if w in MODULES} | {NAMES[w] for w in words if w in NAMES}
    found |= {BUILTINS[w] for w in words if w in BUILTINS and re.search(rf"\b{w}\s*[(\[]", source)}
    found |= {"fakes"} if FAKES & set(words) else set()
    found |= {"attnlib"} if "attnlib" in words else set()
    return found | ({"shell"} if re.search(r"^\s*(!|%%)", source, re.M) else set())
