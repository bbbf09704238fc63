"""H3 cells of any domain, at any resolution that fits."""

from collections import Counter

import h3
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushgrid.answering.areas import area_partition
from hushgrid.answering.h3_cells import expected_cells, h3_cells
from hushgrid.counting.areas import AreaIndex
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from tests.strategies import domains

MOST = 400  # cells, so that an example takes little time


@st.composite
def domains_at_vertices(draw):
    """Domains whose borders run through vertices of cells, or past them by a rounding error."""
    place = draw(st.floats(-89.9, 89.9)), draw(st.floats(-180, 180))
    cells = h3.grid_disk(h3.latlng_to_cell(*place, draw(st.integers(0, 15))), 1)
    vertices = st.sampled_from(sorted(vertex for cell in cells for vertex in h3.cell_to_boundary(cell)))
    (south, north), (west, east) = map(sorted, zip(draw(vertices), draw(vertices), strict=True))
    past = draw(st.sampled_from([-np.inf, 0, np.inf]))
    try:
        return Domain(west=np.nextafter(west, past) if past else west, south=south, east=east, north=north)
    except ArgumentError:
        assume(False)


@given(st.one_of(domains(), domains_at_vertices()), st.data())
@settings(max_examples=60, deadline=None)
def test_cells_cover_any_domain_once(domain, data):
    """Neighbours share their edges bit for bit; each point has its cell, the one that h3 says or one next to it."""
    finest = max((each for each in range(16) if expected_cells(domain, each) <= MOST), default=0)
    resolution = data.draw(st.integers(max(0, finest - 2), finest))
    cells, shapes = h3_cells(domain, resolution)
    partition = area_partition(shapes, cells, domain)
    shares = np.array(data.draw(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20)))
    points = np.clip(domain.bounds[:2] + shares * (domain.width, domain.height), domain.bounds[:2], domain.bounds[2:])
    found = AreaIndex.of(partition).numbers(*points.T.copy())
    said = [h3.latlng_to_cell(north, east, resolution) for east, north in points.tolist()]

    assert unmatched(partition) == []
    assert np.isclose(partition.sizes.sum(), domain.width * domain.height, rtol=1e-9)
    assert (found >= 0).all()
    for one, other in zip((cells[number] for number in found), said, strict=True):
        assert one == other or h3.are_neighbor_cells(one, other)


def unmatched(partition):
    """Edges inside the domain that are not there once more, in the other direction."""
    edges = Counter(map(tuple, partition.segments.tolist()))
    west, south, east, north = partition.domain.bounds
    borders = ((0, west), (0, east), (1, south), (1, north))
    inside = [edge for edge in edges if not any(edge[axis] == edge[axis + 2] == line for axis, line in borders)]
    return [edge for edge in inside if edges[(*edge[2:], *edge[:2])] != edges[edge]]
