"""A small synopsis of each kind that a file can hold."""

import pytest

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from tests.synopses import synopsis_on

TOWN = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
GRID = Grid(domain=TOWN, rows=3, columns=4)
NESTED = NestedGrid(grid=Grid(domain=TOWN, rows=2, columns=2), sides=[1, 2, 3, 1])


@pytest.fixture(params=[GRID, NESTED], ids=["grid", "nested"])
def synopsis(request):
    """A synopsis of either kind."""
    return synopsis_on(request.param)


@pytest.fixture
def on_grid():
    """A synopsis on a grid."""
    return synopsis_on(GRID)


@pytest.fixture
def on_nested():
    """A synopsis on a nested grid."""
    return synopsis_on(NESTED)


@pytest.fixture
def path(tmp_path):
    """Where to write."""
    return tmp_path / "town.dp.parquet"
