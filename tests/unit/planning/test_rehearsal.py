"""Rehearsals: a method on made-up people."""

from fractions import Fraction

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import HushgridError
from hushgrid.planning.rehearsal import AREA_SHARES, METHODS, UNIT_SQUARE, rehearse, rehearsed, stage


@pytest.mark.parametrize("name", METHODS)
def test_figures_are_those_of_publishing_the_same_people(name: str) -> None:
    """Cells, medians and 95 % quantiles of the errors of two ordinary releases, pooled by hand."""
    size, filled = 3000, 0.2
    figures = rehearse(name, size, Fraction(1, 2), filled)

    cells, held, errors = [], [], []
    for seed in (1, 2):
        made = stage(size, filled, seed)
        options = {"epsilon": "0.5", "public_size": size, "method": METHODS[name], "rng": hg.simulation_rng(seed)}
        release = hg.publish(made.points, domain=UNIT_SQUARE, **options)
        cells.append(release.partition.cells)
        held.append(made.held)
        errors.append([abs(release.count(rects) - true) for rects, true in zip(made.rects, made.held, strict=True)])
    assert figures.cells == np.mean(cells)
    for index in range(len(AREA_SHARES)):
        all_held = np.concatenate([each[index] for each in held])
        all_errors = np.maximum(np.concatenate([each[index] for each in errors]), 0.5)
        assert figures.points[index] == np.median(all_held) / size
        assert figures.typical_error[index] == pytest.approx(np.quantile(all_errors, 0.5) / size)
        assert figures.reach[index] == pytest.approx(np.quantile(all_errors, 0.95) / size)
        assert figures.relative_typical_error[index] == pytest.approx(np.quantile(all_errors / all_held, 0.5))
        assert figures.relative_reach[index] == pytest.approx(np.quantile(all_errors / all_held, 0.95))


def test_the_side_of_a_cell_of_ug_is_that_of_all() -> None:
    """Guideline 1 gives 10 x 10 cells for 1,000 points and epsilon 1."""
    assert rehearse("ug", 1000, Fraction(1), 0.2).cell_side == pytest.approx(0.1)


def test_the_cell_of_a_typical_point_is_smaller_than_a_typical_cell() -> None:
    """STAQ divides where the points are: half of them lie in cells below the root mean square side of all."""
    figures = rehearse("staq", 10_000, Fraction(1), 0.2)

    assert figures.cell_side < 0.6 / np.sqrt(figures.cells)


@pytest.mark.parametrize("name", METHODS)
def test_a_rehearsal_is_no_release(name: str, tmp_path) -> None:
    """It cannot be saved as if it were one."""
    with pytest.raises(HushgridError, match="simulat"):
        rehearsed(METHODS[name], stage(100, 0.2, 1), Fraction(1)).save(tmp_path / "rehearsed.dp.parquet")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [1, 2, 50])
@pytest.mark.parametrize("signal", [1, 10**5], ids=["mostly-noise", "hardly-any"])
def test_figures_are_above_zero_for_any_handful_of_people(name: str, size: int, signal: int) -> None:
    """One person or a few, all noise or none: every figure has a logarithm."""
    figures = vars(rehearse(name, size, Fraction(signal, size), 0.001))

    assert all(np.all(np.isfinite(figure)) and np.all(figure > 0) for figure in figures.values())
