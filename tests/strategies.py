"""Hypothesis strategies for domains, partitions, rectangles and points."""

import numpy as np
from hypothesis import strategies as st

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import DIVIDED, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import Lattice, Tree


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


@st.composite
def grouped_grids(draw):
    """Grouped grids of a few cells, in groups of any shape."""
    nested = draw(nested_grids())
    groups = draw(st.lists(st.integers(0, 2), min_size=nested.grid.cells, max_size=nested.grid.cells))
    _, numbers = np.unique(np.array(groups)[nested.sides == 1], return_inverse=True)
    labels = np.full(nested.grid.cells, DIVIDED)
    labels[nested.sides == 1] = numbers
    return GroupedGrid(nested=nested, groups=labels)


@st.composite
def trees(draw, most=30):
    """Trees whose nodes are cut anywhere, into up to three columns and rows."""
    lattice = Lattice(domain=draw(domains()), columns=draw(st.integers(2, 64)), rows=draw(st.integers(2, 64)))
    level, boxes, splits = lattice.box, [], []
    while len(level):
        below = []
        for box in level.tolist():
            wanted = draw(st.tuples(st.integers(1, 3), st.integers(1, 3))) if len(boxes) + len(below) < most else (1, 1)
            columns, rows = min(wanted[0], box[2] - box[0]), min(wanted[1], box[3] - box[1])
            boxes.append(box)
            splits.append((columns, rows) if columns * rows > 1 else (0, 0))
            if columns * rows > 1:
                across, along = draw(_cuts(box[0], box[2], columns)), draw(_cuts(box[1], box[3], rows))
                below += [
                    (across[c], along[r], across[c + 1], along[r + 1]) for r in range(rows) for c in range(columns)
                ]
        level = np.array(below, dtype=np.int64).reshape(-1, 4)
    return Tree(lattice=lattice, boxes=np.array(boxes), splits=np.array(splits))


def _cuts(low, high, parts):
    inner = st.lists(st.integers(low + 1, high - 1), min_size=parts - 1, max_size=parts - 1, unique=True)
    return (inner if parts > 1 else st.just([])).map(lambda cuts: [low, *sorted(cuts), high])


def partitions():
    """Partitions of every kind."""
    return st.one_of(grids(), nested_grids(), grouped_grids(), trees())


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
