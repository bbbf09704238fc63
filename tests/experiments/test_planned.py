"""Real points err as planned."""

import numpy as np
import pytest

import hushgrid as hg
from experiments.datasets import DATASETS
from hushgrid.planning.plan import MethodPlan, plan
from hushgrid.planning.rehearsal import AREA_SHARES, points_in, rect_places

UNIT_SQUARE = hg.Domain(west=0, south=0, east=1, north=1)
METHODS = {"staq": hg.Staq(inference="bayes"), "ag": hg.AdaptiveGrid()}


def unit_points(name: str) -> np.ndarray:
    """Points of a set, its domain scaled to the unit square."""
    if not DATASETS[name].path.exists():
        pytest.skip(f"{DATASETS[name].path.name} is not in the data folder")
    domain = DATASETS[name].domain
    points = DATASETS[name].points()
    return np.clip((points - (domain.west, domain.south)) / (domain.width, domain.height), 0, 1)


def planned_row(size: int, epsilon: str, method: str, filled: float = 0.2) -> MethodPlan:
    """What is planned for one method."""
    made = plan(UNIT_SQUARE, points_about=size, epsilon=epsilon, filled=filled)
    return next(row for row in made.methods if row.method == method)


def reaches(points: np.ndarray, release: hg.Synopsis) -> list[float]:
    """What 95 % of the errors are below, for each size of rectangle."""
    bits = hg.simulation_rng(8)
    rects = [rect_places(points, share, 500, bits=bits) for share in AREA_SHARES.values()]
    return [np.quantile(abs(release.count(each) - points_in(each, points)), 0.95) for each in rects]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
@pytest.mark.parametrize("name", ["places", "us_cvs", "us_chains", "checkin_gowalla_nyc"])
def test_errors_on_real_points_are_within_a_factor_of_those_planned(name: str, epsilon: str, method: str) -> None:
    """Cells within 20 %, 95 % errors within a factor of 2.5; even people would be said to err far less."""
    points = unit_points(name)
    release = hg.publish(points, domain=UNIT_SQUARE, epsilon=epsilon, method=METHODS[method], rng=hg.simulation_rng(3))
    actual = np.array(reaches(points, release))

    row, even = (planned_row(len(points), epsilon, method, filled) for filled in (0.2, 1.0))
    ratios = np.array([error.reach for error in row.errors]) / actual
    assert row.cells == pytest.approx(release.partition.cells, rel=0.2)
    assert np.all((ratios > 1 / 2.5) & (ratios < 2.5)), ratios
    assert even.errors[0].reach < actual[0] / 2
