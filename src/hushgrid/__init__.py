"""Differentially private synopses of geospatial points.

>>> import hushgrid as hg
>>> domain = hg.Domain(west=0, south=0, east=1, north=1)
>>> synopsis = hg.publish([[0.2, 0.7], [0.4, 0.6]], domain=domain, epsilon=1.0)
>>> isinstance(synopsis.count([0.0, 0.5, 0.5, 1.0]), float)
True
"""

from hushgrid.change.change import Change, compare
from hushgrid.change.difference import Difference
from hushgrid.errors import (
    ArgumentError,
    BudgetError,
    EngineError,
    HushgridError,
    HushgridWarning,
    InputError,
    LedgerError,
    MissingExtraError,
    SynopsisFileError,
)
from hushgrid.geometry.domain import Domain
from hushgrid.methods import METHODS
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.areas import Areas
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.synopsis import Synopsis, read
from hushgrid.version import __version__

__all__ = [
    "METHODS",
    "AdaptiveGrid",
    "Answer",
    "Areas",
    "ArgumentError",
    "BudgetError",
    "Change",
    "Difference",
    "Domain",
    "EngineError",
    "HushgridError",
    "HushgridWarning",
    "InputError",
    "LedgerError",
    "MissingExtraError",
    "Staq",
    "Synopsis",
    "SynopsisFileError",
    "UniformGrid",
    "__version__",
    "compare",
    "publish",
    "read",
    "simulation_rng",
]


def __dir__() -> list[str]:
    return __all__
