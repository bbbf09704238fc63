"""What slices gain by their total, on made-up points and rows."""

import numpy as np
import pytest

from experiments.figures.slices import gain_of_slices, intervals_of_slices, total_of_slices
from experiments.slices import AT_RANDOM, BY_CHAIN, BY_HOUR, BY_WEEKDAY, DIVISIONS, GROUPS, SliceTrial
from experiments.suites import SUITES
from experiments.trial import QUERIES
from tests.experiments.made_rows import trial_rows


@pytest.fixture(scope="module")
def rows():
    """Rows of one small trial."""
    return SliceTrial(division=AT_RANDOM, epsilon=1.0, seed=0, calibrate=True).run()


def rows_of(errors=(1.0, 3.0), **more):
    """Two runs whose separate releases are off twice as far, and totals of the share four times."""
    return [
        {
            "key": f"slices{seed}{queries}",
            "division": "chains",
            "dataset": "us_chains",
            "epsilon": 0.1,
            "seed": seed,
            "queries": queries,
            "slices": 40,
            "points": 200_000,
            **{f"{group}{kind}": error for group in ("", *(f"{each}_" for each in GROUPS)) for kind in KINDS},
            **{
                f"{group}separate_{kind}": 2 * error
                for group in ("", *(f"{each}_" for each in GROUPS))
                for kind in KINDS
            },
            **{f"{name}_{kind}": times * error for name, times in TOTALS.items() for kind in KINDS},
            **{f"{name}_cpu": 1.0 for name in ("publish", "one", "inference")},
            **more,
        }
        for seed, error in enumerate(errors)
        for queries in QUERIES
    ]


KINDS = ("relative", "absolute")
TOTALS = {"total": 1, "share": 4, "whole": 0.5}


def test_a_trial_has_errors_intervals_and_cost(rows):
    """Of slices and of the total, beside those they are compared with."""
    assert [row["queries"] for row in rows] == list(QUERIES)
    last = rows[-1]
    assert last["slices"] == 4
    assert last["points"] == len(DIVISIONS[AT_RANDOM][1]().true_points)
    assert last["whole_absolute"] < last["total_absolute"] < last["share_absolute"]
    assert all(0.85 < last[name] <= 1 for name in ("held", "pairs_held", "three_held", "total_held"))
    assert last["publish_cpu"] > last["inference_cpu"] > 0


def test_errors_of_all_slices_are_between_those_of_groups(rows):
    """Each third is a part of all, so that their mean lies between the lowest and the highest of them."""
    for kind in KINDS:
        of_groups = [rows[-1][f"{group}_{kind}"] for group in GROUPS]
        assert min(of_groups) < rows[-1][kind] < max(of_groups)


def test_a_division_has_every_record_once():
    """Points by slice, and the table that is published, are the same records."""
    division = DIVISIONS[AT_RANDOM][1]()
    table, parts = division.table(), division.slice_points()

    assert sum(map(len, parts)) == table.num_rows
    for name, part in zip(division.names, parts, strict=True):
        chosen = np.array(table["slice"].to_pylist()) == name
        np.testing.assert_array_equal(part[:, 0], table["lon"].to_numpy()[chosen])


def test_the_suite_has_eight_releases_of_all_divisions():
    """At both budgets of the paper; intervals are calibrated in the first half."""
    trials = SUITES["slices"].full

    assert {(trial.division, trial.epsilon) for trial in trials} == {
        (name, epsilon) for name in (BY_HOUR, BY_WEEKDAY, BY_CHAIN) for epsilon in (0.1, 1.0)
    }
    assert {trial.seed for trial in trials} == set(range(8))
    assert {trial.seed for trial in trials if trial.calibrate} == set(range(4))


def test_tables_are_ratios_of_means():
    """Rows of other kinds are passed over."""
    made = [*rows_of(), *trial_rows("us_chains", 1.0, "staq")]
    half, quarter, twice = (f"{ratio} ± .00 / {ratio} ± .00" for ratio in ("0.50", "0.25", "2.00"))

    assert gain_of_slices(made).lines == (("chains", "us_chains, 40 of 5,000 points", "0.1", *[half] * 4),)
    assert total_of_slices(made).lines == (("chains", "0.1", quarter, twice, *["1.00 ± .00"] * 3),)


def test_intervals_have_a_line_for_slices_and_for_each_sum():
    """A kind of sum that was not asked has dashes."""
    lines = intervals_of_slices(rows_of(held=0.95, total_held=0.9)).lines

    assert [line[2] for line in lines] == ["slices", "sums of two", "sums of three", "all together"]
    assert lines[0][3:] == ("95.0 ± .0",) * len(QUERIES)
    assert lines[3][-1] == "90.0 ± .0"
    assert set(lines[1][3:]) == {"\N{EN DASH}"}
