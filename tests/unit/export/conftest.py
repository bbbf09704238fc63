"""Synopses to export: one of every kind of partition, and a domain in metres."""

from dataclasses import replace

import numpy as np
import pytest

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.methods.pyramids import pyramid
from tests.synopses import synopsis_on

TOWN = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
METRES = Domain(west=560_000, south=4_480_000, east=620_000, north=4_530_000, crs="EPSG:32618")


def made(kind, domain=TOWN):
    """A synopsis on a partition of a kind."""
    grid = Grid(domain=domain, rows=3, columns=4)
    match kind:
        case "grid":
            return synopsis_on(grid)
        case "nested":
            return synopsis_on(NestedGrid(grid=grid, sides=np.arange(12) % 4 + 1))
        case "tree":
            return synopsis_on(pyramid(domain, [2, 6, 12]))


@pytest.fixture(params=["grid", "nested", "tree"])
def synopsis(request):
    """A synopsis of each kind in longitude and latitude."""
    return made(request.param)


@pytest.fixture
def in_metres():
    """A synopsis of a projected domain."""
    return made("nested", METRES)


@pytest.fixture
def simulated():
    """A synopsis that is not a release."""
    release = made("grid")
    return replace(release, claim=replace(release.claim, simulation=True))
