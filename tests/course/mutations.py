"""Answers with one slip each, made by machine: the syntax tree of a right answer, changed in one place.

`mutants(tree, target)` changes everything that the expression `target` reaches in a module, one change at a time. Every
mutant has a name that says what was changed and where. `DRESSED` holds changes that need no tree: an answer that looks
at the first text of a batch only, squeezes what it returns, or works in place.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import torch
from torch import Tensor

OPERATORS = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add], ast.Div: [ast.Mult, ast.FloorDiv],
    ast.FloorDiv: [ast.Mod], ast.Mod: [ast.FloorDiv], ast.Pow: [ast.Mult], ast.MatMult: [ast.Mult],
    ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd], ast.And: [ast.Or], ast.Or: [ast.And],
    ast.Lt: [ast.LtE, ast.Gt], ast.LtE: [ast.Lt, ast.GtE], ast.Gt: [ast.GtE, ast.Lt], ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}  # fmt: skip
CALLS = {
    "mean": ["sum", "amax"], "sum": ["mean", "amax"], "amax": ["amin", "mean"], "amin": ["amax"], "max": ["min"],
    "min": ["max"], "argmax": ["argmin"], "argmin": ["argmax"], "all": ["any"], "any": ["all"], "exp": ["sigmoid"],
    "log": ["log2", "log1p"], "log2": ["log"], "softmax": ["log_softmax"], "sigmoid": ["exp"], "cumsum": ["cumprod"],
    "square": ["abs"], "sqrt": ["abs"], "abs": ["square"], "tril": ["triu"], "triu": ["tril"], "ceil": ["floor"],
    "repeat_interleave": ["repeat"], "topk": ["sort"], "logsigmoid": ["sigmoid"], "float": ["half"], "split": ["chunk"],
    "logaddexp": ["add"],
}  # fmt: skip
FILLS = (0.0, -10.0, -1e4, -1e9)
#: Changes of what is returned: the name, and the expression with RESULT in it.
RETURNS = {
    "squeezed": "RESULT.squeeze()",
    "detached": "RESULT.detach()",
    "in half precision": "RESULT.half().float()",
    "NaN to 0": "RESULT.nan_to_num(0)",
    "rounded": "round(RESULT)",
    "one more": "RESULT + 1",
}


def mutants(tree: ast.Module, target: ast.expr) -> Iterator[tuple[str, CodeType]]:
    """Code of the module with one change each, in `target` or in what it reaches. After it has run, `ANSWER` is the
    answer.

    Args:
        tree: A module. It is changed, and is as before when the next mutant is asked for.
        target: An expression in the names of the module.
    """
    answer = ast.copy_location(ast.Assign([ast.Name("ANSWER", ast.Store())], target), target)
    named, reached = _named(tree), _reached(_named(tree), target)
    body = [s for s in tree.body if s in reached or (s not in named.values() and not isinstance(s, ast.Assign))]
    module = ast.Module([*body, answer], [])
    yield "unchanged", _compiled(module)
    names: dict[str, int] = {}
    for root in [*reached, answer]:
        for parent, field, place, node in list(_children(root)):
            if parent is answer and field != "value":
                continue
            for words, new in _changes(node, parent, _parameters(root, node)):
                _put(parent, field, place, new)
                try:
                    code = _compiled(module)
                except (SyntaxError, ValueError, TypeError):
                    code = None
                _put(parent, field, place, node)
                if code:
                    shown = node if isinstance(node, ast.expr | ast.stmt) else parent  # an operator has no line
                    line = getattr(shown, "lineno", 1) - getattr(root, "lineno", 1) + 1
                    name = f"{getattr(root, 'name', 'answer')}, line {line}, `{_short(shown)}`: {words}"
                    names[name] = names.get(name, 0) + 1
                    yield name + f" ({names[name]})" * (names[name] > 1), code


def _compiled(module: ast.Module) -> CodeType:
    return compile(ast.fix_missing_locations(module), "<mutant>", "exec")


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:70]


def _named(tree: ast.Module) -> dict[str, ast.stmt]:
    """The functions and constants of a module."""
    functions = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
    constants = [s for s in tree.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    return functions | {s.targets[0].id: s for s in constants}


def _reached(named: dict[str, ast.stmt], target: ast.expr) -> list[ast.stmt]:
    """Those of them that an expression uses, directly or not."""
    found, todo = [], [target]
    while todo:
        for node in ast.walk(todo.pop()):
            if isinstance(node, ast.Name) and (s := named.get(node.id)) is not None and s not in found:
                found.append(s)
                todo.append(s)
    return found


def _children(root: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(root):
        if field in ("annotation", "returns", "decorator_list", "ctx", "targets", "target"):
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield root, field, place, child
                yield from _children(child)


def _put(parent: ast.AST, field: str, place: int | None, new: ast.AST) -> None:
    if place is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[place] = new


def _parameters(root: ast.AST, inner: ast.AST) -> list[str]:
    """Names of the parameters that stand around a node."""
    around = [n for n in ast.walk(root) if isinstance(n, ast.FunctionDef | ast.Lambda) and inner in ast.walk(n)]
    return [a.arg for n in around for a in n.args.args]


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    new = copy.copy(node)
    for field, value in fields.items():
        setattr(new, field, value)
    return new


def _changes(node: ast.AST, parent: ast.AST, parameters: list[str]) -> Iterator[tuple[str, ast.AST]]:
    """What somebody may write in place of a node."""
    if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Store):
        return
    if isinstance(node, ast.operator | ast.cmpop | ast.boolop):
        for new in OPERATORS.get(type(node), []):
            yield f"{type(node).__name__} becomes {new.__name__}", new()
    if not isinstance(node, ast.expr):
        yield from _statements(node)
        return
    made = {ast.unparse(node)}
    for words, new in _expressions(node, parent, parameters):
        text = ast.unparse(new)
        if text not in made:
            made.add(text)
            yield words, new


def _expressions(node: ast.expr, parent: ast.AST, parameters: list[str]) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Constant(value=bool(value)):
            yield f"{not value}", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            negated = isinstance(parent, ast.UnaryOp)  # that its sign is left out is a change of the parent
            for new in sorted({value + 1, value - 1, -value} - {-value if negated else value}):
                yield f"becomes {new}", ast.Constant(new)
        case ast.Constant(value=float(value)):
            for new in (0.0, 2 * value, -value, value + 1):
                yield f"becomes {new}", ast.Constant(new)
        case ast.UnaryOp(operand=operand):
            yield f"becomes `{_short(operand)}`", operand
        case ast.BinOp(left=left, right=right):
            yield "only its left side", left
            yield "only its right side", right
            yield "sides swapped", _with(node, left=right, right=left)
        case ast.BoolOp(values=values):
            yield "only its first part", values[0]
            yield "only its last part", values[-1]
        case ast.IfExp(body=body, orelse=orelse):
            yield "always the first", body
            yield "always the second", orelse
            yield "the wrong way round", _with(node, body=orelse, orelse=body)
        case ast.Attribute(value=value, attr=attr) if not isinstance(parent, ast.Call) or parent.func is not node:
            if attr in ("T", "mT"):
                yield "not transposed", value
        case ast.Subscript(value=value, slice=index):
            yield "the whole", value
            if isinstance(value, ast.Attribute) and value.attr == "shape":
                for size in (1, 2, 3, 4, 5):
                    yield f"hard-coded {size}", ast.Constant(size)
            if isinstance(index, ast.Tuple) and len(index.elts) == 2:
                yield "indices swapped", _with(node, slice=ast.Tuple(index.elts[::-1], ast.Load()))
        case ast.Slice(lower=lower, upper=upper):
            if lower is not None:
                yield "from the start", _with(node, lower=None)
            if upper is not None:
                yield "to the end", _with(node, upper=None)
            yield "without its last", _with(node, upper=ast.Constant(-1))
        case ast.Name(id=name) if name in parameters:
            for other in dict.fromkeys(parameters):
                if other != name:
                    yield f"becomes {other}", ast.Name(other, ast.Load())
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            yield from _loops(node)
    if isinstance(node, ast.Call):
        yield from _calls(node)
    if isinstance(parent, ast.Lambda) and parent.body is node:
        yield from _returned(node)


def _loops(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    for n, loop in enumerate(node.generators):
        for words, text in {"only the first": "[*X][:1]", "not the last": "[*X][:-1]", "only the last": "[*X][-1:]",
                            "backwards": "[*X][::-1]"}.items():  # fmt: skip
            new = copy.deepcopy(node)
            new.generators[n].iter = _filled(text, X=loop.iter)
            yield words, new
        for m in range(len(loop.ifs)):
            new = copy.deepcopy(node)
            del new.generators[n].ifs[m]
            yield "without its condition", new


def _filled(text: str, **names: ast.expr) -> ast.expr:
    """The expression with other expressions in place of some names."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return copy.deepcopy(names.get(node.id, node))

    return Fill().visit(_expression(text))


