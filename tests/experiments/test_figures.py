"""Figures and tables: what they show is what the rows say."""

import math
import random
import statistics
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer, ErrorbarContainer

from experiments.figures import FIGURES, datasets
from experiments.figures.dimensions import border_share
from experiments.figures.exhibit import ALPHA, DASH, Table
from experiments.figures.means import QUERY_SIZES, Means, Scene
from experiments.figures.series import COLOURS
from experiments.figures.style import save
from experiments.figures.variant import Variant, method_label
from hushgrid.methods import METHODS
from tests.experiments.made_rows import SUGGESTED, cube_rows, paper_rows, trial_rows

DRAWN = [name for name, exhibit in FIGURES.items() if exhibit.draw]
TABLED = [name for name, exhibit in FIGURES.items() if exhibit.table]
SMALL = Scene(dataset="us_cvs", epsilon=1.0)


@pytest.fixture(scope="module")
def rows():
    """A world as the paper describes it, without the points that only the illustration needs."""
    return paper_rows()


@pytest.fixture(scope="module")
def means(rows):
    """Means over its runs."""
    return Means(rows)


def panel(figure, start):
    """The panel whose title starts so."""
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    return figure.axes[next(place for place, title in enumerate(titles) if title.startswith(start))]


def lines(axes):
    """Labelled lines of a panel, with error bars or without, by label."""
    plain = {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}
    return plain | {one.get_label(): one.lines[0] for one in axes.containers if isinstance(one, ErrorbarContainer)}


def error_bars(axes, label):
    """Half the lengths of the error bars of a line."""
    container = next(one for one in axes.containers if one.get_label() == label)
    return [(high - low) / 2 for (_, low), (_, high) in container.lines[2][0].get_segments()]


def candles(axes):
    """Sticks, boxes and bars of a panel: 25 %, median, 75 %, 95 % and mean of each, by label."""
    labels = [label.get_text() for label in axes.get_xticklabels()]
    flat = [collection.get_segments()[0] for collection in axes.collections]
    sticks, bars = flat[0::3], flat[1::3]  # and brackets of a standard error
    return {
        label: (stick[0][1], box.get_y(), box.get_y() + box.get_height(), stick[1][1], bar[0][1])
        for label, stick, box, bar in zip(labels, sticks, axes.patches, bars, strict=True)
    }


def profile(means, scene, variant, error="relative"):
    """What a candlestick has to show."""
    return pytest.approx([means.value(scene, variant, f"{error}_{q}") for q in ("p25", "median", "p75", "p95", "mean")])


def test_means_are_over_runs_and_own_parameters_are_no_difference():
    """A mean is over all seeds, and AG with alpha of 0.5 is AG."""
    made = [
        row
        for seed, alpha in enumerate([{}, {"alpha": 0.5}, {"alpha": 0.5, "c2": 5.0}])
        for row in trial_rows("us_cvs", 1.0, "ag", alpha, relative=seed + 1.0, seed=seed)
    ]

    assert Means(made).value(SMALL, Variant.of("ag")) == pytest.approx(2.0)


def test_a_size_beyond_a_worse_one_is_not_in_the_best_range():
    """The range of best sizes goes as far as errors near the lowest do, without a gap."""
    errors = {8: 1.05, 16: 1.5, 32: 1.0, 64: 1.08, 128: 1.2}
    made = [
        row for side, error in errors.items() for row in trial_rows("us_cvs", 1.0, "ug", {"side": side}, relative=error)
    ]

    assert Means(made).best_range(SMALL, "ug", "side", within=1.1) == (32, 64)


