"""Hypothesis strategies for domains, partitions, rectangles and points."""

import numpy as np
from hypothesis import strategies as st

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.nested import NestedGrid


@st.composite
def domains(draw):
    """Domains in degrees, from a city block to the world."""
    west = draw(st.floats(-180, 179, allow_nan=False))
    south = draw(st.floats(-90, 89, allow_nan=False))
    width = draw(st.floats(0.001, 180 - west))
    height = draw(st.floats(0.001, 90 - south))
    return Domain(west=west, south=south, east=min(west + width, 180), north=min(south + height, 90))


@st.composite
def grids(draw, largest=12):
    """Grids of a few cells."""
    sides = st.integers(1, largest)
    return Grid(domain=draw(domains()), rows=draw(sides), columns=draw(sides))


@st.composite
def nested_grids(draw):
    """Nested grids of a few cells."""
    grid = draw(grids(largest=4))
    sides = draw(st.lists(st.integers(1, 5), min_size=grid.cells, max_size=grid.cells))
    return NestedGrid(grid=grid, sides=np.array(sides))


def partitions():
    """Partitions of every kind."""
    return st.one_of(grids(), nested_grids())


@st.composite
def rects(draw, domain, most=5):
    """Rectangles around and across a domain."""
    reach = {"min_value": -0.5, "max_value": 1.5, "allow_nan": False}
    rows = []
    for _ in range(draw(st.integers(1, most))):
        x = sorted(draw(st.lists(st.floats(**reach), min_size=2, max_size=2)))
        y = sorted(draw(st.lists(st.floats(**reach), min_size=2, max_size=2)))
        west, east = (domain.west + share * domain.width for share in x)
        south, north = (domain.south + share * domain.height for share in y)
        if west < east and south < north:
            rows.append((west, south, east, north))
    return np.array(rows or [domain.bounds])
