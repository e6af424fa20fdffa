"""Figures show the numbers they were given, in colours that can be read."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from attnlib.figures.palette import ROLES
from attnlib.figures.plots import INK, WEIGHTS, curves, describe_weights, heatmap, smooth, use_style

ROWS, COLUMNS = ["le", "chat", "dort"], ["the", "cat", "is", "asleep", "."]
DARK_PAGE = "#14181e"


@pytest.fixture
def weights() -> np.ndarray:
    table = np.random.default_rng(0).random((3, 5))
    return table / table.sum(1, keepdims=True)


@pytest.fixture(autouse=True)
def own_style():
    with plt.rc_context():
        yield
    plt.close("all")


def contrast(first, second) -> float:
    """WCAG 2: (lighter + 0.05) / (darker + 0.05), of relative luminances."""

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def words(ticks) -> list[str]:
    return [tick.get_text() for tick in ticks]


# --- heatmap ----------------------------------------------------------------------------------------


def test_heatmap_shows_the_weights_it_is_given(weights):
    ax = heatmap(weights, ROWS, COLUMNS)
    (image,) = ax.images
    assert_allclose(image.get_array(), weights)
    assert image.get_clim() == (0, 1)  # the same colour means the same weight in every figure
    assert image.get_cmap() is WEIGHTS


def test_rows_are_queries_and_columns_are_keys(weights):
    ax = heatmap(weights, ROWS, COLUMNS, row_label="French", column_label="English")
    assert words(ax.get_yticklabels()) == ROWS and words(ax.get_xticklabels()) == COLUMNS
    assert list(ax.get_yticks()) == [0, 1, 2] and list(ax.get_xticks()) == [0, 1, 2, 3, 4]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("French", "English")
    low, high = ax.get_ylim()
    assert low > high  # the first query on top
    ax.figure.canvas.draw()
    row, column = 1, 3  # "chat" on "asleep": where the two labels cross stands their weight
    x = ax.transData.transform((ax.get_xticks()[column], 0))[0]
    y = ax.transData.transform((0, ax.get_yticks()[row]))[1]
    (cell,) = [t for t in ax.texts if np.allclose(ax.transData.transform(t.get_position()), (x, y))]
    assert cell.get_text() == f"{weights[row, column]:.2f}"
    assert heatmap(weights, ROWS, COLUMNS).get_ylabel() == "query"
    assert heatmap(weights, ROWS, COLUMNS).get_xlabel() == "key"


def test_every_cell_tells_its_weight_while_there_is_room(weights):
    texts = heatmap(weights, ROWS, COLUMNS).texts
    found = {t.get_position(): t.get_text() for t in texts}
    assert found == {(j, i): f"{weights[i, j]:.2f}" for i in range(3) for j in range(5)}
    many = np.full((8, 9), 1 / 9)
    for table, numbers, count in ((many, None, 0), (many, True, 72), (many[:, :8], None, 64), (weights, False, 0)):
        T, S = table.shape
        assert len(heatmap(table, ["q"] * T, ["k"] * S, numbers=numbers).texts) == count


def test_numbers_can_be_read_on_every_weight():
    levels = np.linspace(0, 1, 201)
    ax = heatmap(levels[None], ["q"], ["k"] * 201, numbers=True)
    for text, level in zip(ax.texts, levels, strict=True):
        assert contrast(text.get_color(), WEIGHTS(level)) >= 4.5, level


def test_heatmap_draws_where_it_is_told_and_leaves_other_axes_alone(weights):
    figure, (left, right) = plt.subplots(1, 2)
    assert heatmap(weights, ROWS, COLUMNS, left) is left
    heatmap(weights[::-1], ROWS[::-1], COLUMNS, right)  # a second view does not erase the first
    assert_allclose(left.images[0].get_array(), weights)
    assert_allclose(right.images[0].get_array(), weights[::-1])
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
        assert_allclose(heatmap(same, ROWS, COLUMNS).images[0].get_array(), weights, rtol=1e-6)
    as_models_return_them = torch.tensor([[0.25, 0.75]], dtype=torch.bfloat16, requires_grad=True)
    assert describe_weights(as_models_return_them, ["le"], ["a", "the"]) == '"le" looks most at "the" (0.75)'


@pytest.mark.parametrize("draw", [heatmap, describe_weights])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((5, 3)), r"\(5, 3\) do not fit 3 rows and 5 columns"),
        (np.zeros((1, 3, 5)), r"\(1, 3, 5\)"),
        (np.zeros((3, 4)), r"\(3, 4\)"),
        (np.full((3, 5), 1.1), r"0\.\.1, got 1\.1\.\.1\.1"),
        (np.full((3, 5), -0.1), r"0\.\.1"),
        (np.full((3, 5), np.nan), r"0\.\.1, got nan"),
    ],
)
def test_what_are_no_weights_of_these_words_is_refused(draw, table, message):
    with pytest.raises(ValueError, match=message):
        draw(table, ROWS, COLUMNS)


def test_rounding_above_1_is_forgiven():
    assert_allclose(heatmap([[1 + 1e-7]], ["a"], ["b"]).images[0].get_array(), [[1.0]], rtol=1e-6)


def test_heatmap_in_words():
    table = [[0.1, 0.9, 0.0], [0.0, 0.0, 0.0], [0.25, 0.25, 0.5]]
    assert describe_weights(table, ["a", "b", "c"], ["x", "y", "z"]) == (
        '"a" looks most at "y" (0.90); "b" looks at nothing; "c" looks most at "z" (0.50)'
    )


# --- curves -----------------------------------------------------------------------------------------


def test_curves_show_the_numbers_they_are_given():
    ax = curves({"ours": [3.0, 2.0, 1.0], "theirs": ([10, 20], [2.5, 1.5])}, xlabel="step", ylabel="loss [nats]")
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


def test_curves_draw_where_they_are_told():
    _, (left, right) = plt.subplots(1, 2)
    assert curves({"a": [1.0]}, right, xlabel="x", ylabel="y") is right
    assert len(right.lines) == 1 and len(left.lines) == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [(([1, 2], [1.0]), "'a' has 2 x and 1 y"), ([], "'a' has 0 x and 0 y"), (([], []), "0 x and 0 y")],
)
def test_curve_without_sense_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        curves({"a": line}, xlabel="x", ylabel="y")


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
    assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == [colour.light for colour in ROLES.values()]


@pytest.mark.parametrize("role", ROLES)
def test_every_role_can_be_read_on_both_pages(role):
    assert contrast(ROLES[role].light, "#ffffff") >= 4.5
    assert contrast(ROLES[role].dark, DARK_PAGE) >= 4.5


def test_contrast_is_measured_as_the_standard_says():
    assert_allclose(contrast("#000000", "#ffffff"), 21)
    assert_allclose(contrast("#777777", "#ffffff"), 4.48, atol=0.005)
    assert contrast(INK, "#ffffff") >= 7


def test_style_sheet_of_the_book_has_the_colours_of_the_palette():
    text = (Path(__file__).parents[2] / "assets" / "book.css").read_text("utf8")
    rule = re.compile(
        r'html\[data-theme="dark"\] \[style\*="rgb\((\d+), (\d+), (\d+)\)"\],\s*'
        r'html\[data-theme="dark"\] \[style\*="(#\w+)"\] \{ color: (#\w+) !important; \} /\* (\w+) \*/'
    )
    found = {}
    for red, green, blue, light, dark, role in rule.findall(text):
        assert f"#{int(red):02x}{int(green):02x}{int(blue):02x}" == light
        found[role] = (light, dark)
    assert found == {role: tuple(colour) for role, colour in ROLES.items()}
    assert set(re.findall(r"#[0-9a-f]{6}", text)) == {shade for colour in ROLES.values() for shade in colour}


def test_several_runs_are_drawn_as_their_mean_in_a_band():
    ax = curves({"ours": ([1, 2], [[3.0, 2.0], [5.0, 4.0], [1.0, 0.0]])}, xlabel="x", ylabel="y")
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


def test_smooth_is_what_curves_takes():
    ax = curves({"a": smooth([[3.0, 1.0, 2.0], [1.0, 1.0, 4.0]], 2)}, xlabel="step", ylabel="nats")
    assert_allclose(ax.lines[0].get_xydata(), [[2, 1.5], [3, 2.0]])


@pytest.mark.parametrize("n", [0, -1, 4])
def test_more_steps_than_there_are_cannot_be_smoothed(n):
    with pytest.raises(ValueError, match=f"cannot take means of {n} out of 3 steps"):
        smooth([1.0, 2.0, 3.0], n)
