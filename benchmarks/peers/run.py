"""One run of a peer's worker: what it took, and the answers of what it released."""

import json
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hushgrid as hg
from benchmarks.peers.city import DOMAIN
from benchmarks.peers.peer import Peer

WORKERS = Path(__file__).parent / "workers"
MOST_SECONDS = 1800


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a worker said of itself, and the answers of what it released.

    Parameters
    ----------
    seconds, processor_seconds : float
        From the start of the process to the release; of all processes and threads together.
    again_seconds, again_processor_seconds : float
        Of the same release once more in the same process.
    peak_bytes : int
        Memory of all processes at the most, until the first release.
    estimates : array of float, shape (n,)
        Answers to rectangles.
    """

    seconds: float
    processor_seconds: float
    again_seconds: float
    again_processor_seconds: float
    peak_bytes: int
    version: str
    estimates: np.ndarray


def run(peer: Peer, python: Path, points: Path, rects: np.ndarray, *, side: int, epsilon: float) -> Run:
    """Release a file of points in a process of its own, and ask the release.

    Raises
    ------
    subprocess.CalledProcessError
        Where the worker fails.
    """
    script, *arguments = peer.worker
    with tempfile.TemporaryDirectory() as folder:
        released = Path(folder) / ("released.dp.parquet" if peer.ours else "released.npy")
        task = {**bounds(), "points": str(points), "side": side, "epsilon": epsilon, "released": str(released)}
        command = [str(python), str(WORKERS / script), json.dumps({**task, "asked": time.time()}), *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, timeout=MOST_SECONDS)
        figures = json.loads(done.stdout.splitlines()[-1])
        estimates = np.asarray(hg.read(released).count(rects)) if peer.ours else grid_counts(np.load(released), rects)
    return Run(**figures, estimates=estimates)


def grid_counts(cells: np.ndarray, rects: np.ndarray) -> np.ndarray:
    """Answers of a grid to rectangles, shape (n,): each cell counts by the share of its area that is covered."""
    rows, columns = cells.shape
    west, south, east, north = rects.T
    across = shares(west, east, np.linspace(DOMAIN.west, DOMAIN.east, columns + 1))
    along = shares(south, north, np.linspace(DOMAIN.south, DOMAIN.north, rows + 1))
    return np.asarray(((along @ cells) * across).sum(axis=1))


def shares(low: np.ndarray, high: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Share of each interval between edges that lies between low and high, shape (n, intervals)."""
    covered = np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
    return np.asarray(np.clip(covered / np.diff(edges), 0, 1))


def bounds() -> dict[str, float]:
    """The domain, by its sides."""
    return {"west": DOMAIN.west, "south": DOMAIN.south, "east": DOMAIN.east, "north": DOMAIN.north}
