"""Groups of rows: all leaves in order, in groups that lie apart."""

import itertools

import numpy as np
import pytest
import shapely

from hushgrid.answering.areas import area_partition
from hushgrid.files import groups
from hushgrid.files.groups import groups_by_place
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from tests.plain import UNIT_SQUARE
from tests.quadtrees import complete_quadtree, random_quadtree

MOST = 50  # rows in a group


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """Groups that small partitions have several of."""
    monkeypatch.setattr(groups, "ROWS_PER_GROUP", MOST)
    monkeypatch.setattr(groups, "LEAST_ROWS", MOST // 3)
    monkeypatch.setattr(groups, "ROWS_TOGETHER", 2 * MOST)


def grid(rows, columns, domain=UNIT_SQUARE):
    """A grid of a shape."""
    return Grid(domain=domain, rows=rows, columns=columns)


def scattered(number):
    """Squares in a row that come in no order of place."""
    places = np.random.default_rng(2).permutation(number) / number
    squares = [shapely.box(place, 0, place + 1 / number, 1) for place in places]
    return area_partition(squares, [f"area {place}" for place in range(number)], UNIT_SQUARE)


PARTITIONS = {
    "a grid": [grid(20, 31)],
    "nested grids": [NestedGrid(grid=grid(4, 5), sides=np.arange(20) % 6 + 1)],
    "a tree": [random_quadtree(np.random.default_rng(3), depth=5, chance=0.6)],
    "areas": [scattered(130)],
    "one cell": [grid(1, 1)],
    "trees": [random_quadtree(np.random.default_rng(seed), depth=4, chance=0.7) for seed in range(9)],
    "grids of many sizes": [grid(side, side + 2) for side in (3, 12, 1, 7, 20, 2, 9, 9)],
    "areas in slices": [scattered(30)] * 12,
    "many slices of one cell": [grid(1, 1)] * 400,
}


def box(partitions, group):
    """West, south, east, north of a group."""
    bounds = np.concatenate([partitions[run.number].bounds(run.first, run.stop) for run in group])
    return (*bounds[:, :2].min(axis=0), *bounds[:, 2:].max(axis=0))


def rows(group):
    """How many leaves a group has."""
    return sum(run.stop - run.first for run in group)


def overlap(one, other):
    """Whether two boxes have more than a border in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("partitions", PARTITIONS.values(), ids=PARTITIONS)
@pytest.mark.parametrize("blocks", [2**16, 16])
def test_every_leaf_is_in_one_group_and_in_order(partitions, blocks, monkeypatch):
    """The groups of a file have the leaves of each slice one after the other, and slices in order."""
    monkeypatch.setattr(groups, "BLOCKS", blocks)
    monkeypatch.setattr(groups, "ROWS_AT_ONCE", 64)
    stops = [0] * len(partitions)
    for group in groups_by_place(partitions):
        assert [run.number for run in group] == sorted({run.number for run in group})
        for run in group:
            assert stops[run.number] == run.first < run.stop
            stops[run.number] = run.stop

    assert stops == [partition.cells for partition in partitions]


@pytest.mark.parametrize("name", PARTITIONS)
def test_groups_are_small_but_few(name):
    """None has more rows than it may, and they are a third full at least."""
    sizes = list(map(rows, groups_by_place(PARTITIONS[name])))

    assert max(sizes) <= MOST
    assert len(sizes) == 1 or np.mean(sizes) > MOST / 3


def test_a_grid_is_cut_between_rows():
    """Its groups have at most a border in common."""
    boxes = [box(PARTITIONS["a grid"], group) for group in groups_by_place(PARTITIONS["a grid"])]

    assert not any(itertools.starmap(overlap, itertools.combinations(boxes, 2)))


def test_a_quadtree_is_cut_between_its_quarters():
    """Groups of a tree of 256 equal cells are eight equal parts of the map."""
    partitions = [complete_quadtree(4)]
    boxes = [box(partitions, group) for group in groups_by_place(partitions)]

    assert [(east - west) * (north - south) for west, south, east, north in boxes] == [1 / 8] * 8
    assert not any(itertools.starmap(overlap, itertools.combinations(boxes, 2)))


def test_the_widest_domain_can_be_cut():
    """Areas of boxes are numbers."""
    far = Domain(west=-1e100, south=-1e100, east=1e100, north=1e100, crs="EPSG:3857")

    assert [rows(group) for group in groups_by_place([grid(10, 10, far)])] == [50, 50]


def test_slices_are_told_apart_and_cut_at_the_same_place():
    """Quadtrees of one map: groups of one slice or two, in two places that lie apart."""
    partitions = [complete_quadtree(3 - slice_number % 2) for slice_number in range(6)]
    found = list(groups_by_place(partitions))
    boxes = [box(partitions, group) for group in found]

    assert [[run.number for run in group] for group in found] == [[0], [0], [1, 2], [1, 2], [3, 4, 5], [3, 4, 5]]
    assert not any(itertools.starmap(overlap, itertools.pairwise(boxes)))


def test_slices_on_scattered_areas_are_told_apart():
    """There is no place to cut them at, so that each group has all areas of a few slices."""
    for group in groups_by_place(PARTITIONS["areas in slices"]):
        assert all((run.first, run.stop) == (0, 30) for run in group)
