"""Who is compared, and what is known of each without measuring."""

from dataclasses import dataclass

from benchmarks.peers.environment import HUSHGRID

FLOATS = "no: floats, whose low bits leak"
EXACT = "yes"
BY_CALLER = "up to the caller"
PRIVATE = "private"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One way to release a grid of counts.

    Parameters
    ----------
    name : str
        As in the table.
    worker : str
        The script in `workers`, and what follows the task on its command line.
    environment : str
        The environment it runs in.
    exact_noise : str
        Whether the noise is what the proof says, to the last bit. Read in the source of the version measured.
    size : str
        What becomes of the number of points, which sizes the grid.
    runs : int
        How often it is run. The fastest counts, and errors are averaged.
    """

    name: str
    worker: tuple[str, ...]
    environment: str
    exact_noise: str
    size: str
    runs: int = 5

    @property
    def ours(self) -> bool:
        """Whether it is hushgrid."""
        return self.environment == HUSHGRID


def hushgrid(name: str, method: str, intervals: str = "plain") -> Peer:
    """A method of hushgrid, without a public size."""
    worker = ("hushgrid_publish.py", method, intervals)
    return Peer(name=f"hushgrid, {name}", worker=worker, environment=HUSHGRID, exact_noise=EXACT, size=PRIVATE)


PEERS = (
    hushgrid("STAQ with calibrated intervals (`auto`)", "auto", "calibrated"),
    hushgrid("STAQ", "staq"),
    hushgrid("AG", "ag"),
    hushgrid("UG", "ug"),
    Peer(
        name="DuckDB group-by, noise in SQL",
        worker=("duckdb_group_by.py",),
        environment="duckdb",
        exact_noise=FLOATS,
        size=BY_CALLER,
    ),
    Peer(
        name="numpy histogram2d, float Laplace",
        worker=("numpy_laplace.py",),
        environment="numpy",
        exact_noise=FLOATS,
        size=BY_CALLER,
    ),
    Peer(
        name="diffprivlib histogram2d",
        worker=("diffprivlib_histogram.py",),
        environment="diffprivlib",
        exact_noise="no: integers by way of float logarithms",
        size=f"{BY_CALLER}; bounds too, or they leak",
    ),
    Peer(
        name="OpenDP vector Laplace on numpy histogram2d",
        worker=("opendp_vector.py",),
        environment="opendp",
        exact_noise=EXACT,
        size=BY_CALLER,
    ),
    Peer(
        name="OpenDP Polars",
        worker=("opendp_polars.py",),
        environment="opendp",
        exact_noise=EXACT,
        size=BY_CALLER,
    ),
    Peer(
        name="Tumult Analytics",
        worker=("tumult_analytics.py",),
        environment="tumult",
        exact_noise=EXACT,
        size=BY_CALLER,
        runs=1,
    ),
)
