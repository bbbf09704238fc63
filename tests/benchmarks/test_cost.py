"""What the default release costs: the runs, the targets, the page and the picture, on made-up rows and few points."""

import numpy as np
import pytest

from benchmarks import cost, cost_run, staq
from benchmarks.cost_picture import sentence
from benchmarks.make_points import folder_of, write_folder
from experiments.datasets import LAWS, PLACES
from hushgrid.release.publish import publish


def made(points, epsilon, method):
    """A row in which AG takes a tenth of the seconds."""
    seconds = (1 + points * epsilon / 1e6) * (1 if method == "auto" else 0.1)
    memory = {"loaded_gb": 0.3, "peak_gb": 0.3 + points * epsilon / 1e8}
    return {"method": method, "points": points, "epsilon": epsilon, "cells": 9, "cpu": seconds, "wall": 9.0, **memory}


@pytest.fixture(scope="module")
def rows():
    """Rows of all runs."""
    return [made(points, epsilon, method) for points, method, epsilon in cost.runs(10**8)]


def test_evidence_goes_from_a_thousand_to_a_hundred_million_in_both_series():
    """One at epsilon 1, one of a hundred million points; and each run comes once, with every method."""
    found = [(points, epsilon) for points, method, epsilon in cost.runs(10**8) if method == cost.METHODS[0]]
    evidence = [10**power for power in range(3, 9)]

    assert [points for points, epsilon in found if epsilon == 1 and str(points).strip("0") == "1"] == evidence
    assert sorted(round(points * epsilon) for points, epsilon in found if points == 10**8) == evidence
    assert len(found) == len(set(found)) == len(cost.runs(10**8)) / len(cost.METHODS)


def test_targets_are_held_against_the_rows_they_are_about(rows):
    """Seconds and memory of two releases, with the ratio to AG."""
    seconds, memory, *others = cost.targets(rows)

    assert (seconds.measured, seconds.target, memory.target) == (pytest.approx(11), 45, 1.2)
    assert seconds.note.startswith("10.0 x AG")
    assert len(others) == 2
    assert cost.targets([row for row in rows if row["points"] < 10**7]) == []


def test_page_and_picture_are_made_of_the_rows(rows, monkeypatch, tmp_path):
    """The page has a line for each, the picture can be made twice alike, and words tell the figures."""
    monkeypatch.setattr(cost, "RESULTS", tmp_path)
    cost.keep(rows)
    picture = (tmp_path / "cost.svg").read_bytes()
    cost.keep(rows)
    page = (tmp_path / "cost.md").read_text()

    assert page.count("\n| 1e") + page.count("\n| 2e") == len(rows)
    assert sentence(rows) in page
    assert "101 processor seconds and 1.30 GB for 1e8 points" in sentence(rows)
    assert picture == (tmp_path / "cost.svg").read_bytes()


@pytest.mark.parametrize("method", cost.METHODS)
def test_a_release_is_measured_as_anyone_gets_it(tmp_path, method):
    """Calibrated, from files."""
    row = cost_run.measure(write_folder(folder_of(tmp_path, 5000), 5000), method, 1.0)

    assert (row["method"], row["points"]) == (method, 5000)
    assert row["cpu"] > 0
    assert row["peak_gb"] >= row["loaded_gb"] > 0


def test_real_sets_that_are_missing_are_named(monkeypatch, capsys):
    """Nothing is measured, and what is missing is listed."""

    class Missing:
        at_hand = False

    monkeypatch.setattr(staq, "DATASETS", dict.fromkeys(staq.MOST, Missing))

    assert staq.rows() == []
    told = capsys.readouterr().err
    assert all(f"not at hand: {name}" in told for name in staq.MOST)


def test_the_older_kernels_answer_alike_and_are_others():
    """The release that is asked keeps its corners."""
    law = LAWS["towns"]
    synopsis = publish(law.points()[:20_000], domain=law.domain, epsilon=1, calibrate=False)
    older, rects = staq.without_corners(synopsis), staq.rectangles(law.domain, 0.05, 100)

    assert np.allclose(older.count(rects), synopsis.count(rects))
    assert older.surface._corners is None
    assert synopsis.surface._corners is not None


def test_a_default_release_is_held_against_a_sort(monkeypatch):
    """On the bundled places, with AG beside it."""
    reached = []
    for most in (1e9, 1e-9):
        monkeypatch.setitem(staq.MOST, PLACES.name, most)
        row = staq.release_row(PLACES)
        reached.append(row.ok)

    assert reached == [True, False]
    assert "AG" in row.note