def test_kd_draws_lines_by_query_size_and_candlesticks_over_all(rows, means):
    """Lines are the means of each query size; a candlestick has four quantiles and the mean."""
    figure = FIGURES["kd"].draw(rows)
    left = panel(figure, SMALL.label)
    right = figure.axes[figure.axes.index(left) + 1]
    expected = [means.value(SMALL, Variant.of("kd-paper"), queries=queries) for queries in QUERY_SIZES]

    assert lines(left)["KD-standard"].get_ydata() == pytest.approx(expected)
    assert candles(right)["KD-hybrid"] == profile(means, SMALL, Variant.of("kd-hybrid-paper"))
    assert candles(right)["UG 27"] == profile(means, SMALL, Variant.of("ug", side=27))


def test_lines_and_candlesticks_have_standard_errors():
    """Bars are one standard error long to both sides, by a second way of computing it."""
    errors = [0.5, 0.8, 0.95, 1.4]
    made = [
        row
        for seed, error in enumerate(errors)
        for row in trial_rows("us_cvs", 1.0, "kd-paper", relative=error, seed=seed)
    ]
    left, right = FIGURES["kd"].draw(made).axes
    expected = statistics.stdev(errors) / math.sqrt(len(errors))
    shares = [row["relative_mean"] / errors[0] for row in made[:6]]
    bracket = right.collections[2].get_segments()[0]

    assert error_bars(left, "KD-standard") == pytest.approx([expected * share for share in shares])
    assert (bracket[1][1] - bracket[0][1]) / 2 == pytest.approx(expected)


def test_the_final_comparison_has_six_methods_in_the_paper_order(rows, means):
    """KD-hybrid, best UG, Privlet on its grid, best AG, suggested UG, suggested AG, on every set and budget."""
    figure = FIGURES["final"].draw(rows)
    labels = ["KD-hybrid", "UG, best size", "Privlet, that size", "AG, best m₁", "UG, suggested", "AG, suggested"]

    assert len(figure.axes) == 2 * len(SUGGESTED)
    for axes in figure.axes[1::2]:
        assert list(candles(axes)) == labels
    assert list(lines(figure.axes[0])) == labels


def test_absolute_errors_are_on_a_log_axis(rows, means):
    """The panel of a set shows its absolute errors."""
    figure = FIGURES["final_absolute"].draw(rows)
    axes = panel(figure, "us_cvs (storage)\nε = 1")

    assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    assert candles(axes)["AG, suggested"] == profile(means, SMALL, Variant.of("ag"), "absolute")


def test_a_title_of_two_lines_keeps_what_marks_a_made_up_set():
    """The set with its mark above, the budget below."""
    made = trial_rows("two_states", 0.1, "ug") + trial_rows("two_states", 0.1, "ag")
    axes = FIGURES["final_absolute"].draw(made).axes[0]

    assert axes.get_title(loc="left").split("\n") == ["two_states (road, made up)", "ε = 0.1"]


def test_a_method_has_the_same_colour_in_every_figure(rows):
    """The colour of KD-hybrid's line and box is the one of the palette."""
    expected = to_rgb(COLOURS["kd-hybrid"])

    for name in ("kd", "final"):
        axes = FIGURES[name].draw(rows).axes
        assert to_rgb(lines(axes[0])["KD-hybrid"].get_color()) == expected
        place = list(candles(axes[1])).index("KD-hybrid")
        assert axes[1].patches[place].get_facecolor()[:3] == expected


def test_hierarchies_are_sorted_by_branching_and_depth(rows, means):
    """Beside the best UG, UG and Privlet on the base grid."""
    axes = FIGURES["hierarchies"].draw(rows).axes[0]
    shown = candles(axes)
    scene = Scene(dataset="checkin_gowalla_sub", epsilon=0.1)

    assert list(shown)[1:] == ["UG 288", "Privlet 288", "UG 360", "Privlet 360", "H 2,2", "H 2,3", "H 6,2"]
    assert shown["H 6,2"] == profile(means, scene, Variant.of("hierarchy", side=288, branching=6, levels=2))


