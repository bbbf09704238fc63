"""What every partition of a release says of itself."""

import numpy as np
import pytest

from hushgrid.files.structure import KINDS
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import Lattice, full_tree
from tests.plain import UNIT_SQUARE

GRID = Grid(domain=UNIT_SQUARE, rows=1, columns=3)
NESTED = NestedGrid(grid=GRID, sides=[1, 2, 1])
SQUARE = [[0, 0], [0.5, 0], [0.5, 0.5], [0, 0.5], [0, 0]]
MADE = {
    "grid": (GRID, "grid 3 x 1, 3 cells"),
    "nested-grid": (NESTED, "grid 3 x 1, each cell divided into 1 x 1 to 2 x 2, 6 leaf cells"),
    "grouped-grid": (
        GroupedGrid(nested=NESTED, groups=[0, -1, 0]),
        "grid 3 x 1, each cell divided into 1 x 1 to 2 x 2, 6 leaf cells, those not divided in 1 group",
    ),
    "tree": (full_tree(Lattice(domain=UNIT_SQUARE, columns=4, rows=4), [(2, 2)]), "tree of 2 levels, 4 leaf cells"),
    "areas": (
        AreaPartition(
            domain=UNIT_SQUARE,
            names=("A",),
            vertices=SQUARE,
            ring_starts=[0, 5],
            polygon_starts=[0, 1],
            area_starts=[0, 1],
        ),
        "1 area that was given",
    ),
}


def test_every_kind_of_a_file_is_tried_here():
    """A kind that is missing here would go untested."""
    assert {kind: type(made) for kind, (made, _) in MADE.items()} == dict(KINDS)


@pytest.mark.parametrize(("partition", "words"), MADE.values(), ids=MADE)
class TestStructure:
    """What files and readers ask for."""

    def test_it_is_made_again_from_its_shape_and_layout(self, partition, words):
        """With equal leaves, and nothing else is equal to it."""
        again = type(partition).from_layout(partition.domain, partition.shape, partition.layout)

        assert again == partition
        assert np.array_equal(again.bounds(), partition.bounds())
        assert [other for other, _ in MADE.values() if other == partition] == [partition]

    def test_its_layout_has_the_types_it_says(self, partition, words):
        """Columns of one length."""
        assert {name: column.dtype for name, column in partition.layout.items()} == partition.layout_types
        assert len({len(column) for column in partition.layout.values()}) <= 1

    def test_it_says_its_shape(self, partition, words):
        """In words, and with the number of leaves."""
        assert partition.words == words
        assert partition.shape["cells"] == partition.cells
        assert len(partition.names) == (0 if partition.tiles else partition.cells)


def test_partitions_that_differ_in_their_layout_are_not_equal():
    """Though kind and shape are the same."""
    assert NestedGrid(grid=GRID, sides=[2, 1, 1]) != NESTED
    assert NestedGrid(grid=GRID, sides=[1, 2, 1]) == NESTED
