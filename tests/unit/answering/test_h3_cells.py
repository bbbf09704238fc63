"""H3 cells of a domain: none is missing, none overlap, and h3 itself agrees which one a point lies in."""

import re
import sys
from collections import Counter

import h3
import numpy as np
import pytest
import shapely

from hushgrid.answering import h3_cells as cells_of_h3
from hushgrid.answering.areas import AreaShapes, area_partition
from hushgrid.answering.h3_cells import expected_cells, h3_cells
from hushgrid.counting.areas import AreaIndex
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.areas import AREA_LIMIT, are_h3_indexes
from hushgrid.geometry.domain import Domain

WORLD = Domain(west=-180, south=-90, east=180, north=90)
NORTH, EAST = h3.cell_to_latlng(sorted(h3.get_pentagons(3))[5])
PLACES = {
    "a city": (Domain(west=-74.26, south=40.48, east=-73.70, north=40.92), 7),
    "a country": (Domain(west=-11, south=49, east=2, north=61), 3),
    "less than a cell": (Domain(west=5, south=52, east=5.001, north=52.001), 3),
    "around a pentagon": (Domain(west=EAST - 2, south=NORTH - 2, east=EAST + 2, north=NORTH + 2), 4),
    "up to the 180th meridian": (Domain(west=176, south=-20, east=180, north=-15), 4),
    "from the 180th meridian": (Domain(west=-180, south=-20, east=-176, north=-15), 4),
    "the north": (Domain(west=-180, south=75, east=180, north=90), 2),
    "beside the south pole": (Domain(west=20, south=-90, east=110, north=-88), 4),
    "the Earth in 122 cells": (WORLD, 0),
    "the Earth in 842 cells": (WORLD, 1),
    "half a metre": (Domain(west=10, south=45, east=10.0002, north=45.0002), 15),
}


@pytest.fixture(scope="module", params=list(PLACES))
def place(request):
    """A domain, a resolution, and the partition into cells."""
    domain, resolution = PLACES[request.param]
    cells, shapes = h3_cells(domain, resolution)
    return domain, resolution, area_partition(shapes, cells, domain)


def random_points(domain, size=4000):
    """Longitudes and latitudes of points anywhere in a domain."""
    rng = np.random.default_rng(7)
    return rng.uniform(domain.west, domain.east, size), rng.uniform(domain.south, domain.north, size)


def test_cells_are_called_by_their_indexes(place):
    """Valid ones, of the resolution asked for, none twice."""
    _, resolution, partition = place

    assert all(h3.is_valid_cell(name) and h3.get_resolution(name) == resolution for name in partition.names)
    assert are_h3_indexes(partition.names)
    assert len(set(partition.names)) == partition.cells


def test_every_point_lies_in_one_cell(place):
    """As shapely finds them: none is in a gap, none in two cells."""
    domain, _, partition = place
    points = shapely.points(*random_points(domain))
    point, _ = shapely.STRtree(AreaShapes(partition).shapes).query(points, predicate="intersects")

    assert np.bincount(point, minlength=len(points)).tolist() == [1] * len(points)


def test_neighbours_share_their_borders(place):
    """Every edge inside the domain is there twice, once in each direction, bit for bit; so nothing lies between."""
    domain, _, partition = place
    edges = Counter(map(tuple, partition.segments.tolist()))
    west, south, east, north = domain.bounds
    sides = ((0, west), (0, east), (1, south), (1, north))
    inside = [edge for edge in edges if not any(edge[axis] == edge[axis + 2] == line for axis, line in sides)]

    assert all(edges[edge] == 1 for edge in edges)
    assert all((*edge[2:], *edge[:2]) in edges for edge in inside)
    assert partition.sizes.sum() == pytest.approx(domain.width * domain.height, rel=1e-12)


def test_points_are_counted_in_the_cell_that_h3_says(place):
    """At most a thousandth are in a neighbouring cell, near the border."""
    domain, resolution, partition = place
    longitudes, latitudes = random_points(domain)
    found = [partition.names[number] for number in AreaIndex.of(partition).numbers(longitudes, latitudes)]
    said = [h3.latlng_to_cell(*each, resolution) for each in zip(latitudes.tolist(), longitudes.tolist(), strict=True)]
    apart = [pair for pair in zip(found, said, strict=True) if pair[0] != pair[1]]

    assert len(apart) <= len(said) / 1000
    assert all(h3.are_neighbor_cells(*pair) for pair in apart)


