"""Slices made from chosen measurements, with no data behind them."""

from fractions import Fraction

import numpy as np
import shapely

from hushgrid.answering.areas import area_partition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.slices.by import By
from hushgrid.slices.slices import Slices
from tests.quadtrees import complete_quadtree
from tests.synopses import synopsis_on

SQUARE = Domain(west=0, south=0, east=1, north=1)
KINDS = By("kind", values=["car", "bike", "=bus"])
NESTED = [NestedGrid(grid=Grid(domain=SQUARE, rows=1, columns=2), sides=[1, side]) for side in (2, 3, 2)]
AREAS = area_partition(
    [shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 0.5), shapely.box(0.5, 0.5, 1, 1)],
    ["A", "B", "C"],
    SQUARE,
    level="county",
    coarser={"state": ["S", "T", "T"]},
)
PARTITIONS = {
    "grid": [Grid(domain=SQUARE, rows=2, columns=3)] * 3,
    "nested": NESTED,
    "tree": [complete_quadtree(level) for level in (1, 2, 1)],
    "areas": [AREAS] * 3,
}


def some_slices(kind="nested", *, total=True, epsilon=Fraction(9, 10)):
    """Slices on partitions of a kind, with a total of a tenth of the budget."""
    partitions = PARTITIONS[kind]
    values = np.random.default_rng(0).integers(-20, 900, (4, 100))
    parts = {
        name: synopsis_on(partition, epsilon=epsilon, values=row[: partition.cells])
        for name, partition, row in zip(KINDS.names, partitions, values, strict=False)
    }
    whole = synopsis_on(partitions[0], epsilon=Fraction(1, 10), values=values[3][: partitions[0].cells])
    return Slices(by=KINDS, parts=parts, total=whole if total else None)
