"""Gives a hand-in the shape of its assignment back, whatever an editor or its student has done to the cells.

VS Code, upload tools and Colab lose what nbgrader writes into cells; students delete, copy and edit them. So a cell
is known by what stands in it: a test by its first line, three quotes and `q1_axis: 1 point`; an answer by the names
that it defines; a text by the heading above it. Nbgrader's marks help where they are left, and are not believed.

The result has the cells of the release in their order, with its points, locks and tests, the student's answers in
them, and everything else that the student wrote beside them, where it stood.
"""

import ast
import copy
import re
from dataclasses import dataclass, field

from attnlib.course.book import without_magics
from attnlib.grading.assignment import facts, question

TEST = re.compile(r'\s*(?:"""|\'\'\')(\w+): \d+ points?(?:"""|\'\'\')')
STOOD = "**What stood in the test cell"
NOTE = STOOD + " `{name}`, which is as it was released again:**\n\n````python\n{source}\n````"
#: What the marks of a cell must agree in with those of the release.
SETTLED = ("grade", "locked", "points", "solution")


@dataclass
class Slot:
    """A cell of the release, and which cells of the hand-in are its: a test, an answer, a text, given, or free."""

    cell: dict
    number: int
    name: str
    kind: str
    defines: set[str]
    found: list[int] = field(default_factory=list)


def restored(submission, release) -> tuple[object, list[str]]:
    """Put what a student wrote into the cells of the assignment.

    Args:
        submission: The notebook that was handed in; it is not changed.
        release: The student version of the assignment, with nbgrader's marks.

    Returns:
        A notebook that nbgrader can grade, and what was mended, in words.

    Raises:
        ValueError: It is the notebook of something else; the words say of what.
    """
    cells = [_plain(cell) for cell in submission.cells]
    slots = [_slot(number, cell) for number, cell in enumerate(release.cells)]
    _find(cells, slots)
    _refuse_another(cells, slots)

    said = _marks(cells, slots)
    filled = {}  # {slot: the cells that stand there}
    for slot in slots:
        tests = [n for s in slots if s.kind == "test" and question(s.name) == question(slot.name) for n in s.found]
        fill = {"answer": _answer, "text": _text}.get(slot.kind, _given)
        filled[slot.number] = fill(slot, cells, tests, said)

    # what is the student's own stays behind the cell behind which it stood
    place = {n: slot.number for slot in slots for n in slot.found}
    first, behind = [], {slot.number: [] for slot in slots}
    anchor = first
    for number, cell in enumerate(cells):
        if number in place:
            anchor = behind[place[number]]
        elif cell.source.strip():
            anchor.append(_own(cell))

    result = copy.deepcopy(release)
    result.cells = first + [cell for slot in slots for cell in filled[slot.number] + behind[slot.number]]
    result.cells = copy.deepcopy(result.cells)
    if (result.nbformat, result.nbformat_minor) >= (4, 5):
        _identify(result, release)
    return result, said


def _identify(result, release) -> None:
    """Give the student's own cells ids that nobody else has; they keep theirs where they can."""
    settled = {cell.get("id") for cell in release.cells}
    given = {cell.get("id") for cell in result.cells if "nbgrader" in cell.metadata}
    for number, cell in enumerate(result.cells):
        if "nbgrader" in cell.metadata:
            continue
        name = cell.get("id")
        if not name or name in given or (name in settled and not any(cell == other for other in release.cells)):
            name = next(i for i in (f"own{n:03d}" for n in range(number, 10**6)) if i not in given | settled)
        cell["id"] = name
        given.add(name)


