"""Published methods, one a file, by name, and what papers call them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.balanced import Balanced
from hushgrid.methods.baselines import FineGrid, OneCell
from hushgrid.methods.dawa import Dawa
from hushgrid.methods.differentiated_grid import DifferentiatedGrid
from hushgrid.methods.dpcube import DPCube
from hushgrid.methods.hierarchy import Hierarchy, OptimalHierarchy
from hushgrid.methods.kd import KdHybrid, KdTree
from hushgrid.methods.method import ListedMethod, Method
from hushgrid.methods.privlet import Privlet
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.quadtree import Quadtree
from hushgrid.methods.staq import AimedQuadtree, Staq
from hushgrid.methods.uniform_grid import UniformGrid

METHODS: Mapping[str, type[ListedMethod]] = MappingProxyType(
    {
        "ug": UniformGrid,
        "ag": AdaptiveGrid,
        "staq": Staq,
        "aimed": AimedQuadtree,
        "dag": DifferentiatedGrid,
        "quadtree": Quadtree,
        "kd": KdTree,
        "kd-hybrid": KdHybrid,
        "balanced": Balanced,
        "dpcube": DPCube,
        "dawa": Dawa,
        "hierarchy": Hierarchy,
        "hb": OptimalHierarchy,
        "privlet": Privlet,
        "privtree": PrivTree,
        "uniform": OneCell,
        "identity": FineGrid,
    }
)

# Other names. Those of Table I of Qardaji et al. 2013 have the paper's parameters, `U_64` those in the place of braces.
ALIASES: Mapping[str, Callable[..., Method]] = MappingProxyType(
    {
        "uniform-grid": UniformGrid,
        "adaptive-grid": AdaptiveGrid,
        "quad-opt": Quadtree,
        "kd-standard": KdTree,
        "wavelet": Privlet,
        "privelet": Privlet,
        "K_st": KdTree.paper,
        "K_hy": KdHybrid.paper,
        "U_{m}": UniformGrid.paper,
        "W_{m}": Privlet.paper,
        "H_{b,d}": Hierarchy.paper,
        "A_{m1,c2}": AdaptiveGrid.paper,
        "ug-paper": UniformGrid.paper,
        "ag-paper": AdaptiveGrid.paper,
        "dag-paper": DifferentiatedGrid.paper,
        "quadtree-paper": Quadtree.paper,
        "kd-paper": KdTree.paper,
        "kd-hybrid-paper": KdHybrid.paper,
        "balanced-paper": Balanced.paper,
        "dpcube-paper": DPCube.paper,
        "dawa-paper": Dawa.paper,
        "hierarchy-paper": Hierarchy.paper,
        "hb-paper": OptimalHierarchy.paper,
        "privlet-paper": Privlet.paper,
        "privtree-paper": PrivTree.paper,
        "uniform-paper": OneCell.paper,
        "identity-paper": FineGrid.paper,
    }
)
