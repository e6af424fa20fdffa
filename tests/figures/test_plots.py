"""Figures show the numbers they were given, in colours that can be read."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from attnlib.figures.palette import CURVES, ROLES
from attnlib.figures.plots import (
    INK,
    ON_FULL,
    ON_PALE,
    curves,
    describe_weights,
    dots,
    heatmap,
    of,
    shades,
    smooth,
    use_style,
)

ROWS, COLUMNS = ["le", "chat", "dort"], ["the", "cat", "is", "asleep", "."]
DARK_PAGE = "#14181e"


@pytest.fixture
def weights() -> np.ndarray:
    table = np.random.default_rng(0).random((3, 5))
    return table / table.sum(1, keepdims=True)


def linear(colour) -> list[float]:
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]


def contrast(*colours) -> float:
    """WCAG 2: (lighter + 0.05) / (darker + 0.05), of relative luminances."""
    low, high = sorted(float(np.dot([0.2126, 0.7152, 0.0722], linear(colour))) for colour in colours)
    return (high + 0.05) / (low + 0.05)


def shown(ax) -> np.ndarray:
    """The weights that a heat map shows: how full the cell at a row and a column is."""
    table = np.zeros((len(ax.get_yticks()), len(ax.get_xticks())))
    for cell in ax.patches:
        assert (cell.get_width(), cell.get_height()) == (1, 1)
        assert cell.get_facecolor()[:3] == to_rgb(ROLES["weight"].light)
        x, y = (int(at + 0.5) for at in cell.get_xy())
        table[y, x] = cell.get_alpha()
    return table


def words(ticks) -> list[str]:
    return [tick.get_text() for tick in ticks]


# --- heatmap ----------------------------------------------------------------------------------------


def test_heatmap_shows_the_weights_it_is_given(weights):
    assert_allclose(shown(heatmap(weights, ROWS, COLUMNS)), weights, atol=0.004)
    faint = [[0.997, 0.003]]
    assert_allclose(shown(heatmap(faint, ["q"], ["a", "b"])), [[0.997, 0]])  # a cell that nobody would see
    assert_allclose(shown(heatmap([[1 + 1e-7]], ["a"], ["b"])), [[1.0]])  # rounding above 1 is forgiven


def test_rows_are_queries_and_columns_are_keys(weights):
    ax = heatmap(weights, ROWS, COLUMNS, row_label="French", column_label="English")
    assert words(ax.get_yticklabels()) == ROWS and words(ax.get_xticklabels()) == COLUMNS
    assert list(ax.get_yticks()) == [0, 1, 2] and list(ax.get_xticks()) == [0, 1, 2, 3, 4]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("French", "English")
    low, high = ax.get_ylim()
    assert low > high  # the first query on top
    plain = heatmap(weights, ROWS, COLUMNS)
    assert (plain.get_ylabel(), plain.get_xlabel()) == ("query", "key")


def test_every_cell_tells_its_weight_while_there_is_room(weights):
    texts = heatmap(weights, ROWS, COLUMNS).texts
    found = {t.get_position(): t.get_text() for t in texts}
    assert found == {(j, i): f"{weights[i, j]:.2f}" for i in range(3) for j in range(5)}
    many = np.full((8, 9), 1 / 9)
    for table, numbers, count in ((many, None, 0), (many, True, 72), (many[:, :8], None, 64), (weights, False, 0)):
        T, S = table.shape
        assert len(heatmap(table, ["q"] * T, ["k"] * S, numbers=numbers).texts) == count


@pytest.mark.parametrize(("page", "on_pale"), [("#ffffff", "#000000"), (DARK_PAGE, "#ffffff")])
def test_numbers_can_be_read_on_every_weight(page, on_pale):
    levels = np.linspace(0, 1, 201)
    ax = heatmap(levels[None], ["q"], ["k"] * 201, numbers=True)
    full = np.array(to_rgb(ROLES["weight"].light))  # assets/book.css keeps this shade for cells
    inks = {ON_PALE: on_pale, ON_FULL: ON_FULL}
    for text, level in zip(ax.texts, levels, strict=True):
        cell = level * full + (1 - level) * np.array(to_rgb(page))
        assert contrast(inks[text.get_color()], cell) >= 4.5, level


def test_heatmap_draws_where_it_is_told_and_leaves_other_axes_alone(weights):
    figure, (left, right) = plt.subplots(1, 2)
    assert heatmap(weights, ROWS, COLUMNS, left) is left
    heatmap(weights[::-1], ROWS[::-1], COLUMNS, right)  # a second view does not erase the first
    assert_allclose(shown(left), weights, atol=0.004)
    assert_allclose(shown(right), weights[::-1], atol=0.004)
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize(
    ("columns", "rotation", "side"), [(list("abc"), 0, "center"), (["a", "b", "longer"], 45, "left")]
)
def test_short_words_stand_over_their_column_and_long_ones_lean(columns, rotation, side):
    labels = heatmap(np.eye(3), list("abc"), columns).get_xticklabels()
    assert {label.get_rotation() for label in labels} == {rotation}
    assert {label.get_ha() for label in labels} == {side}


def test_heatmap_takes_tensors_and_lists(weights):
    for same in (torch.from_numpy(weights), weights.tolist(), torch.from_numpy(weights).float()):
        assert_allclose(shown(heatmap(same, ROWS, COLUMNS)), weights, atol=0.004)
    as_models_return_them = torch.tensor([[0.25, 0.75]], dtype=torch.bfloat16, requires_grad=True)
    assert describe_weights(as_models_return_them, ["le"], ["a", "the"]) == '"le" looks most at "the" (0.75)'


@pytest.mark.parametrize("draw", [heatmap, describe_weights])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((5, 3)), r"\(5, 3\) do not fit 3 rows and 5 columns"),
        (np.zeros((1, 3, 5)), r"\(1, 3, 5\)"),
        (np.full((3, 5), 1.1), r"0\.\.1, got 1\.1\.\.1\.1"),
        (np.full((3, 5), -0.1), r"0\.\.1"),
        (np.full((3, 5), np.nan), r"0\.\.1, got nan"),
    ],
)
def test_what_are_no_weights_of_these_words_is_refused(draw, table, message):
    with pytest.raises(ValueError, match=message):
        draw(table, ROWS, COLUMNS)


def test_heatmap_in_words():
    table = [[0.1, 0.9, 0.0], [0.0, 0.0, 0.0], [0.25, 0.25, 0.5]]
    assert describe_weights(table, ["a", "b", "c"], ["x", "y", "z"]) == (
        '"a" looks most at "y" (0.90); "b" looks at nothing; "c" looks most at "z" (0.50)'
    )


# --- curves -----------------------------------------------------------------------------------------


def test_curves_show_the_numbers_they_are_given():
    _, (left, right) = plt.subplots(1, 2)
    given = {"ours": [3.0, 2.0, 1.0], "theirs": ([10, 20], [2.5, 1.5])}
    ax = curves(given, right, xlabel="step", ylabel="loss [nats]")
    assert ax is right and not left.lines
    ours, theirs = ax.lines
    assert_allclose(ours.get_xydata(), [[1, 3], [2, 2], [3, 1]])
    assert_allclose(theirs.get_xydata(), [[10, 2.5], [20, 1.5]])
    assert words(ax.get_legend().get_texts()) == [line.get_label() for line in ax.lines] == ["ours", "theirs"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("step", "loss [nats]", "linear")
    assert ours.get_linestyle() != theirs.get_linestyle()  # not by colour alone


def test_levels_are_drawn_and_named():
    ax = curves({"ours": [3.0, 2.0]}, xlabel="x", ylabel="y", levels={"uniform": 4.17, "human": 0.5}, log=True)
    _, *levels = ax.lines
    assert [set(line.get_ydata()) for line in levels] == [{4.17}, {0.5}]
    assert {text.get_text(): text.xy[1] for text in ax.texts} == {"uniform": 4.17, "human": 0.5}
    assert ax.get_yscale() == "log"


@pytest.mark.parametrize(
    ("line", "message"),
    [(([1, 2], [1.0]), "'a' has 2 x and 1 y"), ([], "'a' has 0 x and 0 y")],
)
def test_curve_without_sense_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        curves({"a": line}, xlabel="x", ylabel="y")


def test_curves_are_named_at_their_ends_where_there_is_room():
    ax = curves({"ours": [3.0, 1.0], "theirs": [1.0, 3.0]}, xlabel="x", ylabel="y")
    assert ax.get_legend() is None
    assert {t.get_text(): (t.xy, t.get_color()) for t in ax.texts} == {
        line.get_label(): (tuple(line.get_xydata()[-1]), line.get_color()) for line in ax.lines
    }


@pytest.mark.parametrize(
    "crowded",
    [
        {"ours": [3.0, 1.0], "theirs": [1.0, 1.01]},  # one name would stand on the other
        {"ours": [3.0, 1.0], "theirs": ([1, 3], [1.0, 3.0])},  # the ends are not below each other
        {"ours": [3.0, 1.0], "theirs, with a long name": [1.0, 3.0]},
    ],
)
def test_curves_are_named_in_a_legend_where_there_is_none(crowded):
    ax = curves(crowded, xlabel="x", ylabel="y")
    assert words(ax.get_legend().get_texts()) == list(crowded)
    assert not ax.texts


def test_every_value_has_its_dot():
    ax = dots({"ours": [0.5, 0.7], "theirs": [0.1]}, xlabel="share right")
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0.5, 0], [0.7, 0]], [[0.1, 1]]]
    assert words(ax.get_yticklabels()) == ["ours", "theirs"]


# --- colours ----------------------------------------------------------------------------------------


def test_paper_is_opaque_and_white(tmp_path, weights):
    use_style()
    heatmap(weights, ROWS, COLUMNS)
    plt.savefig(tmp_path / "figure.png")
    pixels = plt.imread(tmp_path / "figure.png")
    if pixels.shape[-1] == 4:
        assert_allclose(pixels[..., 3], 1)
    assert_allclose(pixels[[0, 0, -1, -1], [0, -1, 0, -1], :3], 1)
    assert not plt.rcParams["savefig.transparent"]
    assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == [colour.light for colour in CURVES]


def test_what_belongs_to_a_role_has_its_colour_and_says_so(tmp_path):
    use_style()
    plt.figure().add_subplot().plot([1, 2], **of("key"))
    plt.savefig(tmp_path / "figure.svg")
    assert re.search(r'<g id="key">\s*<path [^>]*stroke: #b8400e', (tmp_path / "figure.svg").read_text())
    half = np.array(shades("key")(0.5))
    assert_allclose(half, [*to_rgb("#b8400e"), 0.5], atol=0.01)


def lab(colour) -> np.ndarray:
    """CIE L*a*b*, for D65: equal distances look equally different."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear(colour)
    x, y, z = np.cbrt(xyz / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(("shade", "page"), [("light", "#ffffff"), ("dark", DARK_PAGE)])
def test_roles_and_curves_can_be_read_and_no_curve_is_taken_for_another_or_for_a_role(shade, page):
    colours = [getattr(colour, shade) for colour in (*CURVES, *ROLES.values())]
    assert min(contrast(role, page) for role in colours[len(CURVES) :]) >= 4.5
    for n, colour in enumerate(colours[: len(CURVES)]):
        assert contrast(colour, page) >= 4
        assert min(np.linalg.norm(lab(colour) - lab(other)) for other in colours[n + 1 :]) >= 25, colour


def test_contrast_is_measured_as_the_standard_says():
    assert_allclose(contrast("#000000", "#ffffff"), 21)
    assert_allclose(contrast("#777777", "#ffffff"), 4.48, atol=0.005)
    assert contrast(INK, "#ffffff") >= 7


def test_style_sheet_of_the_book_has_the_colours_of_the_palette():
    text = (Path(__file__).parents[2] / "assets" / "book.css").read_text("utf8")
    wanted = {f"--attn-{role}": colour for role, colour in ROLES.items()}
    wanted |= {f"--curve-{n}": colour for n, colour in enumerate(CURVES)}
    blocks = re.findall(r'^ *(?:html|html\[data-theme="dark"\]) \{(.*?)\}', text, re.M | re.S)
    for block, shade in zip(blocks, ("light", "dark"), strict=True):
        found = dict(re.findall(r"(--(?:attn|curve)-\w+): (#\w+)", block))
        assert found == {name: getattr(colour, shade) for name, colour in wanted.items()}
    rule = re.compile(
        r'html\[data-theme="dark"\] :is\(\[style\*="rgb\((\d+), (\d+), (\d+)\)"\], \[style\*="(#\w+)"\]\) '
        r"\{ color: var\(--attn-(\w+)\) !important; \}"
    )
    formulas = {}
    for red, green, blue, light, role in rule.findall(text):
        assert f"#{int(red):02x}{int(green):02x}{int(blue):02x}" == light
        formulas[role] = light
    assert formulas == {role: colour.light for role, colour in ROLES.items()}
    assert re.findall(r"weight-cell\"\] \{ --attn-weight: (#\w+)", text) == [ROLES["weight"].light]


def test_several_runs_are_drawn_as_their_mean_in_a_band():
    ax = curves({"ours": smooth([[3.0, 2.0], [5.0, 4.0], [1.0, 0.0]], 1)}, xlabel="x", ylabel="y")
    (mean,), (band,) = ax.lines, ax.collections
    assert_allclose(mean.get_xydata(), [[1, 3], [2, 2]])
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(1.0, 1.0), (1.0, 5.0), (2.0, 0.0), (2.0, 4.0)}


# --- smooth -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 11])
def test_smooth_is_the_mean_of_neighbours_with_the_number_of_the_last(n):
    runs = np.random.default_rng(0).normal(size=(4, 11))
    steps, means = smooth(runs.tolist(), n)
    assert list(steps) == list(range(n, 12)) and means.shape == (4, len(steps))
    for r in range(4):
        for i, step in enumerate(steps):
            assert_allclose(means[r, i], sum(runs[r, step - n : step]) / n)
    one_steps, one = smooth(runs[2].tolist(), n)
    assert one_steps == steps
    assert_allclose(one, means[2])


@pytest.mark.parametrize("n", [0, -1, 4])
def test_more_steps_than_there_are_cannot_be_smoothed(n):
    with pytest.raises(ValueError, match=f"cannot take means of {n} out of 3 steps"):
        smooth([1.0, 2.0, 3.0], n)
