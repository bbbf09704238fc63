"""Published methods, one a file, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.balanced import Balanced
from hushgrid.methods.baselines import FineGrid, OneCell
from hushgrid.methods.differentiated_grid import DifferentiatedGrid
from hushgrid.methods.dpcube import DPCube
from hushgrid.methods.hb import OptimalHierarchy
from hushgrid.methods.hierarchy import Hierarchy
from hushgrid.methods.kd import KdHybrid, KdTree
from hushgrid.methods.method import ListedMethod
from hushgrid.methods.privlet import Privlet
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.quadtree import Quadtree
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid

METHODS: Mapping[str, type[ListedMethod]] = MappingProxyType(
    {
        "ug": UniformGrid,
        "ag": AdaptiveGrid,
        "staq": Staq,
        "dag": DifferentiatedGrid,
        "quadtree": Quadtree,
        "kd": KdTree,
        "kd-hybrid": KdHybrid,
        "balanced": Balanced,
        "dpcube": DPCube,
        "hierarchy": Hierarchy,
        "hb": OptimalHierarchy,
        "privlet": Privlet,
        "privtree": PrivTree,
        "uniform": OneCell,
        "identity": FineGrid,
    }
)
