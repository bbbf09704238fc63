"""Least squares runs once from a file to its answers."""

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.inference import least_squares
from hushgrid.release.verify import verify
from hushgrid.synopsis.scale import Scale

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
RECT = (0.1, 0.2, 0.43, 0.77)


@pytest.fixture
def solved(monkeypatch):
    """The measurements of every run of `solve`, in order."""
    runs = []
    average_by_node = least_squares.average_by_node  # which nothing but `solve` calls

    def note(tree, measurements):
        runs.append(measurements)
        return average_by_node(tree, measurements)

    monkeypatch.setattr(least_squares, "average_by_node", note)
    return runs


@pytest.fixture(params=["least-squares", "bayes", "belief"])
def path(request, tmp_path):
    """A release of STAQ by one of its inferences."""
    points = np.random.default_rng(0).beta(2, 5, (3000, 2))
    file = tmp_path / "a.dp.parquet"
    hg.publish(points, domain=DOMAIN, epsilon=1, method=hg.Staq(inference=request.param)).save(file)
    return file


def test_reading_and_answering_solve_once(path, solved):
    """For rectangles, polygons and standard errors together."""
    shapely = pytest.importorskip("shapely")
    synopsis = hg.read(path)
    synopsis.answer(RECT)
    synopsis.answer_polygons(shapely.box(*RECT))
    synopsis.cells()

    assert len(solved) == 1


def test_a_changed_release_keeps_what_is_known(path, solved):
    """Scaling counts leaves the evidence as it is."""
    synopsis = hg.read(path)
    scale = Scale.to(10_000, synopsis.counts, source="public")
    scaled = synopsis.scaled(scale)
    scaled.answer(RECT)

    assert np.array_equal(scaled.variances, scale.factor**2 * synopsis.variances)
    assert len(solved) == 1


def test_verifying_solves_no_measurements_twice(path, solved):
    """Those of the file once, and those of each likeness that calibrates it once."""
    assert verify(path).ok

    assert len({id(run) for run in solved}) == len(solved)
