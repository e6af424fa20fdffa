"""Wrong answers that the tests of an assignment accept, looked for by machine.

    python -m tests.grading.hunting                  every assignment, as it is published
    python -m tests.grading.hunting a04 --seed 3     one, in the variant of a seed
    python -m tests.grading.hunting --write          lists those that are right in survivors.json

Every mutant of the model's answer to every question goes through the tests of its question, here and at once. One that
loses no point is asked, beside the model's answer, in experiments that are drawn by chance (`domains.py`). Does it
differ in any of them, it is a hole in the tests; if in none, it counts as equivalent (`tests/course/survivors.py`).
"""

import argparse
import ast
import contextlib
import functools
import io
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from assignments.domains import DOMAINS
from attnlib.grading import assignment, proof
from attnlib.grading.assignment import facts, is_answer, is_given, is_test
from attnlib.grading.examiner import compiled, is_setup, made
from tests.course import survivors
from tests.course.hunting import Found, alike, shortly
from tests.course.mutations import DRESSED, mutants

TABLE = Path(__file__).parent / "survivors.json"
DRAWS = 60


class Bench:
    """An assignment with the model's answers, of which one is exchanged again and again.

    Args:
        name: The assignment.
        seed: Which variant.
    """

    def __init__(self, name: str, seed: int = 0):
        self.name, source = assignment.choose(name), assignment.read(name, seed)
        self.marks, self.answers = assignment.values(name, seed), {}
        self.tests: dict[str, list] = {}
        self.space: dict[str, Any] = {"__name__": "__main__"}
        model, last = assignment.model(source), max(n for n, cell in enumerate(source.cells) if is_test(cell))
        for cell in source.cells[: last + 1]:
            question = facts(cell).get("grade_id", "")
            if is_answer(cell):
                self.answers[question] = model[question]
                self._run(compiled(model[question], question), self.space)
            elif is_given(cell) and not is_setup(cell):
                self._run(compiled(cell.source, question), self.space)
            elif is_test(cell):
                self.tests.setdefault(assignment.question(question), []).append(compiled(cell.source, question))

    @staticmethod
    def _run(code: Any, space: dict[str, Any]) -> None:
        with proof.limits(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, space)

    def functions(self) -> dict[str, list[str]]:
        """Of each question, the names of the functions that its answer defines."""
        names = {question: sorted(made(ast.parse(text).body)) for question, text in self.answers.items()}
        return {question: [n for n in of if callable(self.space[n])] for question, of in names.items()}

    def accepted(self, question: str, space: dict[str, Any]) -> bool:
        """Whether answers lose no point of a question."""
        space = dict(space)
        try:
            for test in self.tests[question]:
                self._run(test, space)
        except Exception:
            return False
        return True

    def mutants(self, question: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Names of the mutants of an answer, and the names that a notebook with it defines: the first is unchanged."""
        tree = settled(ast.parse(self.answers[question]))
        names = sorted(made(tree.body))
        target = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        for name, code in mutants(tree, target):
            space = dict(self.space)
            with contextlib.suppress(Exception):  # a mutant that cannot be loaded answers nothing
                self._run(code, space)
                yield name, space
        for name in self.functions()[question]:
            for words, around in DRESSED.items():
                yield f"{name}: {words}", self.space | {name: around(self.space[name])}


def settled(tree: ast.Module) -> ast.Module:
    """The module without what cannot happen in this variant: branches whose condition compares two constants, and what
    comes after a return.
    """

    class Settle(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
            self.generic_visit(node)
            ends = [n for n, line in enumerate(node.body) if isinstance(line, ast.Return)]
            node.body = node.body[: ends[0] + 1] if ends else node.body
            return node

        def visit_If(self, node: ast.If) -> Any:
            self.generic_visit(node)
            return node if (known := _known(node.test)) is None else node.body if known else node.orelse

        def visit_IfExp(self, node: ast.IfExp) -> Any:
            self.generic_visit(node)
            return node if (known := _known(node.test)) is None else node.body if known else node.orelse

        def visit_BoolOp(self, node: ast.BoolOp) -> Any:
            self.generic_visit(node)
            neutral = isinstance(node.op, ast.And)
            left = [value for value in node.values if _known(value) is not neutral]
            return left[0] if len(left) == 1 else node

    return ast.fix_missing_locations(Settle().visit(tree))


def _known(test: ast.expr) -> bool | None:
    """What a comparison of two constants gives; None for other conditions."""
    if isinstance(test, ast.Compare) and all(isinstance(x, ast.Constant) for x in [test.left, *test.comparators]):
        return bool(eval(compile(ast.Expression(test), "<constants>", "eval")))
    return None


def surviving(bench: Bench, question: str, found: Found) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mutants of an answer that lose no point; the first is the model's answer."""
    for name, space in bench.mutants(question):
        found.tried += name != "unchanged"
        if bench.accepted(question, space):
            yield f"{question}: {name}", space
        elif name == "unchanged":
            raise ValueError(f"{bench.name}: the model's answer to {question} loses points")
        else:
            found.refused += 1


def hunt(name: str, seed: int = 0, draws: int = DRAWS) -> Found:
    """Ask every mutant of every answer to an assignment.

    Args:
        name: The assignment.
        seed: Which variant.
        draws: In how many experiments those that lose nothing are compared with the model's answer. In none, all of
            them are called equivalent.
    """
    found, bench = Found(), Bench(name, seed)
    for question in bench.answers:
        living = surviving(bench, question, found)
        _, right = next(living)
        wanted: list[Any] = []
        for words, space in living:
            differs = difference(bench, question, right, space, draws, wanted)
            if differs is None:
                found.equivalent.append(words)
            else:
                found.holes[words] = differs
    return found


def difference(bench: Bench, question: str, right: dict, mutant: dict, draws: int, wanted: list) -> str | None:
    """How two answers differ in an experiment, None where they do in none.

    Args:
        bench: The assignment.
        question: The question.
        right: What a notebook with the model's answer defines.
        mutant: The same with the mutant's.
        draws: How many experiments are drawn.
        wanted: What the model's answer has given in the first of them; it grows.
    """
    experiment = DOMAINS[bench.name.split("_")[0], question]
    for n in range(draws):
        drawn = functools.partial(experiment, marks=bench.marks)
        if n == len(wanted):
            wanted.append(_run(drawn(random.Random(f"{question}/{n}")), right))
            if isinstance(wanted[n], str):
                raise ValueError(f"{bench.name}, {question}, experiment {n}: the model's answer stops: {wanted[n]}")
        if not alike(got := _run(drawn(random.Random(f"{question}/{n}")), mutant), wanted[n]):
            return f"experiment {n}: {shortly(got)}, not {shortly(wanted[n])}"
    return None


def _run(experiment: Callable[[dict], Any], space: dict) -> Any:
    """What comes of an experiment, or in words why it stops."""
    try:
        with warnings.catch_warnings(), proof.LIMIT(4 * proof.CALL, processor=True), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            torch.default_generator.manual_seed(0)  # torch.manual_seed takes longer than most answers
            return experiment(space)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:90]


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for wrong answers that lose no point.")
    parser.add_argument("names", nargs="*", default=assignment.names())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="list those that are right in survivors.json")
    chosen = parser.parse_args()
    if chosen.write and chosen.seed:
        parser.error("survivors.json lists those of the published variant")
    for name in chosen.names:
        found = hunt(name, chosen.seed)
        print(
            f"{name}: {found.tried} mutants, {found.refused} lose points, {len(found.equivalent)} equivalent, "
            f"{len(found.holes)} holes"
        )
        for hole, where in found.holes.items():
            print(f"    {hole}\n        {where}")
        if chosen.write:
            survivors.write(TABLE, {assignment.choose(name): found.equivalent})


if __name__ == "__main__":
    main()
