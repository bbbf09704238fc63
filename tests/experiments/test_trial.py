"""Trials as values, and the rows they give."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import hushgrid
from experiments import trial as trial_module
from experiments.datasets import DATASETS, PLACES, REPOSITORY, SMALL_CLUSTERS
from experiments.metrics import Candlestick
from experiments.trial import ALL_SIZES, CONFIDENCES, QUERIES, Trial
from experiments.workload import true_counts, workload
from hushgrid.geometry.grid import Grid
from hushgrid.methods import METHODS
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from tests.plain import PlainCounter

TRIAL = Trial(dataset=SMALL_CLUSTERS, method="ug", epsilon=1, seed=4, calibrate=False)


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
        {"calibrate": True},
        {"own": PLACES},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_changes_the_key(change):
    """A change of any field changes the key, so that no two trials are taken for one."""
    assert replace(TRIAL, **change).key != TRIAL.key


OTHERS = [
    replace(TRIAL, **change)
    for change in (
        {"dataset": PLACES.name},
        {"dataset": "us_cvs"},
        {"method": "ag"},
        {"method": "staq"},
        {"parameters": {"side": 3}},
        {"epsilon": 0.1},
        {"epsilon": 0.01},
        {"seed": 5},
    )
]


def bits_of(trial, monkeypatch):
    """The source of noise that a trial publishes with."""

    def stopped(*_, rng, **__):
        raise InterruptedError(rng)

    monkeypatch.setattr(trial_module, "publish", stopped)
    monkeypatch.setattr(trial_module, "_question", lambda *_: SimpleNamespace(true_points=None))
    with pytest.raises(InterruptedError) as caught:
        trial.run()
    return caught.value.args[0]


def test_no_two_trials_share_noise(monkeypatch):
    """Of other sets, methods, parameters, budgets or runs: words of bits agree no more than by chance."""
    words = [bits_of(trial, monkeypatch).words(20_000) for trial in (TRIAL, *OTHERS)]
    agreement = np.corrcoef(np.array(words, np.float64)) - np.eye(len(words))

    assert len({trial.noise_seed for trial in (TRIAL, *OTHERS)}) == len(words)
    assert np.abs(agreement).max() < 5 / np.sqrt(20_000)


def test_noise_can_be_repeated(monkeypatch):
    """The noise of a trial stays the same where other rectangles are asked, or intervals calibrated."""
    for same in (TRIAL, replace(TRIAL, workload_seed=7), replace(TRIAL, calibrate=True)):
        assert np.array_equal(bits_of(same, monkeypatch).words(9), simulation_rng(TRIAL.noise_seed).words(9))


@pytest.mark.parametrize("shared", [False, True], ids=["own seeds", "one seed, as a control"])
def test_released_cells_of_two_sets_do_not_err_alike(shared):
    """On a public grid the error of a cell is its noise."""
    errors = []
    for name in (SMALL_CLUSTERS, PLACES.name):
        trial = replace(TRIAL, dataset=name, parameters={"side": 32})
        points, domain = DATASETS[name].points(), DATASETS[name].domain
        release = partial(publish, points, domain=domain, epsilon=1, method=trial.build(), calibrate=False)
        released = release(rng=simulation_rng(0 if shared else trial.noise_seed)).counts
        true_cells = PlainCounter(domain, points).count(Grid(domain=domain, rows=32, columns=32))
        errors.append(released - true_cells)
    alike = np.corrcoef(errors)[0, 1]

    assert (alike > 0.99) if shared else (abs(alike) < 5 / 32)


def test_parameters_that_are_the_methods_own_change_nothing():
    """Whether they are given or not, it is the same trial."""
    assert replace(TRIAL, parameters={"c": 10.0, "side": None}).key == TRIAL.key


def test_a_method_with_other_parameters_of_its_own_is_another_trial(monkeypatch):
    """New defaults of a method change the key, so that older rows are not taken for its."""
    before = TRIAL.key

    @dataclass(frozen=True, kw_only=True)
    class Retuned(UniformGrid):
        c: float = 11.0

    name = TRIAL.name
    monkeypatch.setattr("hushgrid.release.auto.METHODS", {**METHODS, "ug": Retuned})

    assert TRIAL.key != before
    assert TRIAL.name == name


def test_rows_say_what_a_plain_run_gives():
    """Errors by size and over all, coverage and cells, for a method with parameters."""
    trial = replace(TRIAL, parameters={"side": 12}, workload_seed=2, calibrate=True)
    dataset = DATASETS[SMALL_CLUSTERS]
    points = dataset.points()
    rects = workload(dataset.domain, dataset.largest_query, seed=2)
    synopsis = publish(
        points, domain=dataset.domain, epsilon=1, method=UniformGrid(side=12), rng=simulation_rng(trial.noise_seed)
    )
    for row, chosen in zip(trial.run(), [*rects, rects.reshape(-1, 4)], strict=True):
        truth = true_counts(points, chosen)
        errors = abs(synopsis.count(chosen) - truth)

        relative = Candlestick.of(errors / np.maximum(truth, 10))
        assert row["absolute_mean"] == pytest.approx(errors.mean(), rel=1e-4)
        assert row["relative_mean"] == pytest.approx(relative.mean, rel=1e-4)
        if row["queries"] == ALL_SIZES:
            assert row["relative_p95"] == pytest.approx(relative.p95, rel=1e-4)
        for name, confidence in CONFIDENCES.items():
            answer = synopsis.answer(chosen, confidence=confidence)
            assert row[name] == pytest.approx(np.mean((answer.low <= truth) & (truth <= answer.high)), rel=1e-4)
        assert row["cells"] == row["nodes"] == 144


def test_rows_are_plain_json_with_their_origin():
    """One a query size and one for all, each with the trial's fields, key and version."""
    rows = TRIAL.run()

    assert [row["queries"] for row in rows] == list(QUERIES)
    assert json.loads(json.dumps(rows)) == rows
    for row in rows:
        assert Trial(**{name: row[name] for name in vars(TRIAL) if name != "own"}) == TRIAL
        assert row["key"] == TRIAL.key
        assert row["version"] == hushgrid.__version__
        assert row["publish_seconds"] > 0


