"""Tables and figures of workloads and of exchanges: what they show is what the rows say."""

import math

import numpy as np
import pytest

from experiments.estimate import Estimate
from experiments.exchangeability import ExchangeTrial
from experiments.figures import FIGURES
from experiments.figures.exhibit import DASH, TIMES
from experiments.figures.means import Means
from experiments.figures.workloads import BEST_FLAT, SNH
from experiments.suites.workloads import flat_grids
from experiments.workload import SNH_HOT_SPOTS
from experiments.workload_trial import MEASURED, WorkloadTrial

HOT = "hot spots, 1 %"
OURS, OTHERS = (0.3, 0.5, 0.4, 0.6), (0.5, 1.1, 0.7, 1.3)  # errors of four runs


def rows_of(method, relatives, *, dataset="us_chains", epsilon=0.05, workload=HOT, parameters=None, **fields):
    """A row a run; absolute errors are a hundred times the relative ones."""
    about = {"dataset": dataset, "epsilon": epsilon, "method": method, "parameters": parameters or {}}
    measured = {"skipped": "", "asked": 200, "signed": -0.1, "squared_bias": 0.04, "variance": 0.01, **fields}
    about |= {"queries": workload, **measured}
    return [
        {"key": f"{about} {seed}", **about, "seed": seed, "relative": relative, "absolute": 100 * relative}
        for seed, relative in enumerate(relatives)
    ]


def cell(table, column, **where):
    """A cell of a table, in the one line that says so."""
    [line] = [
        line
        for line in table.lines
        if all(line[table.headings.index(heading)] == value for heading, value in where.items())
    ]
    return line[table.headings.index(column)]


def mean_over_runs(errors):
    """The mean of an error for each run."""
    return Estimate.of(dict(enumerate(errors)))


def test_where_a_set_was_not_run_there_is_no_lead():
    """A mean over fewer sets could not be compared with the others."""
    rows = rows_of("staq", OURS) + rows_of("ag", OTHERS) + rows_of("ug", OTHERS)
    rows += rows_of("staq", OURS, dataset="uk_postcodes") + rows_of("ug", OURS, dataset="uk_postcodes")
    table = FIGURES["workloads"].table(rows)

    assert cell(table, "STAQ / AG", workload=HOT, error="relative") == DASH
    assert cell(table, "STAQ / UG", workload=HOT, error="relative") != DASH


def test_the_lead_is_a_paired_ratio_over_sets():
    """A geometric mean over data sets, with its error, for each budget and workload."""
    rows = rows_of("staq", OURS) + rows_of("ag", OTHERS)
    rows += rows_of("staq", OURS, dataset="uk_postcodes") + rows_of("ag", OURS, dataset="uk_postcodes")
    first = mean_over_runs(OURS) / mean_over_runs(OTHERS)
    value = math.sqrt(first.value)
    expected = f"{value:.2f} ± {value * first.error / first.value / 2:.2f}".replace("± 0", "± ")
    table = FIGURES["workloads"].table(rows)

    for error in ("relative", "absolute"):
        assert cell(table, "STAQ / AG", ε="0.05", workload=HOT, error=error) == expected


def test_the_best_flat_grid_is_chosen_in_hindsight_for_each_set():
    """Of UG and finer grids, which are told by how many times finer they are."""
    finer = {set_: flat_grids(set_, 0.05, (2, 8)) for set_ in ("us_chains", "uk_postcodes")}
    rows = []
    for dataset, errors in (("us_chains", (0.8, 0.4)), ("uk_postcodes", (0.2, 0.9))):
        rows += rows_of("staq", [0.4] * 3, dataset=dataset) + rows_of("ug", [1.0] * 3, dataset=dataset)
        for (method, parameters), error in zip(finer[dataset], errors, strict=True):
            rows += rows_of(method, [error] * 3, dataset=dataset, parameters=parameters)
    table = FIGURES["workloads"].table(rows)

    where = {"ε": "0.05", "workload": HOT, "error": "relative"}
    assert [heading for heading in table.headings if heading.startswith("STAQ")] == [
        *(f"STAQ / {BEST_FLAT}", "STAQ / UG", f"STAQ / UG, 2 {TIMES} finer", f"STAQ / UG, 8 {TIMES} finer"),
    ]
    assert float(cell(table, f"STAQ / {BEST_FLAT}", **where).split()[0]) == pytest.approx(math.sqrt(1 * 2), rel=0.01)
    assert float(cell(table, f"STAQ / UG, 2 {TIMES} finer", **where).split()[0]) == pytest.approx(math.sqrt(0.5 * 2))


