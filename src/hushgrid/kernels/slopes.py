"""What the masses around a quadtree's cells say of how the points inside them lean: four features a cell and axis.

Children are in the order south-west, south-east, north-west, north-east; neighbourhoods are those of `splits`.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.kernels.splits import LEAST_AROUND, OUTSIDE, WHOLE, lean, look_around

Neighbours = NDArray[np.int32]

FEATURES = 4
MIDDLE = 4  # place of a node in its own neighbourhood


@compiled
def contrast(first: float, second: float, own: float) -> float:
    """Difference of two masses, relative to what there is."""
    total = first + second + own
    return (first - second) / total if total > LEAST_AROUND else 0.0


@compiled
def look_closer(
    node: int,
    neighbours: Neighbours,
    depths: Indices,
    first_children: Indices,
    child_counts: Indices,
    masses: Floats,
    out: Floats,
) -> None:
    """Mass on the quarters of the nodes around a node, in rows from south to north, shape (6, 6).

    A leaf is spread evenly, and so is the node itself and what lies beyond the domain, where it counts again.
    """
    for offset in range(9):
        near = neighbours[node, offset]
        around = node if near == OUTSIDE else near
        flat = around == node or child_counts[around] == 0
        for place in range(4):
            row, column = 2 * (offset // 3) + place // 2, 2 * (offset % 3) + place % 2
            if flat:
                out[row, column] = masses[around] / 4.0 ** (1 + depths[node] - depths[around])
            else:
                out[row, column] = masses[first_children[around] + place]


@compiled
def lean_of_cells(
    first: int,
    stop: int,
    neighbours: Neighbours,
    depths: Indices,
    first_children: Indices,
    child_counts: Indices,
    masses: Floats,
    half_masses: Floats,
    out: Floats,
) -> None:
    """Features of the lean of nodes to the west and to the south, shape (nodes, 2, 4).

    To the west: its own row of nodes; the rows beside it; the quarters that touch its west and its east side; and
    those that touch its west and its east half from the south and the north.
    """
    nodes, quarters = np.empty((3, 3)), np.empty((6, 6))
    for node in range(first, stop):
        look_around(node, WHOLE, neighbours, depths, child_counts, masses, half_masses, nodes)
        look_closer(node, neighbours, depths, first_children, child_counts, masses, quarters)
        for axis in range(2):
            far, near = (nodes, quarters) if axis == 0 else (nodes.T, quarters.T)
            out[node, axis, 0] = lean(far[1, 0], far[1, 1], far[1, 2])
            beside = far[0] + far[2]
            out[node, axis, 1] = lean(beside[0], beside[1], beside[2])
            out[node, axis, 2] = contrast(near[2, 1] + near[3, 1], near[2, 4] + near[3, 4], masses[node])
            out[node, axis, 3] = contrast(near[1, 2] + near[4, 2], near[1, 3] + near[4, 3], masses[node] / 2)


@compiled
def lean_of_halves(
    first: int,
    stop: int,
    inner: Indices,
    neighbours: Neighbours,
    depths: Indices,
    first_children: Indices,
    child_counts: Indices,
    masses: Floats,
    half_masses: Floats,
    out: Floats,
) -> None:
    """Features of the lean of the west and the east half of inner nodes to the south, shape (inner, 2, 4).

    The half's own column of halves; the columns beside it; the quarters that touch it from the south and the north;
    and the southern and northern quarters beside it, of the other half and of the outer neighbour.
    """
    halves, quarters = np.empty((3, 3)), np.empty((6, 6))
    for rank in range(first, stop):
        node = inner[rank]
        look_closer(node, neighbours, depths, first_children, child_counts, masses, quarters)
        for side in range(2):
            look_around(node, side, neighbours, depths, child_counts, masses, half_masses, halves)
            beside = halves[:, 0] + halves[:, 2]
            other, outer = first_children[node] + 1 - side, 1 + 3 * side
            south, north = masses[other] + quarters[2, outer], masses[other + 2] + quarters[3, outer]
            own = half_masses[node, side]
            out[rank, side, 0] = lean(halves[0, 1], halves[1, 1], halves[2, 1])
            out[rank, side, 1] = lean(beside[0], beside[1], beside[2])
            out[rank, side, 2] = contrast(quarters[1, 2 + side], quarters[4, 2 + side], own)
            out[rank, side, 3] = contrast(south, north, own)