def test_only_calibrated_intervals_are_asked_for_coverage():
    """Others are not what users get."""
    for calibrate in (False, True):
        rows = replace(TRIAL, calibrate=calibrate).run()
        assert all((name in row) is calibrate for row in rows for name in CONFIDENCES)


def test_a_trial_can_be_repeated():
    """All but the seconds is the same."""
    timeless = [
        [{name: value for name, value in row.items() if not name.endswith("_seconds")} for row in TRIAL.run()]
        for _ in range(2)
    ]

    assert timeless[0] == timeless[1]


@pytest.mark.parametrize(
    ("method", "parameters", "more"),
    [("ug", {"side": 5}, 0), ("ag", {"first_side": 4}, 16), ("hierarchy", {"side": 8, "levels": 2}, 16)],
    ids=["grid", "two-level", "tree"],
)
def test_nodes_are_cells_and_what_lies_above(method, parameters, more):
    """None above a grid, the first level above an adaptive one, and every coarser grid of a hierarchy."""
    row = replace(TRIAL, method=method, parameters=parameters).run()[-1]

    assert row["nodes"] == row["cells"] + more + (method == "hierarchy")


@pytest.mark.parametrize("method", ["ug", "kd", "staq"])
@pytest.mark.parametrize("calibrate", [False, True])
def test_longer_trials_are_expected_to_take_longer(method, calibrate):
    """More points, or calibrated intervals."""
    small = replace(TRIAL, method=method, calibrate=calibrate)

    assert replace(small, dataset="clusters").seconds > small.seconds > 0
    assert replace(small, calibrate=True).seconds >= small.seconds
