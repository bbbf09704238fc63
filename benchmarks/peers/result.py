"""What was measured of a peer, and in what it is ahead of another."""

import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np
import pyarrow.parquet as pq

from benchmarks.peers.city import City, awkward_points
from benchmarks.peers.peer import EXACT, PRIVATE, Peer
from benchmarks.peers.run import Run, bounds, run

DROPPED = "dropped"
TIE = 0.05  # figures closer than this are no lead
ERROR_OF_ONE = 0.10  # how far the error of one release is from the mean, as a share: the same grid, thirty releases
COSTS = {"seconds": "seconds", "again_seconds": "seconds again", "megabytes": "memory"}
ERRORS = {"relative_error": "relative error", "absolute_error": "absolute error"}
WANTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"exact_noise": ("exact noise", EXACT), "size": ("private N", PRIVATE), "bad_rows": ("bad rows", DROPPED)}
)


@dataclass(frozen=True, kw_only=True)
class Result:
    """One row of the table: the figures of a `Run`, and what was measured and read beside them."""

    name: str
    ours: bool
    version: str
    runs: int
    seconds: float
    processor_seconds: float
    again_seconds: float
    again_processor_seconds: float
    megabytes: float
    relative_error: float
    absolute_error: float
    exact_noise: str
    size: str
    bad_rows: str

    @classmethod
    def of(cls, peer: Peer, runs: list[Run], city: City, *, bad_rows: str) -> Self:
        """The least that its runs took, and their mean errors."""
        relative, absolute = np.mean([city.errors(run.estimates) for run in runs], axis=0).tolist()
        return cls(
            name=peer.name,
            ours=peer.ours,
            version=runs[0].version,
            runs=len(runs),
            seconds=min(run.seconds for run in runs),
            processor_seconds=min(run.processor_seconds for run in runs),
            again_seconds=min(run.again_seconds for run in runs),
            again_processor_seconds=min(run.again_processor_seconds for run in runs),
            megabytes=min(run.peak_bytes for run in runs) / 1e6,
            relative_error=relative,
            absolute_error=absolute,
            exact_noise=peer.exact_noise,
            size=peer.size,
            bad_rows=bad_rows,
        )

    def ahead_of(self, other: "Result") -> list[str]:
        """The columns in which this one is clearly better than another: errors by two standard errors of theirs."""
        error_tie = 2 * ERROR_OF_ONE * math.sqrt(1 / self.runs + 1 / other.runs)
        lower = [(COSTS, TIE), (ERRORS, error_tie)]
        ahead = [
            name
            for columns, tie in lower
            for field, name in columns.items()
            if getattr(self, field) < (1 - tie) * getattr(other, field)
        ]
        return ahead + [
            name for field, (name, wanted) in WANTED.items() if getattr(self, field) == wanted != getattr(other, field)
        ]


def bad_rows(peer: Peer, python: Path, folder: Path) -> str:
    """What a peer makes of rows that are null, not a number, infinite or outside, and of points on the upper edges.

    The budget is so large that the noise is nothing, and the whole domain is asked for.
    """
    good, bad = 1000, 50
    path = folder / "awkward.parquet"
    pq.write_table(awkward_points(good, bad), path)
    try:
        done = run(peer, python, path, np.array([list(bounds().values())]), side=4, epsilon=50.0)
    except subprocess.CalledProcessError:
        return "one of them is an error"
    return DROPPED if abs(done.estimates[0] - good) < bad / 2 else "miscounted"