def test_errors_bias_and_spread_are_shown_apart():
    """Roots of the mean squares, and a squared bias estimated below zero is none."""
    rows = rows_of("staq", OURS) + rows_of("ug", OTHERS, squared_bias=-0.01)
    table = FIGURES["workload_bias"].table(rows)
    where = {"data set": "us_chains", "workload": HOT}

    assert cell(table, "STAQ", measure="relative", **where) == mean_over_runs(OURS).short
    assert float(cell(table, "STAQ", measure="bias", **where).split()[0]) == pytest.approx(0.2)
    assert float(cell(table, "STAQ", measure="spread", **where).split()[0]) == pytest.approx(0.1)
    assert float(cell(table, "UG", measure="bias", **where).split()[0]) == 0
    assert cell(table, "UG", measure="signed", **where) == "-0.1"


def test_a_workload_that_was_not_asked_has_no_line():
    """Its rows measure nothing."""
    unasked = [
        {**row, **dict.fromkeys(MEASURED), "skipped": "why"} for row in rows_of("staq", OURS, workload="counties")
    ]
    asked = rows_of("staq", OURS) + rows_of("ag", OTHERS)

    for name in ("workloads", "workload_bias"):
        assert FIGURES[name].table(asked + unasked) == FIGURES[name].table(asked)


def test_the_figure_names_the_worst_case_and_shows_every_ratio():
    """STAQ has twice the error of AG on hot spots and half of it elsewhere."""
    rows = rows_of("staq", [0.4] * 3) + rows_of("ag", [0.2] * 3)
    rows += rows_of("staq", [0.4] * 3, workload="empty squares") + rows_of("ag", [0.8] * 3, workload="empty squares")
    axes = FIGURES["workloads"].draw(rows).axes[0]
    picture = np.asarray(axes.images[0].get_array())

    assert 2.0 ** -picture[-1] == pytest.approx([2.0, 0.5])
    assert "(AG; hot spots, 1 %)" in axes.get_title(loc="left")


def test_marks_lie_at_spread_and_bias():
    """Quadratic means over sets."""
    rows = rows_of("staq", OURS) + rows_of("staq", OURS, dataset="uk_postcodes", squared_bias=0.0, variance=0.03)
    [marks] = FIGURES["workload_bias"].draw(rows).axes[0].collections

    assert np.asarray(marks.get_offsets())[0] == pytest.approx([math.sqrt(0.02), math.sqrt(0.02)])


def test_snh_is_quoted_beside_ours_on_its_protocol():
    """Its one line comes first; other workloads and budgets are left out."""
    rows = rows_of("staq", OURS, workload=SNH_HOT_SPOTS) + rows_of("staq", OTHERS)
    table = FIGURES["snh"].table(rows + rows_of("staq", OTHERS, workload=SNH_HOT_SPOTS, epsilon=1.0))

    assert table.lines[0] == SNH
    assert [line[:4] for line in table.lines[1:]] == [("STAQ", "us_chains", "207,393", "0.05")]
    assert table.lines[1][4] == mean_over_runs(OURS).short


def exchange_rows(method, scale, relatives, *, way="drawn", product=2e4):
    """A row a run, errors of N a thousandth of the relative ones."""
    about = {"dataset": "us_chains", "method": method, "way": way, "scale": scale, "product": product}
    about |= {"epsilon": product / scale, "queries": "uniform"}
    return [
        {"key": f"{about} {seed}", **about, "seed": seed, "relative": relative, "scaled": relative / 1000}
        for seed, relative in enumerate(relatives)
    ]


def test_exchanges_compare_the_largest_scale_with_the_smallest():
    """In pairs of runs; the figure has errors over epsilon."""
    rows = [row for scale, runs in ((20_000, OTHERS), (600_000, OURS)) for row in exchange_rows("ag", scale, runs)]
    rows += exchange_rows("ag", 200_000, [7.0] * 4)
    [line] = FIGURES["exchangeability"].table(rows).lines
    [container] = FIGURES["exchangeability"].draw(rows).axes[0].containers
    ratio = (mean_over_runs(OURS) / mean_over_runs(OTHERS)).text()

    assert line[1:] == ("AG", "30", ratio, ratio)
    assert container.lines[0].get_xydata() == pytest.approx(
        np.array([[1, np.mean(OTHERS)], [0.1, 7.0], [2e4 / 6e5, np.mean(OURS)]])
    )


def test_rows_of_these_trials_enter_no_other_mean():
    """They are asked other questions; figures of the paper's workload must not average over them."""
    fields = {"dataset": "clusters_small", "method": "uniform", "seed": 0}
    rows = WorkloadTrial(**fields, epsilon=1).run()
    rows += ExchangeTrial(**fields, way="drawn", scale=20_000, product=2e3).run()

    assert Means(rows).scenes() == []
    for name in ("scale", "dimensions", "coverage"):
        assert FIGURES[name].table(rows).lines == ()
