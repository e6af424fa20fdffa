"""The bug museum: each exhibit is broken as shipped, its test sees that, and only a real repair satisfies it."""

import re

import nbformat
import pytest
import torch
import yaml

from attnlib.course.book import BOOK, without_magics

EXHIBITS = sorted(path.stem.removeprefix("bug_") for path in BOOK.glob("bug_*.ipynb"))
INDEX = (BOOK / "bug_museum.md").read_text("utf8")
#: What an exhibit calls has tests of its own.
pytestmark = pytest.mark.untraced

#: Repairs that repair nothing, or too little: exhibit → what it is → (which cell is edited, its text, the new text).
WRONG = {
    "parrot": {
        "backwards": ("repair", "target[:, :-1], target[:, 1:]", "target[:, 1:], target[:, :-1]"),
        "both cut at the end": ("repair", "target[:, :-1], target[:, 1:]", "target[:, :-1], target[:, :-1]"),
        "both cut at the start": ("repair", "target[:, :-1], target[:, 1:]", "target[:, 1:], target[:, 1:]"),
        "two ahead": ("repair", "target[:, :-1], target[:, 1:]", "target[:, :-2], target[:, 2:]"),
        "the end is not asked for": ("repair", "target[:, :-1], target[:, 1:]", "target[:, :-2], target[:, 1:-1]"),
    },
    "perplexity": {
        "only above the bar": ("repair", "surprise[targets != PAD].mean()", "(surprise * (targets != PAD)).mean()"),
        "mean of means": ("repair", "surprise[targets != PAD].mean()",
            "torch.stack([s[t != PAD].mean() for s, t in zip(surprise, targets)]).mean()"),
        "the end is padding too": ("repair", "targets != PAD", "targets > EOS"),
        "only the last place": ("repair", "surprise[targets != PAD].mean()", "surprise[:, :-1].mean()"),
    },
    "questions": {
        "over the batch": ("bug", "dim=1", "dim=0"),
        "over the whole table": ("bug", "scores.softmax(dim=1)", "scores.flatten(1).softmax(-1).view_as(scores)"),
        "rows made to sum to 1 afterwards": ("bug", "return weights",
            "weights = weights / weights.sum(-1, keepdim=True)\n    return weights"),
        "the table turned round": ("bug", "scores.softmax(dim=1)", "scores.mT.softmax(-1).mT"),
    },
    "reviews": {
        "score 0": ("repair", "-torch.inf", "0.0"),
        "a low score": ("repair", "-torch.inf", "-2.0"),
        "the mask inverted": ("repair", "tokens == 0", "tokens != 0"),
        "masked after the softmax": ("bug", "(h @ self.query).softmax(-1)",
            "(h @ self.query).softmax(-1).masked_fill(tokens == 0, 0.0)"),
        "scores times the mask": ("bug", "(h @ self.query)", "(h @ self.query * (tokens != 0))"),
    },
    "checks": {
        "by the width": ("repair", "math.sqrt(query.shape[-1])", "query.shape[-1]"),
        "by ten": ("repair", "math.sqrt(query.shape[-1])", "10"),
        "by the number of queries": ("repair", "query.shape[-1]", "query.shape[-2]"),
        "by the number of keys": ("repair", "query.shape[-1]", "key.shape[-2]"),
        "by the width of the values": ("repair", "query.shape[-1]", "value.shape[-1]"),
        "times the root": ("repair", "/ math", "* math"),
    },
    "dictionary": {
        "all keys alike": ("repair", "self.U(annotations)", "self.U(annotations.mean(1)[:, None] + 0 * annotations)"),
        "the mean of the keys": ("bug", "self.W(state)", "self.W(state) + annotations.mean((1, 2))[:, None]"),
        "the question ignored": ("repair", "self.W(state).unsqueeze(1) + ", ""),
        "equal shares": ("bug", "scores.softmax(-1)", "(0 * scores).softmax(-1)"),
        "over the batch": ("repair", "softmax(-1)", "softmax(0)"),
    },
    "picture": {
        "transposed": ("repair", "imshow(weights", "imshow(weights.T"),
        "rows from the bottom": ("repair", "target[1:]", "target[:0:-1]"),
        "columns from the right": ("repair", "range(S), source", "range(S), source[::-1]"),
        "the first row dropped": ("bug", "imshow(weights", "imshow(weights[1:]"),
        "one row too high": ("bug", "target[:T]", '[*target[2:], ""]'),
    },
    "ipad": {
        "made to sum to 1 afterwards": ("bug", "ids, weights)", "ids, weights).softmax(-1)"),
        "divided by its sum": ("bug", "return P.scatter(1, ids, weights)",
            "P = P.scatter(1, ids, weights)\n    return P / P.sum(-1, keepdim=True)"),
        "the largest stays": ("bug", "scatter(1, ids, weights)", 'scatter_reduce(1, ids, weights, "amax")'),
        "their mean": ("bug", "scatter(1, ids, weights)",
            'scatter_reduce(1, ids, weights, "mean", include_self=False)'),
        "added twice": ("repair", "ids, weights)", "ids, weights).scatter_add(1, ids, weights)"),
    },
    "dice": {
        "itself hidden": ("repair", "triu(1)", "triu(0)"),
        "one more into the future": ("bug", "triu(2)", "triu(3)"),
        "the other triangle": ("bug", "triu(2)", "tril(-1)"),
        "the other triangle with itself": ("bug", "triu(2)", "tril(0)"),
        "nothing but itself": ("bug", "torch.ones(T, T, dtype=torch.bool).triu(2)", "~torch.eye(T).bool()"),
        "score 0": ("repair", "-torch.inf", "0.0"),
        "masked after the softmax": ("repair", "scores.masked_fill(future, -torch.inf).softmax(-1)",
            "scores.softmax(-1).masked_fill(future, 0.0)"),
    },
    "places": {
        "merged as before": ("repair", "x.transpose(1, 2).reshape(B, T,", "x.reshape(B, T,"),
        "split as before": ("repair", "x.reshape(B, T, n_heads, d // n_heads).transpose(1, 2)",
            "x.reshape(B, n_heads, T, d // n_heads)"),
        "heads attend to heads": ("bug", "x.reshape(B, n_heads, T, d // n_heads)",
            "x.reshape(B, T, n_heads, d // n_heads)"),
        "T exchanged before the cut": ("repair", "x.reshape(B, T, n_heads, d // n_heads).transpose(1, 2)",
            "x.transpose(1, 2).reshape(B, n_heads, T, d // n_heads)"),
    },
}  # fmt: skip

