"""Methods with parameters for an audit: small ones that are published thousands of times, large ones that draw much."""

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
from hushgrid.methods.method import Method
from hushgrid.methods.privlet import Privlet
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.quadtree import Quadtree
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid

SMALL: Mapping[str, Method] = MappingProxyType(
    {
        "ug": UniformGrid(side=2),
        "ag": AdaptiveGrid(first_side=2),
        "staq": Staq(inference="least-squares", first_level=1, deepest=3),
        "dag": DifferentiatedGrid(first_side=3),
        "quadtree": Quadtree(height=2),
        "kd": KdTree(height=3),
        "kd-hybrid": KdHybrid(height=4, switch=2),
        "balanced": Balanced(height=2),
        "dpcube": DPCube(side=4),
        "hierarchy": Hierarchy(side=8),
        "hb": OptimalHierarchy(side=16),
        "privlet": Privlet(side=4),
        "privtree": PrivTree(depth=4),
        "uniform": OneCell(),
        "identity": FineGrid(side=3),
    }
)
LARGE: Mapping[str, Method] = MappingProxyType(
    {
        "ug": UniformGrid(side=100),
        "ag": AdaptiveGrid(first_side=30),
        "staq": Staq(inference="least-squares", first_level=4, deepest=6),
        "dag": DifferentiatedGrid(first_side=30),
        "quadtree": Quadtree(height=6),
        "kd": KdTree(height=7),
        "kd-hybrid": KdHybrid(height=8, switch=4),
        "balanced": Balanced(height=5),
        "dpcube": DPCube(side=30),
        "hierarchy": Hierarchy(side=64),
        "hb": OptimalHierarchy(side=64),
        "privlet": Privlet(side=64),
        "privtree": PrivTree(depth=7),
        "uniform": OneCell(),
        "identity": FineGrid(side=100),
    }
)
