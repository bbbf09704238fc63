"""Months of a series: which records are in each, and what the tables say."""

import numpy as np
import pytest

from experiments import months
from experiments.datasets import SMALL_CLUSTERS
from experiments.figures.months import discovery_table, series_table
from experiments.months import MONTHS, MonthTrial, of_one_law, with_a_doubled_district
from experiments.suites import SUITES
from experiments.workload import true_counts
from tests.experiments.made_rows import trial_rows


def rows_of(kind, *, values, epsilon=1.0, **more):
    """One row a run, whose number in a series is half of that without."""
    return [
        {
            "key": f"{kind}{seed}{epsilon}",
            "dataset": "towns",
            "months": kind,
            "epsilon": epsilon,
            "seed": seed,
            "queries": "all",
            "used": seed == 0,
            **dict.fromkeys((*more, "relative", "absolute", "held"), value),
            **{f"series_{name}": value / 2 for name in (*more, "relative", "absolute", "held")},
        }
        for seed, value in enumerate(values)
    ]


def test_where_nothing_changed_the_records_are_the_same():
    """The month before has other records of the same law."""
    first, second, third = of_one_law(SMALL_CLUSTERS, 3)

    assert second is third
    assert not set(map(tuple, first)) & set(map(tuple, second))
    assert not np.array_equal(second, of_one_law(SMALL_CLUSTERS, 4)[1])


def test_one_district_has_twice_as_many():
    """One block has twice as many points, and all others have as many as before."""
    _, second, third = with_a_doubled_district(SMALL_CLUSTERS, 3)
    domain = months.DATASETS[SMALL_CLUSTERS].domain
    blocks = months.block_grid(domain, months.BLOCKS).bounds()
    before, after = (true_counts(points, blocks) for points in (second, third))
    grown = np.flatnonzero(after != before)

    assert len(grown) == 1
    assert after[grown] == pytest.approx(2 * before[grown])
    assert 0 < before[grown] <= months.DISTRICT * len(second)


def test_a_trial_has_one_row_of_both_ways_to_publish():
    """Each for itself and as a series; the noise of two trials is not the same."""
    one, other = (
        MonthTrial(dataset=SMALL_CLUSTERS, months=months.DOUBLED, epsilon=1.0, seed=seed).run() for seed in (0, 1)
    )
    [row] = one

    assert row["found"] in (0, 1)
    assert {"relative", "held", "slope", "alarm", "found", "rise"} <= set(row)
    assert {"series_relative", "series_held", "series_alarm", "series_found"} <= set(row)
    assert row["used"]
    assert 0.8 < row["held"] <= 1
    assert row["relative"] != other[0]["relative"]


def test_the_suite_repeats_what_it_says():
    """Months with nothing changed 200 times on real records, and 16 releases of each kind and budget."""
    trials = SUITES["months"].full
    number = {
        kind: sum(trial.months == kind and trial.dataset == "checkin_gowalla_nyc" for trial in trials)
        for kind in MONTHS
    }

    assert number == {months.SAME: 200, **dict.fromkeys((months.DOUBLED, *months.BY_CALENDAR), 32)}


def test_tables_show_shares_and_rates():
    """Means over runs; rows of other trials are passed over."""
    made = [
        *trial_rows("us_chains", 1.0, "staq"),
        *rows_of(months.IN_A_ROW, values=(0.8, 1.0)),
        *rows_of(months.SAME, values=(0.0, 1.0), alarm=1),
    ]

    assert series_table(made).lines == (
        (months.IN_A_ROW, "1", "1 of 2", "0.50 ± .00 / 0.50 ± .00", "90.0 ± 10.0", "45.0 ± 5.0"),
    )
    [line] = discovery_table(made).lines
    assert line[:5] == (months.SAME, "towns", "1", "2", "50.0 ± 50.0, 25.0 ± 25.0")
