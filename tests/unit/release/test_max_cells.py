"""The limit on cells: one meaning for every method, told by the release, and part of the request."""

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.methods import METHODS
from hushgrid.methods.method import most_cells
from hushgrid.methods.staq import Staq
from hushgrid.release.request import ReleaseRequest
from hushgrid.release.verify import verify

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(3).beta(2, 5, (16_000, 2))
SIZED = sorted(METHODS.keys() - {"identity", "uniform"})  # by released values; the others have a given size


def published(method, **options):
    """A simulated release of a budget that asks for thousands of cells."""
    options = {"epsilon": 5, "calibrate": False, "rng": hg.simulation_rng(1)} | options
    return hg.publish(POINTS, domain=DOMAIN, method=method, **options)


@pytest.mark.parametrize("part", [2, 5])
@pytest.mark.parametrize("method", SIZED)
def test_every_method_keeps_to_the_limit_and_says_so(method, part):
    """A half or a fifth of the cells it would have: no more than that, and a note has the reason."""
    free = published(method)
    limit = free.partition.cells // part
    limited = published(method, max_cells=limit)

    assert 0 < limited.partition.cells <= limit
    assert len(limited.method.notes) == len(free.method.notes) + (2 if method in ("ag", "dag") else 1)
    assert limited.claim.max_cells == limit
    assert limited.claim.epsilon == free.claim.epsilon


@pytest.mark.parametrize("method", SIZED)
def test_a_limit_that_does_not_bind_changes_nothing(method):
    """Cells, measurements and counts are those of a release without it."""
    free, roomy = published(method, epsilon=1), published(method, epsilon=1, max_cells=10**6)

    assert free.partition == roomy.partition
    assert np.array_equal(free.measurements.leaves.values, roomy.measurements.leaves.values)
    assert np.array_equal(free.counts, roomy.counts)
    assert free.method == roomy.method


def test_a_size_that_is_given_is_not_limited():
    """The limit is for sizes that follow from released values."""
    assert published(hg.UniformGrid(side=50), max_cells=100).partition.cells == 2500


def test_the_defaults_are_in_one_place():
    """STAQ has a limit of its own, aimed or not; the other methods share one."""
    limits = {name: most_cells(method) for name, method in METHODS.items()}

    assert limits.pop("staq") == limits.pop("aimed") == Staq.most_cells
    assert set(limits.values()) == {GUIDELINE_CELL_LIMIT} == {most_cells(None)}


def test_a_limited_release_is_calibrated_and_verified(tmp_path):
    """The made-up points of calibration are published under the same limit; the file keeps it."""
    synopsis = hg.publish(POINTS, domain=DOMAIN, epsilon=5, max_cells=300, rng=hg.simulation_rng(1))
    synopsis.save(tmp_path / "limited.dp.parquet", allow_simulation=True)
    read = hg.read(tmp_path / "limited.dp.parquet")
    checks = {check.name: check for check in verify(tmp_path / "limited.dp.parquet").checks}
    free = hg.publish(POINTS, domain=DOMAIN, epsilon=5, rng=hg.simulation_rng(1))

    assert read.claim.max_cells == 300
    assert checks["calibration"].ok, checks
    assert read.calibration != free.calibration


def test_the_ledger_tells_limits_apart_and_keeps_old_keys():
    """A limit is part of a request; without one, the key is that of requests before there were limits."""

    def key(**options):
        return ReleaseRequest.of(domain=DOMAIN, epsilon=1, **options).for_ledger("trips")

    assert key(max_cells=1000).key != key(max_cells=2000).key != key().key
    assert "max_cells" not in key().parameters


@pytest.mark.parametrize("limit", [99, 0, -1, 2**26 + 1, 1000.0, True, "1000"])
def test_a_limit_that_makes_no_sense_is_refused(limit):
    """Before anything is read."""
    with pytest.raises(ArgumentError, match="max_cells must be a whole number from 100 to"):
        published("ug", max_cells=limit)