def test_alpha_and_c2_make_nine_candlesticks(rows, means):
    """A panel for each first-level size with which all nine were run."""
    figure = FIGURES["ag_parameters"].draw(rows)
    scene = Scene(dataset="us_chains", epsilon=1.0)
    last = candles(figure.axes[-1])

    assert [len(candles(axes)) for axes in figure.axes] == [9] * 4
    assert last[f"{ALPHA} 0.75, c₂ 15"] == profile(means, scene, Variant.of("ag", first_side=33, alpha=0.75, c2=15.0))


def test_ranges_of_alpha_are_drawn_in_order(rows):
    """One line a set and budget, alpha ascending."""
    left, right = FIGURES["ag_ranges"].draw(rows).axes
    alphas = [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9]

    assert [list(line.get_xdata()) for line in lines(left).values()] == [alphas] * 4
    assert {len(line.get_xdata()) for line in lines(right).values()} == {7}


def test_accuracy_shows_ratios_to_ag(rows):
    """A ratio of 2 is one doubling, and AG against itself is 1 everywhere."""
    figure = FIGURES["accuracy"].draw(rows)
    picture = np.asarray(figure.axes[0].images[0].get_array())
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    texts = [text.get_text() for text in figure.axes[0].texts]

    assert (picture[names.index("AG")] == 0).all()
    assert 2 ** -picture[names.index("HB")] == pytest.approx(1.9 / 1.03)
    assert texts.count("1.00") == len(SUGGESTED) + 1


def test_times_are_the_least_over_runs():
    """A slow first run does not count."""
    made = [
        row
        for seed, seconds in enumerate((9.0, 2.0, 3.0))
        for row in trial_rows("us_cvs", 1.0, "ug", seed=seed, publish_seconds=seconds, nodes=1234)
    ]
    marks = FIGURES["times"].draw(made).axes[0].collections[0].get_offsets()

    assert np.asarray(marks).tolist() == [[2.0, 0.0]]
    assert FIGURES["times"].table(made).lines[0] == ("UG", "2 s, 1,234")


@pytest.mark.parametrize("name", DRAWN)
def test_a_set_with_few_rows_leaves_the_others_as_they_are(name, tmp_path):
    """A run that was broken off has sizes of UG on one set, and whole methods on another; every figure is drawn."""
    made = trial_rows("us_chains", 1.0, "ug", {"side": 9}) + trial_rows("two_states", 1.0, "ug", {"side": 9})
    made += trial_rows("us_cvs", 1.0, "ug", seed=0) + trial_rows("us_cvs", 1.0, "ag", seed=1)
    made += trial_rows("us_cvs", 1.0, "staq", {"inference": "bayes"}, seed=1)

    save(FIGURES[name].draw(made), tmp_path, name)
    assert (tmp_path / f"{name}.png").exists()


def test_coverage_is_shown_as_deviation_from_95_percent():
    """Heat map and table; the table is a mean over sets."""
    covered = {("us_cvs", 0): 0.89, ("us_cvs", 1): 0.91, ("us_chains", 0): 0.96, ("us_chains", 1): 0.96}
    made = [
        row
        for (name, seed), share in covered.items()
        for row in trial_rows(name, 1.0, "ug", seed=seed, coverage_95=share)
    ]
    picture = np.asarray(FIGURES["coverage"].draw(made).axes[0].images[0].get_array())

    assert picture.ravel() == pytest.approx([0.01, -0.05])
    assert FIGURES["coverage"].table(made).lines == (("UG", "80.0 ± .0%", "93.0 ± .5%", "99.0 ± .0%"),)


def test_ablation_bars_are_geometric_means_over_sets(rows):
    """Least squares is 0.7 of the error that AG has at its best size, on every set."""
    figure = FIGURES["ablation"].draw(rows)
    bars = [one for one in figure.axes[0].containers if isinstance(one, BarContainer)]
    heights = [bar.get_height() for bar in bars[4].patches]

    assert heights == pytest.approx([0.5 / 1.03] * 2)


