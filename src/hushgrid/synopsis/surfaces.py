"""Which surface a release has: one kind for each kind of partition, and for leaves that slope another."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hushgrid.arrays import Floats
from hushgrid.geometry.areas import Patchwork
from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.partition import Partition
from hushgrid.geometry.tree import Tree
from hushgrid.inference.measurements import Measurements
from hushgrid.synopsis.area_surface import FLAT
from hushgrid.synopsis.grid_surface import GridSurface
from hushgrid.synopsis.grouped_surface import GroupedSurface
from hushgrid.synopsis.nested_surface import NestedSurface
from hushgrid.synopsis.patchwork_surface import PatchworkSurface
from hushgrid.synopsis.sloped_nested_surface import SlopedNestedSurface
from hushgrid.synopsis.sloped_surface import SlopedSurface
from hushgrid.synopsis.surface import Surface
from hushgrid.synopsis.tree_surface import TreeSurface

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
SLOPED = frozenset({"two-level-sloped", "belief", "belief-2"})  # inferences of partitions whose leaves slope


def surface_of(partition: Partition, measurements: Measurements, counts: Floats, *, inference: str) -> Surface:
    """The density that counts of leaves mean, as the inference that made them has it inside a leaf."""
    make = (SLOPED_SURFACES if inference in SLOPED else SURFACES)[type(partition)]
    return make(partition, measurements, counts)


def slopes_of(surface: Surface) -> Floats:
    """Slopes of the density inside leaves along x and y, shape (leaves, 2); empty where it is flat."""
    return surface.slopes if isinstance(surface, SlopedNestedSurface | SlopedSurface) else FLAT