def test_each_cell_meets_the_domain(place):
    """H3 finds a point of it there; where it ends in a corner of the domain, a border may decide otherwise."""
    _, resolution, partition = place
    inside = shapely.point_on_surface(AreaShapes(partition).shapes)
    found = [h3.latlng_to_cell(point.y, point.x, resolution) for point in inside]

    assert sum(one != other for one, other in zip(found, partition.names, strict=True)) <= len(found) / 100


def test_straight_edges_would_be_off():
    """Negative control: without vertices on arcs, h3 says otherwise of hundreds of points."""
    domain, resolution = PLACES["the Earth in 122 cells"]
    cells = sorted(h3.get_res0_cells())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cells_of_h3, "BEND", 1.0)
        _, shapes = h3_cells(domain, resolution)
    longitudes, latitudes = random_points(domain)
    found = AreaIndex.of(area_partition(shapes, cells, domain)).numbers(longitudes, latitudes)
    said = [h3.latlng_to_cell(*each, 0) for each in zip(latitudes.tolist(), longitudes.tolist(), strict=True)]

    assert sum(cells[number] != cell for number, cell in zip(found.tolist(), said, strict=True)) > 100


def test_more_cells_than_the_limit_are_refused_before_they_are_made(monkeypatch):
    """The message names a resolution that fits, the finest one, and about how many cells it has."""
    monkeypatch.setattr(cells_of_h3, "_cells_near", lambda *_: pytest.fail("cells were made"))
    domain = Domain(west=-11, south=49, east=2, north=61)
    with pytest.raises(ArgumentError, match="over the limit of 65,536") as refused:
        h3_cells(domain, 9)
    monkeypatch.undo()
    fits, about = re.search(r"Take h3:(\d+), which has about ([\d,]+)", str(refused.value)).groups()

    assert len(h3_cells(domain, int(fits))[0]) == pytest.approx(int(about.replace(",", "")), rel=0.2)
    assert expected_cells(domain, int(fits) + 1) > AREA_LIMIT


def test_what_is_expected_is_about_what_there_is(place):
    """Within a factor of two, beyond the few cells of small domains."""
    domain, resolution, partition = place

    assert partition.cells / 2 - 5 <= expected_cells(domain, resolution) <= 2 * partition.cells + 5


def test_outlines_are_simpler_where_vertices_would_be_too_many(monkeypatch):
    """Simpler outlines still cover the domain without gaps."""
    domain, resolution = PLACES["a country"]
    before = shapely.get_num_coordinates(h3_cells(domain, resolution)[1]).sum()
    monkeypatch.setattr(cells_of_h3, "VERTEX_LIMIT", AREA_LIMIT + before // 2)
    _, shapes = h3_cells(domain, resolution)

    assert shapely.get_num_coordinates(shapes).sum() < before
    assert shapely.area(shapes).sum() == pytest.approx(domain.width * domain.height, rel=1e-12)


def test_a_domain_in_metres_is_refused():
    """With a way out."""
    with pytest.raises(
        ArgumentError, match=r"longitude and latitude, got one in EPSG:32618. Give its bounds in degrees"
    ):
        h3_cells(Domain(west=5e5, south=4e6, east=6e5, north=5e6, crs="EPSG:32618"), 5)


def test_without_h3_the_extra_is_named(monkeypatch):
    """By the line that installs it."""
    monkeypatch.setitem(sys.modules, "h3", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hushgrid\[h3\]'"):
        h3_cells(WORLD, 0)


@pytest.mark.parametrize("resolution", range(16))
def test_indexes_are_known_without_h3(resolution):
    """Those of h3, and no other text like them."""
    index = h3.latlng_to_cell(52.3, 4.9, resolution)
    vertex, other_base = h3.cell_to_vertex(index, 0), f"{index[:2]}ff{index[4:]}"
    others = (index.upper(), index[:-1], f"9{index[1:]}", other_base, vertex, "area")

    assert are_h3_indexes([index])
    assert not any(are_h3_indexes([index, other]) for other in others)
