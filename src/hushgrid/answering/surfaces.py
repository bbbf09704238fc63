"""Which surface a release has: one kind for each kind of partition, and for leaves that slope another."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hushgrid.answering.grids import GridSurface
from hushgrid.answering.grouped_grids import GroupedSurface
from hushgrid.answering.nested_grids import NestedSurface, SlopedNestedSurface
from hushgrid.answering.polygons import FLAT, PatchworkSurface
from hushgrid.answering.sloped_trees import SlopedSurface
from hushgrid.answering.surface import Surface
from hushgrid.answering.trees import TreeSurface
from hushgrid.arrays import Floats
from hushgrid.geometry.areas import Patchwork
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import Tree
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.least_squares import Evidence

SURFACES: Mapping[type, Callable[..., Surface]] = MappingProxyType(
    {
        Grid: GridSurface,
        NestedGrid: NestedSurface.of,
        GroupedGrid: GroupedSurface,
        Tree: TreeSurface,
        Patchwork: PatchworkSurface,
    }
)
SLOPED_SURFACES: Mapping[type, Callable[..., Surface]] = MappingProxyType(
    {NestedGrid: SlopedNestedSurface.of, Tree: SlopedSurface.of}
)


def surface_of(evidence: Evidence, counts: Floats, *, inference: str) -> Surface:
    """The density that counts of leaves mean, as the inference that made them has it inside a leaf."""
    make = (SLOPED_SURFACES if INFERENCES[inference].sloped else SURFACES)[type(evidence.partition)]
    return make(evidence, counts)


def slopes_of(surface: Surface) -> Floats:
    """Slopes of the density inside leaves along x and y, shape (leaves, 2); empty where it is flat."""
    return surface.slopes if isinstance(surface, SlopedNestedSurface | SlopedSurface) else FLAT