def test_dimensions_show_the_border_and_the_gain():
    """The formula of Section IV-C, and errors relative to the flat grid."""
    made = cube_rows(2, 2, 1, 0.5) + cube_rows(2, 2, 2, 0.4) + cube_rows(2, 8, 2, 0.3)
    first, second = (axes for axes in FIGURES["dimensions"].draw(made).axes if axes.get_xlabel())
    border = lines(first)["2 dimensions"]
    gain = second.get_lines()[0]

    assert border.get_ydata()[2] == pytest.approx(4 * 4**0.5 / 10_000**0.5)
    assert border_share(2, cells=10_000, group=4) == pytest.approx(0.08)
    assert gain.get_xydata().tolist() == pytest.approx(np.array([[1, 1], [2, 0.8]]))
    assert FIGURES["dimensions"].table(made).lines[0][-2:] == ("8, 2", "0.60 ± .00")


def test_table_ii_has_suggested_and_best_sizes(rows):
    """The table has suggested and best sizes beside the paper's own."""
    table = FIGURES["grid_sizes"].table(rows)
    line = next(line for line in table.lines if line[:2] == ("us_chains (landmark)", "1"))

    assert line[2:5] == ("300", "218 to 360", "1.01 ± .00")
    assert line[5:] == ("75", "33 to 136", "1.03 ± .00", "300", "256 to 512", "64 to 128")


def test_data_sets_are_drawn_from_their_points():
    """Every point of a generated set is in a pixel, and a set without its file says so."""
    made = trial_rows("clusters_small", 1.0, "ug")
    axes = FIGURES["datasets"].draw(made).axes[0]

    assert np.ma.filled(axes.images[0].get_array(), 0).sum() == 10_000
    assert FIGURES["datasets"].table(made).lines[0][:3] == ("clusters_small", DASH, "10,000")


def test_points_that_are_not_at_hand_leave_a_note(monkeypatch, tmp_path):
    """The report can be made where the data is not."""
    gone = {"us_cvs": replace(datasets.DATASETS["us_cvs"], path=tmp_path / "gone.parquet")}
    monkeypatch.setattr(datasets, "DATASETS", gone)
    axes = FIGURES["datasets"].draw(trial_rows("us_cvs", 1.0, "ug")).axes[0]

    assert [text.get_text() for text in axes.texts] == ["points not at hand"]


@pytest.mark.parametrize("name", DRAWN)
def test_without_rows_a_figure_says_so_or_shows_formulas(name):
    """No figure fails on an empty file."""
    figure = FIGURES[name].draw([])

    assert any(text.get_text() for text in figure.axes[0].texts) or name == "dimensions"


@pytest.mark.parametrize("name", TABLED)
def test_without_rows_a_table_has_headings_only(name):
    """No table fails on an empty file."""
    table = FIGURES[name].table([])

    assert isinstance(table, Table)
    assert table.lines == ()


def test_figures_tell_methods_apart():
    """No two have the same label."""
    assert len({method_label(name) for name in METHODS}) == len(METHODS)


@pytest.mark.parametrize("name", ["accuracy", "coverage", "times"])
def test_a_method_of_a_researcher_is_shown_by_its_own_name(name):
    """One that we do not know comes last."""
    made = trial_rows("us_cvs", 1.0, "ag") + trial_rows("us_cvs", 1.0, "mine", relative=0.5)
    figure = FIGURES[name].draw(made)
    texts = [label.get_text() for axis in ("x", "y") for label in getattr(figure.axes[0], f"get_{axis}ticklabels")()]

    assert [text for text in texts if text in ("AG", "mine")] == ["AG", "mine"]


def test_the_order_of_rows_changes_no_byte(rows, tmp_path):
    """Trials finish in any order; the files have no date."""
    shuffled = rows.copy()
    random.Random(7).shuffle(shuffled)
    for name, some in (("a", rows), ("b", shuffled)):
        save(FIGURES["ag_ranges"].draw(some), tmp_path, name)

    for ending in ("png", "pdf"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
