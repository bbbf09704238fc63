"""Differentially private synopses of geospatial points.

>>> import hushgrid as hg
>>> domain = hg.Domain(west=0, south=0, east=1, north=1)
>>> synopsis = hg.publish([[0.2, 0.7], [0.4, 0.6]], domain=domain, epsilon=1.0)
>>> isinstance(synopsis.count([0.0, 0.5, 0.5, 1.0]), float)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hushgrid.change.change import Change, compare
from hushgrid.change.difference import Difference
from hushgrid.change.series import OverTime, Series
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
from hushgrid.slices.by import By
from hushgrid.slices.slices import Slices
from hushgrid.slices.slices import read_saved as read
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.version import __version__

if TYPE_CHECKING:
    from hushgrid.planning.check import DryRun, check
    from hushgrid.planning.plan import Plan, plan
    from hushgrid.release.describe import Description, SlicesDescription, describe
    from hushgrid.release.manifest import manifest
    from hushgrid.release.verify import verify

__all__ = [
    "METHODS",
    "AdaptiveGrid",
    "Answer",
    "Areas",
    "ArgumentError",
    "BudgetError",
    "By",
    "Change",
    "Description",
    "Difference",
    "Domain",
    "DryRun",
    "EngineError",
    "HushgridError",
    "HushgridWarning",
    "InputError",
    "LedgerError",
    "MissingExtraError",
    "OverTime",
    "Plan",
    "Series",
    "Slices",
    "SlicesDescription",
    "Staq",
    "Synopsis",
    "SynopsisFileError",
    "UniformGrid",
    "__version__",
    "check",
    "compare",
    "describe",
    "manifest",
    "plan",
    "publish",
    "read",
    "simulation_rng",
    "verify",
]

# Imported when they are first asked for, so that a script that only publishes or reads starts sooner.
LATE = {
    "Description": "hushgrid.release.describe",
    "DryRun": "hushgrid.planning.check",
    "Plan": "hushgrid.planning.plan",
    "SlicesDescription": "hushgrid.release.describe",
    "check": "hushgrid.planning.check",
    "describe": "hushgrid.release.describe",
    "manifest": "hushgrid.release.manifest",
    "plan": "hushgrid.planning.plan",
    "verify": "hushgrid.release.verify",
}

if not TYPE_CHECKING:  # a checker would take any name for one of these

    def __getattr__(name: str) -> Any:
        if name not in LATE:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(LATE[name]), name)


def __dir__() -> list[str]:
    return __all__
