"""Trials as values, and the rows they give."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import hushgrid
from experiments.datasets import DATASETS, REPOSITORY, SMALL_CLUSTERS
from experiments.metrics import Candlestick
from experiments.trial import QUERIES, Trial, run
from experiments.workload import true_counts, workload
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.publish import publish

TRIAL = Trial(dataset=SMALL_CLUSTERS, method="ug", epsilon=1, seed=4)


def test_a_key_is_the_same_in_another_process():
    """It does not depend on the salt of Python's own hashes."""
    code = f"from experiments.trial import Trial; print({TRIAL!r}.key)"
    other = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert other.stdout.strip() == TRIAL.key


def test_equal_trials_have_equal_keys():
    """However the numbers and parameters are written."""
    first = replace(TRIAL, epsilon=1.0, parameters={"side": 9, "c": 5.0})
    again = replace(TRIAL, epsilon=1, parameters={"c": 5.0, "side": 9})

    assert first.key == again.key


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "us_cvs"},
        {"method": "ag"},
        {"parameters": {"side": 3}},
        {"epsilon": 0.1},
        {"seed": 5},
        {"workload_seed": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_changes_the_key(change):
    """So that no two trials are taken for one."""
    assert replace(TRIAL, **change).key != TRIAL.key


def test_rows_say_what_a_plain_run_gives():
    """Errors by size and over all, coverage and cells, for a method with parameters."""
    trial = replace(TRIAL, parameters={"side": 12}, workload_seed=2)
    dataset = DATASETS[SMALL_CLUSTERS]
    points = dataset.points()
    rects = workload(dataset.domain, dataset.largest_query, seed=2)
    synopsis = publish(points, domain=dataset.domain, epsilon=1, method=UniformGrid(side=12), rng=simulation_rng(4))
    for row, chosen in zip(run(trial), [*rects, rects.reshape(-1, 4)], strict=True):
        truth = true_counts(points, chosen)
        errors = abs(synopsis.count(chosen) - truth)
        answer = synopsis.answer(chosen)

        assert row["absolute_mean"] == pytest.approx(errors.mean())
        assert row["relative_p95"] == pytest.approx(Candlestick.of(errors / np.maximum(truth, 10)).p95)
        assert row["coverage"] == np.mean((answer.low <= truth) & (truth <= answer.high))
        assert row["cells"] == 144


def test_rows_are_plain_json_with_their_origin():
    """One a query size and one for all, each with the trial's fields, key and version."""
    rows = run(TRIAL)

    assert [row["queries"] for row in rows] == list(QUERIES)
    assert json.loads(json.dumps(rows)) == rows
    for row in rows:
        assert Trial(**{name: row[name] for name in vars(TRIAL)}) == TRIAL
        assert row["key"] == TRIAL.key
        assert row["version"] == hushgrid.__version__
        assert row["publish_seconds"] > 0


def test_a_trial_can_be_repeated():
    """All but the seconds is the same."""
    timeless = [
        [{name: value for name, value in row.items() if not name.endswith("_seconds")} for row in run(TRIAL)]
        for _ in range(2)
    ]

    assert timeless[0] == timeless[1]