#: Repairs that are right and worded in another way.
RIGHT = {
    "parrot": {"cut afterwards": ("repair", "model(source, inputs).logits", "model(source, target).logits[:, :-1]")},
    "perplexity": {
        "by torch": ("repair", "surprise[targets != PAD].mean()",
            "F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)"),
    },
    "questions": {"counted from the left": ("bug", "dim=1", "dim=2")},
    "reviews": {
        "a very low score": ("repair", "-torch.inf", "-1e9"),
        "renormalised": ("bug", "(h @ self.query).softmax(-1)",
            "(h @ self.query).exp() * (tokens != 0)\n        weights = weights / weights.sum(-1, keepdim=True)"),
    },
    "checks": {"the query divided": ("bug", "query @", "query / query.shape[-1] ** 0.5 @")},
    "dictionary": {
        "another score that looks at the key": ("repair", "self.v(energy).squeeze(-1)",
            "(self.U(annotations) * self.W(state).unsqueeze(1)).sum(-1)"),
    },
    "picture": {"counted from the end": ("bug", "target[:T]", "target[-T:]")},
    "ipad": {
        "as a product": ("bug", "P.scatter(1, ids, weights)",
            "(weights.unsqueeze(1) @ nn.functional.one_hot(ids, size).float())[:, 0]"),
    },
    "dice": {
        "by what is visible": ("bug", "torch.ones(T, T, dtype=torch.bool).triu(2)", "torch.ones(T, T).tril() == 0"),
    },
    "places": {
        "by einsum": ("bug", "x.reshape(B, n_heads, T, d // n_heads)",
            "x.reshape(B, T, n_heads, -1).permute(0, 2, 1, 3)", "return x.reshape(B, T, n_heads * d_head)",
            "return torch.cat(list(x.unbind(1)), dim=-1)"),
    },
}  # fmt: skip