def defined(source: str) -> set[str]:
    """Names that a cell defines: its functions and classes, or, where it has none, what stands left of `=`."""
    try:
        body = ast.parse(without_magics(source)).body
    except SyntaxError:
        made = set(re.findall(r"^(?:async )?(?:def|class) +(\w+)", source, re.M))
        return made or set(re.findall(r"^(\w+)[ \t]*(?::[^=\n]+)?=[^=]", source, re.M))
    made = {n.name for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    targets = [t for n in body if isinstance(n, ast.Assign) for t in n.targets]
    targets += [n.target for n in body if isinstance(n, ast.AnnAssign)]
    return made or {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def _plain(cell):
    """A copy without the ends of lines of Windows."""
    cell = copy.deepcopy(cell)
    cell["source"] = cell["source"].replace("\r\n", "\n")
    return cell


def _slot(number: int, cell) -> Slot:
    marks = facts(cell)
    if not marks:
        kind = "free"
    elif cell.cell_type == "code" and marks["grade"]:
        kind = "test"
    elif marks["solution"]:
        kind = "answer" if cell.cell_type == "code" else "text"
    else:
        kind = "given"
    made = defined(cell.source) if kind == "answer" else set()
    return Slot(cell, number, marks.get("grade_id", f"free{number}"), kind, made)


def _same(one: str, other: str) -> bool:
    """Equal but for blanks at the ends of lines."""
    return [line.rstrip() for line in one.strip().splitlines()] == [
        line.rstrip() for line in other.strip().splitlines()
    ]


def _first_line(cell) -> str:
    return cell.source.strip().partition("\n")[0].strip()


def _find(cells, slots: list[Slot]) -> None:
    """Find the cells of each slot, by what stands in them first, then by nbgrader's marks."""
    owner = {}
    for number, cell in enumerate(cells):
        slot = _slot_of(cell, slots)
        if slot is not None:
            owner[number] = slot
            slot.found.append(number)

    # a text stands below its heading, in one cell or in several
    for slot in [s for s in slots if s.kind == "text" and s.number]:
        for start in [*slots[slot.number - 1].found, *slot.found]:
            for number in range(start + 1, len(cells)):
                if owner.get(number, slot) is not slot:
                    break
                if number not in owner and cells[number].cell_type == "markdown" and cells[number].source.strip():
                    owner[number] = slot
                    slot.found.append(number)
        slot.found.sort()


def _slot_of(cell, slots: list[Slot]) -> Slot | None:
    if not cell.source.strip():
        return None
    by_name = {slot.name: slot for slot in slots if slot.cell.cell_type == cell.cell_type}
    if cell.cell_type == "code" and (test := TEST.match(cell.source)):
        slot = by_name.get(test[1])
        return slot if slot and slot.kind == "test" else None
    for slot in by_name.values():
        if _same(slot.cell.source, cell.source) and slot.kind != "text":
            return slot
    marked = by_name.get(facts(cell).get("grade_id"))
    if cell.cell_type == "markdown":
        same_heading = [s for s in by_name.values() if s.kind == "given" and _first_line(s.cell) == _first_line(cell)]
        return marked or (same_heading[0] if same_heading and _first_line(cell).startswith("#") else None)
    answers = [slot for slot in by_name.values() if slot.kind == "answer" and slot.defines & defined(cell.source)]
    # the answer may stand in a cell that is marked as something else
    return marked if marked in answers or not answers else answers[0]


def _refuse_another(cells, slots: list[Slot]) -> None:
    titles = [_first_line(c) for c in cells if c.cell_type == "markdown" and re.match(r"\s*# *Assignment\b", c.source)]
    own = next((_first_line(s.cell) for s in slots if s.cell.cell_type == "markdown"), "")
    if titles and own not in titles:
        raise ValueError(f"this is another notebook: {titles[0].lstrip('# ')}")
    if not titles and not any(slot.found for slot in slots if slot.kind in {"test", "answer", "text"}):
        raise ValueError("this is another notebook: no cell of the assignment is in it")


def _marks(cells, slots: list[Slot]) -> list[str]:
    """What has become of nbgrader's marks."""
    found = [(slot, [facts(cells[n]) for n in slot.found]) for slot in slots if slot.kind != "free" and slot.found]
    lost = [slot for slot, all_marks in found if not any(all_marks)]
    changed = [
        slot.name
        for slot, all_marks in found
        for marks in [next(filter(None, all_marks), {})]
        if marks and any(marks.get(key) != facts(slot.cell).get(key) for key in SETTLED)
    ]
    said = []
    if lost:
        count = "all cells" if len(lost) == len(found) else "1 cell" if len(lost) == 1 else f"{len(lost)} cells"
        said.append(f"{count} had lost nbgrader's marks; they are back")
    if changed:
        said.append(f"points or locks had been changed in {', '.join(changed)}; they are as released")
    return said


def _own(cell):
    """A cell of the student's own, which claims to be nothing else."""
    cell = copy.deepcopy(cell)
    cell.metadata.pop("nbgrader", None)
    return cell


def _with(slot: Slot, cell) -> dict:
    """The student's cell in the place, and under the marks, of the release's."""
    mine = copy.deepcopy(cell)
    mine["metadata"] = copy.deepcopy(slot.cell.metadata)
    mine.pop("id", None)
    return type(mine)({**mine, **({"id": slot.cell["id"]} if "id" in slot.cell else {})})


def _answer(slot: Slot, cells, tests: list[int], said: list[str]) -> list:
    """The answer that counts: the last one that defines the name and that a test follows; others run before it."""
    if not slot.found:
        said.append(f"the answer cell {slot.name} was missing; it is back, empty")
        return [slot.cell]
    written = [n for n in slot.found if not _same(cells[n].source, slot.cell.source)]
    candidates = [n for n in written if slot.defines & defined(cells[n].source)] or written
    if not candidates:
        return [slot.cell]
    tested = [n for n in candidates if any(test > n for test in tests)]
    chosen = (tested or candidates)[-1]
    marks = [n for n in slot.found if facts(cells[n]).get("grade_id") == slot.name]
    if len(candidates) > 1:
        said.append(f"{slot.name} is answered {len(candidates)} times; the last answer that is tested counts")
    elif (marks and chosen not in marks) or (not marks and len(slot.found) > 1):
        said.append(f"the answer to {slot.name} stands in a new cell; that one counts")
    # a later one is an experiment: it stays where it is, behind the tests
    later = [n for n in written if n > chosen]
    slot.found = [n for n in slot.found if n not in later]
    earlier = [cells[n] for n in written if n < chosen and not _same(cells[n].source, cells[chosen].source)]
    return [*map(_own, earlier), _with(slot, cells[chosen])]


def _text(slot: Slot, cells, tests: list[int], said: list[str]) -> list:
    """All that stands under the heading, in one cell."""
    if not slot.found:
        said.append(f"the cell for the text {slot.name} was missing; it is back, empty")
        return [slot.cell]
    written = [cells[n] for n in slot.found if not _same(cells[n].source, slot.cell.source)]
    if not written:
        return [slot.cell]
    mine = _with(slot, written[0])
    mine["source"] = "\n\n".join(cell.source.strip("\n") for cell in written) if len(written) > 1 else written[0].source
    pictures = {name: data for cell in written for name, data in cell.get("attachments", {}).items()}
    if pictures:
        mine["attachments"] = pictures
    if len(written) > 1:
        said.append(f"the text {slot.name} stands in {len(written)} cells; they are put together")
    elif len(slot.found) > 1:
        said.append(f"the text {slot.name} stands in a new cell; that one counts")
    return [mine]


def _given(slot: Slot, cells, tests: list[int], said: list[str]) -> list:
    """What no student may change, as it was released; what they made of it is kept beside it."""
    what = f"the {'test' if slot.kind == 'test' else 'given'} cell {slot.name}"
    if slot.kind == "free":
        return [slot.cell] if slot.found else []
    if not slot.found:
        said.append(f"{what} was missing; it is back")
    if len(slot.found) > 1:
        said.append(f"{what} was there {len(slot.found)} times; one is left")
    changed = []
    for n in slot.found:
        new = not _same(cells[n].source, slot.cell.source)
        if new and not any(_same(cells[n].source, cell.source) for cell in changed):
            changed.append(cells[n])
    if not changed:
        return [slot.cell]
    if slot.kind == "test":
        said.append(f"{what} was changed; it is as released")
        notes = [_own(cell) for cell in changed]
        for note in notes:
            note.update(cell_type="markdown", source=NOTE.format(name=slot.name, source=note.source), metadata={})
            for key in ("outputs", "execution_count"):
                note.pop(key, None)
            note["metadata"] = type(note)()
        return [slot.cell, *notes]
    said.append(f"{what} was changed; the released one stands before it")
    return [slot.cell, *map(_own, changed)]
