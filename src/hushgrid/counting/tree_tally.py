"""How points are added to the counts of trees and of quadtree cells."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hushgrid.counting.refinement import Refinement
from hushgrid.counting.source import Block
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import DEEPEST, Quadrants
from hushgrid.geometry.tree import RIGHT, TOP, Tree
from hushgrid.kernels.tree_bins import count_below, count_in_runs, count_in_tree, morton_codes

LATTICE_SIDE = 1 << DEEPEST

Tally = Callable[[Block, NDArray[np.int64]], None]


def tree_tally(tree: Tree) -> Tally:
    """Adds the points of a block to the leaves of a tree, by going down from the root."""
    lattice = tree.lattice
    leaf_numbers = np.full(tree.nodes, -1, np.int32)
    leaf_numbers[tree.leaves] = np.arange(tree.cells)
    place = (tree.domain.bounds, _scales(tree.domain, lattice.columns, lattice.rows), (lattice.rows, lattice.columns))
    rights, tops = np.ascontiguousarray(tree.boxes[:, [RIGHT, TOP]].T, np.int32)
    splits, first_children = tree.splits.astype(np.int32), tree.first_children.astype(np.int32)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_tree(
            block.longitudes, block.latitudes, *place, rights, tops, splits, first_children, leaf_numbers, true_counts
        )

    return add


def quadrants_tally(quadrants: Quadrants) -> Tally:
    """Adds the points of a block to cells of a quadtree, by bisection along the curve."""
    first, stop = quadrants.runs

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_in_runs(curve_codes(quadrants.domain, block), first, stop, true_counts)

    return add


def refinement_tally(refinement: Refinement) -> Tally:
    """Adds the points of a block to the parts of quadtree cells, by a table of all cells of their level."""
    domain, levels_below = refinement.domain, DEEPEST - refinement.level
    table = np.full(4**refinement.level, -1, np.int32)
    table[refinement.codes] = 32 * refinement.starts + levels_below - refinement.steps
    place = (domain.bounds, _scales(domain, LATTICE_SIDE, LATTICE_SIDE), LATTICE_SIDE, 2 * levels_below)

    def add(block: Block, true_counts: NDArray[np.int64]) -> None:
        count_below(block.longitudes, block.latitudes, *place, table, true_counts)

    return add


def curve_codes(domain: Domain, block: Block) -> NDArray[np.int64]:
    """Place of every point of a block along the Morton curve, -1 outside the domain, shape (n,)."""
    codes, inside = np.empty(len(block.longitudes), np.uint32), np.empty(len(block.longitudes), np.bool_)
    scales = _scales(domain, LATTICE_SIDE, LATTICE_SIDE)
    morton_codes(block.longitudes, block.latitudes, domain.bounds, scales, LATTICE_SIDE, codes, inside)
    return np.where(inside, codes.astype(np.int64), -1)


def _scales(domain: Domain, columns: int, rows: int) -> tuple[float, float]:
    return float(cells.scale(domain.west, domain.east, columns)), float(cells.scale(domain.south, domain.north, rows))
