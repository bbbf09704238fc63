"""Runs that are interrupted and go on where they stopped."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from experiments import runner
from experiments.datasets import REPOSITORY, SMALL_CLUSTERS
from experiments.results import Results
from experiments.runner import run_trials
from experiments.trial import QUERIES, Trial
from tests.checkout import with_usual_signals

TRIALS = [
    Trial(dataset=SMALL_CLUSTERS, method=method, epsilon=1, seed=seed, calibrate=False)
    for method in ("ug", "ag")
    for seed in range(3)
]
KEYS = {trial.key for trial in TRIALS}


@pytest.fixture
def results(tmp_path):
    """An empty file of rows."""
    return Results(tmp_path / "rows.jsonl")


@pytest.fixture
def ran(monkeypatch):
    """Keys of the trials that are run."""
    keys = []
    real = runner.run

    def counted(trial):
        keys.append(trial.key)
        return real(trial)

    monkeypatch.setattr(runner, "run", counted)
    return keys


@pytest.mark.parametrize("workers", [1, 2])
def test_all_trials_are_run(results, workers):
    """On one process and on two."""
    assert run_trials(TRIALS, results, workers=workers) == len(TRIALS)
    assert results.finished() == KEYS
    assert len(results.rows()) == len(TRIALS) * len(QUERIES)


def test_finished_trials_are_skipped(results, ran):
    """Only what is new is run."""
    run_trials(TRIALS[:4], results, workers=1)
    ran.clear()

    assert run_trials(TRIALS, results, workers=1) == 2
    assert ran == [trial.key for trial in TRIALS[4:]]
    assert run_trials(TRIALS, results, workers=1) == 0


def test_an_interrupted_run_goes_on_where_it_stopped(results, ran, monkeypatch):
    """What had finished by then is kept."""
    counted = runner.run

    def interrupted(trial):
        if len(ran) == 3:
            raise KeyboardInterrupt
        return counted(trial)

    monkeypatch.setattr(runner, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_trials(TRIALS, results, workers=1)
    monkeypatch.setattr(runner, "run", counted)
    stopped_at = len(results.finished())

    assert stopped_at == 3
    assert run_trials(TRIALS, results, workers=1) == 3
    assert sorted(ran) == sorted(KEYS)
    assert results.finished() == KEYS


@pytest.mark.parametrize("kept", range(5))
def test_a_file_cut_anywhere_is_mended(results, kept):
    """The trial it was cut in is run again, and every row is there once."""
    run_trials(TRIALS[:2], results, workers=1)
    whole = results.rows()
    text = results.path.read_bytes()
    results.path.write_bytes(text[: len(text) * (2 * kept + 1) // 10])
    run_trials(TRIALS[:2], results, workers=1)

    assert _timeless(results.rows()) == _timeless(whole)
    assert all(json.loads(line) for line in results.path.read_text().splitlines())


def test_a_half_written_line_is_ignored_and_cut_off(results):
    """Reading leaves the file alone; the next append removes the line."""
    row = {"key": "k", "queries": QUERIES[-1]}
    results.append([row])
    with results.path.open("a") as file:
        file.write('{"key": "half')

    assert results.rows() == [row]
    results.append([{**row, "key": "l"}])
    assert results.finished() == {"k", "l"}
    assert "half" not in results.path.read_text()


def test_no_file_means_no_rows(results):
    """A missing file has no rows, and reading does not make it."""
    assert results.rows() == []
    assert not results.path.exists()


@pytest.mark.slow
def test_a_run_on_two_processes_can_be_interrupted(results):
    """By the signal a terminal sends to all of them; whole trials remain and no process does."""
    command = ["try", "--dataset", SMALL_CLUSTERS, "--method", "ag", "--epsilon", "1", "--runs", "20000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *command, "-o", str(results.path)],
        cwd=REPOSITORY,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=with_usual_signals,
    )
    while len(results.finished()) < 5 and process.poll() is None:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=60)

    assert process.returncode == 1
    estimate, *_, ending = complaint.strip().splitlines()
    assert "trials to run" in estimate
    assert ending == "Aborted!"
    assert len(results.rows()) == len(results.finished()) * len(QUERIES)
    assert _vanishes(process.pid)


def _vanishes(group, patience=30):
    """Whether the last process of a group ends soon."""
    for _ in range(patience * 10):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def _timeless(rows):
    """Rows by trial and query size, without the seconds."""
    return sorted(
        json.dumps({name: value for name, value in row.items() if not name.endswith("_seconds")}) for row in rows
    )