def code_cells(name: str) -> list:
    notebook = nbformat.read(BOOK / f"bug_{name}.ipynb", as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def the(tag: str, name: str):
    """The one cell of an exhibit with this tag."""
    (cell,) = (cell for cell in code_cells(name) if tag in tags(cell))
    return cell


def edited(name: str, edit: tuple) -> str:
    """The text of a cell with an edit, which must apply."""
    which, *changes = edit
    text = the(which, name).source
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text, f"{name}: {old!r} is not in the cell {which!r}"
        text = text.replace(old, new)
    return text


@pytest.fixture
def run():
    """Run an exhibit with this text for its code; the threads that it sets do not stay."""
    threads = torch.get_num_threads()

    def run(name: str, code: str | None = None, whole: bool = False) -> dict:
        """Its names, after the failing test cell (without demonstrations), or after all of its cells."""
        space: dict = {}
        for cell in code_cells(name):
            if "demo" in tags(cell) and not whole:
                continue
            text = code if code is not None and "bug" in tags(cell) else cell.source
            text = re.sub(r"^test_\w+\(\)$", "pass", text, flags=re.M) if "bug" in tags(cell) else text
            exec(without_magics(text), space)
            if "test" in tags(cell) and not whole:
                return space
        return space

    yield run
    torch.set_num_threads(threads)


def cases(table: dict, found: bool) -> list:
    """Every edit of a table, with a readable name."""
    return [pytest.param(n, edit, found, id=f"{n}: {why}") for n, edits in table.items() for why, edit in edits.items()]


def test_every_exhibit_has_wrong_repairs_and_a_right_one():
    assert len(EXHIBITS) >= 7 and set(EXHIBITS) == set(WRONG) == set(RIGHT)
    assert all(len(repairs) >= 2 for repairs in WRONG.values())


@pytest.mark.parametrize("name", EXHIBITS)
def test_as_shipped_the_test_fails(name, run, capsys):
    assert run(name)["FOUND"] is False
    assert capsys.readouterr().out.startswith(the("test", name).outputs[0].text[:60])


@pytest.mark.thorough  # `make test` runs the notebooks
@pytest.mark.parametrize("name", EXHIBITS)
def test_repaired_the_test_passes_and_so_does_all_that_follows(name, run, capsys):
    space = run(name, the("repair", name).source, whole=True)
    assert space["FOUND"] is True
    assert len(re.findall(r"^passed: ", capsys.readouterr().out, re.M)) == 2  # the reader's repair, and the book's


@pytest.mark.parametrize(("name", "edit", "found"), cases(RIGHT, True) + cases(WRONG, False))
def test_a_right_repair_in_other_words_passes_and_a_wrong_one_fails(name, edit, found, run):
    assert run(name, edited(name, edit))["FOUND"] is found


@pytest.mark.parametrize("name", EXHIBITS)
def test_the_notebook_stores_the_failure_and_then_the_success_of_short_code(name):
    (stored,) = the("test", name).outputs
    assert re.fullmatch(r"not yet: .{20,}\n", stored.text, re.S)
    order = [tag for cell in code_cells(name) for tag in tags(cell) if tag in {"bug", "test", "repair"}]
    assert order == ["bug", "test", "repair"]
    repair, source = the("repair", name), the("bug", name).source
    assert "hide-input" in tags(repair) and repair.outputs[-1].text.startswith("passed: ")
    assert 8 <= len(source.splitlines()) <= 22 and "attnlib" not in source


def test_the_index_lists_every_exhibit_once_in_its_order():
    rows = re.findall(r"^\| \[(\d+ · .+?)\]\(bug_(\w+)\.ipynb\) \|", INDEX, re.M)
    assert sorted(name for _, name in rows) == EXHIBITS
    assert [int(title.split(" ")[0]) for title, _ in rows] == list(range(1, len(rows) + 1))
    for title, name in rows:
        text = (BOOK / f"bug_{name}.md").read_text("utf8")
        assert f"\n# Exhibit {title}\n" in text
        (row,) = re.findall(rf"^.*\(bug_{name}\.ipynb\).*$", INDEX, re.M)
        (belongs,) = re.findall(r"^\| \*\*Belongs to\*\* .*$", text, re.M)
        chapters = re.findall(r"\((\d\d_\w+)\.ipynb\)", belongs)
        assert chapters == re.findall(r"\((\d\d_\w+)\.ipynb\)", row)
        assert set(re.findall(r"\b\d+\b", row.split("|")[4])) == set(re.findall(r"chapter (\d+)", belongs))
        assert all((BOOK / f"{chapter}.md").exists() for chapter in chapters)
    toc = yaml.safe_load((BOOK.parent / "_toc.yml").read_text("utf8"))
    (museum,) = (c for part in toc["parts"] for c in part["chapters"] if c["file"] == "book/bug_museum")
    assert [s["file"] for s in museum["sections"]] == [f"book/bug_{name}.ipynb" for _, name in rows]