def _returned(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    for words, text in RETURNS.items():
        yield f"the answer {words}", _filled(text, RESULT=node)


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    function, arguments = node.func, node.args
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    for new in CALLS.get(name, []):
        changed = _with(function, attr=new) if isinstance(function, ast.Attribute) else ast.Name(new, ast.Load())
        yield f"{name} becomes {new}", _with(node, func=changed)
    if isinstance(function, ast.Attribute):
        yield f"without .{name}", function.value
    elif len(arguments) == 1 and not node.keywords:
        yield f"without {name}", arguments[0]
    if name == "len":
        for size in (1, 2, 3, 4, 5):
            yield f"hard-coded {size}", ast.Constant(size)
    if len(arguments) >= 2:
        yield "arguments swapped", _with(node, args=[arguments[1], arguments[0], *arguments[2:]])
    if arguments:
        yield "without its last argument", _with(node, args=arguments[:-1])
    for n, keyword in enumerate(node.keywords):
        yield f"without {keyword.arg}=", _with(node, keywords=node.keywords[:n] + node.keywords[n + 1 :])
    if name == "masked_fill":
        for fill in FILLS:
            yield f"filled with {fill:g}", _with(node, args=[arguments[0], ast.Constant(fill)])


def _statements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Return(value=ast.expr() as value):
            for words, new in _returned(value):
                yield words, _with(node, value=new)
        case ast.Expr(value=ast.Constant()):
            return  # a docstring
        case ast.Expr() | ast.Assign() | ast.AugAssign():
            yield "left out", ast.Pass()
        case ast.If(test=test, orelse=orelse):
            yield "always", _with(node, test=ast.Constant(True))
            yield "never", _with(node, test=ast.Constant(False))
            yield "negated", _with(node, test=ast.UnaryOp(ast.Not(), test))
            if orelse:
                yield "without else", _with(node, orelse=[])
        case ast.For(iter=iterated, body=body):
            yield "only the first", _with(node, body=[*body, ast.Break()])
            for words, text in {"not the first": "[*X][1:]", "not the last": "[*X][:-1]", "only the last": "[*X][-1:]",
                                "backwards": "[*X][::-1]"}.items():  # fmt: skip
                yield words, _with(node, iter=_filled(text, X=iterated))
        case ast.While(body=body):
            yield "once", _with(node, body=[*body, ast.Break()])


# --- changes around a right answer ------------------------------------------------------------------


def _everywhere(change: Callable[[Any], Any], x: Any) -> Any:
    """What changes each number and tensor of floating point, however deep it stands; others are what they are."""
    if isinstance(x, Tensor):
        return change(x) if x.is_floating_point() else x
    if type(x) is float:
        return change(torch.tensor(x, dtype=torch.float64)).item()
    if type(x) in (list, tuple):
        return type(x)(_everywhere(change, y) for y in x)
    if type(x) is dict:
        return {key: _everywhere(change, y) for key, y in x.items()}
    return (_everywhere(change, y) for y in x) if hasattr(x, "__next__") else x


def _each(change: Callable[[Tensor], Tensor]) -> Callable[[Callable], Callable]:
    """An answer that changes each number of floating point that it is given."""

    def around(answer: Callable) -> Callable:
        def changed(*inputs: Any, **named: Any) -> Any:
            return answer(*[_everywhere(change, x) for x in inputs], **named)

        return changed

    return around


def _result(change: Callable[[Any], Any]) -> Callable[[Callable], Callable]:
    return lambda answer: lambda *inputs, **named: _everywhere(change, answer(*inputs, **named))


def _of_batch(keep: slice) -> Callable[[Callable], Callable]:
    """What it gives for the first (or the last) of a batch, or of several texts, is given for all."""

    def spread(part: Any, full: Any) -> Any:
        if type(full) is tuple:
            return tuple(map(spread, part, full))
        return part.expand_as(full) if isinstance(full, Tensor) else part

    def around(answer: Callable) -> Callable:
        def changed(*inputs: Any, **named: Any) -> Any:
            full = answer(*inputs, **named)
            part = answer(*[x[keep] if isinstance(x, Tensor | list) else x for x in inputs], **named)
            return spread(part, full)

        return changed

    return around


def _at_most(size: int) -> Callable[[Callable], Callable]:
    """Only the first rows are filled in."""

    def cut(full: Any) -> Any:
        if type(full) is tuple:
            return tuple(map(cut, full))
        if isinstance(full, Tensor) and full.dim():
            full = full.clone()
            full[size:] = 0
        return full[:size] if isinstance(full, list) else full

    return lambda answer: lambda *inputs, **named: cut(answer(*inputs, **named))


def _in_place(answer: Callable) -> Callable:
    def changed(*inputs: Any, **named: Any) -> Any:
        result = answer(*inputs, **named)
        for x in inputs:
            if isinstance(x, Tensor) and x.is_floating_point():
                x.detach().mul_(2)
            elif isinstance(x, list):
                x.reverse()
        return result

    return changed


#: Changes that are made around an answer: `{name: answer → changed answer}`.
DRESSED = {
    "the first text of a batch stands for all": _of_batch(slice(0, 1)),
    "the last text of a batch stands for all": _of_batch(slice(-1, None)),
    "only the first row": _at_most(1),
    "only two rows": _at_most(2),
    "only six rows": _at_most(6),
    "inputs between -50 and 50": _each(lambda x: x.clamp(-50, 50)),
    "inputs of half precision": _each(lambda x: x.half().to(x.dtype)),
    "inputs without a sign": _each(lambda x: x.abs()),
    "inputs rounded": _each(lambda x: x.round(decimals=1)),
    "inputs detached": _each(lambda x: x.detach()),
    "NaN as 0": _each(lambda x: x.nan_to_num(0)),
    "answer to two decimals": _result(lambda y: y.round(decimals=2)),
    "answer without its sign": _result(lambda y: y.abs()),
    "answer squeezed": _result(lambda y: y.squeeze()),
    "in place": _in_place,
}
