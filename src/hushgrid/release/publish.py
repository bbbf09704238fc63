"""The front door: opens the budget, runs a method, closes it."""

from pathlib import Path
from typing import Any, Literal

from hushgrid.counting.bounded import MissingUser
from hushgrid.counting.source import Progress
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.methods.method import Method
from hushgrid.privacy.bits import Bits, SystemBits
from hushgrid.privacy.budget import SIZE_SHARE
from hushgrid.privacy.exact import Exactable
from hushgrid.release.auto import AUTO
from hushgrid.release.request import Job
from hushgrid.synopsis.claim import SizeSource
from hushgrid.synopsis.synopsis import Synopsis


def publish(
    points: Any,  # a path, arrays, or any of several kinds of frame
    *,
    domain: Domain,
    epsilon: Exactable,
    method: str | Method = AUTO,
    lon: str | None = None,
    lat: str | None = None,
    geometry: str | None = None,
    crs: str | None = None,
    user: Any = None,  # a name, or ids beside an array
    max_per_user: int | None = None,
    missing_user: MissingUser = "drop",
    scale_to_total: int | Literal["private"] | None = None,
    max_for_total: int | None = None,
    distinct: bool = False,
    public_size: int | None = None,
    size_from: SizeSource = "rows",
    size_share: Exactable = SIZE_SHARE,
    calibrate: bool = True,
    ledger: str | Path | None = None,
    dataset: str | None = None,
    new_release: bool = False,
    resume: int | None = None,
    progress: Progress | None = None,
    rng: Bits | None = None,
) -> Synopsis:
    """Publish points as a synopsis under ε-differential privacy.

    Parameters
    ----------
    points : path, array of shape (n, 2), pair of arrays, or frame
        Longitude and latitude of each record: a Parquet, GeoParquet or CSV file of any size, a folder of Parquet files,
        a table in memory (pyarrow, pandas, polars), or one that its engine counts: a lazy frame of polars, a relation
        of DuckDB, a frame of Dask or Spark, a table of Ibis. Records that are null, not a number or outside the domain
        are ignored.
    domain : Domain
        The public rectangle to cover. It never comes from the data.
    epsilon : float, str, Decimal, int or Fraction
        The privacy budget. A float means its shortest decimal; 0.1 is exactly one tenth.
    method : str or Method
        ``"auto"``, a name in `hushgrid.METHODS`, or a method with parameters such as ``hg.AdaptiveGrid(alpha=0.25)``;
        ``hg.Areas(polygons)`` counts on areas that are given.
    lon, lat, geometry : str, optional
        Names of the coordinate columns, or of the column of points; the usual names are recognised.
    crs : str, optional
        Reference system of the points, such as ``"EPSG:4326"``, where it is not the domain's: they are transformed
        before they are counted, each by itself; one that cannot be is ignored. East comes before north.
    user : str, or array of ids, optional
        Name of the column that tells whose record it is: integers, text, UUIDs or binary. Beside an array of points,
        the ids themselves. The release then protects each user with all their records, and its counts are of kept
        records.
    max_per_user : int, optional
        How many records of each user are kept, chosen at random; needed with `user`. Choose it from public knowledge.
    missing_user : "drop" or "own"
        Whether records without an id are left out, or each is a user of its own.
    scale_to_total : int or "private", optional
        Scale the counts of kept records to a total: one that is public, or the number of records of all users, at
        most `max_for_total` of each, for a twentieth of the budget.
    max_for_total : int, optional
        Ten times `max_per_user` if not given.
    distinct : bool
        Count users and not records: each once a cell, in at most `max_per_user` cells of a public grid, given as
        ``method=hg.UniformGrid(side=...)``, or of the areas of ``method=hg.Areas(polygons)``. Sums over several cells
        are of user-area pairs.
    public_size : int, optional
        About how many points there are, if that is public knowledge; saves the budget for a noisy figure.
    size_from : "rows" or "domain"
        Whether the noisy size counts all rows, which costs no pass over a Parquet file, or those in the domain. With
        `user`, both are the kept records.
    size_share : float
        Share of the budget for the noisy size.
    calibrate : bool
        Whether to find how wide the intervals of this release have to be, by publishing made-up points like it. Takes
        about as long as the release; without it, intervals are as wide as they have to be on average.
    ledger : path or str, optional
        The ledger that keeps the account of the data set, a file or ``postgresql://USER@HOST/DATABASE``. Budget is set
        aside there before anything is read, and the release is kept there before it comes back. The same request gives
        back the same release, at no cost.
    dataset : str, optional
        The name of the data set in the ledger.
    new_release : bool
        Whether to pay for another release even if the ledger has one of the same request.
    resume : int, optional
        Go on with an entry of the ledger that was cut off, by the same request on the same points; it costs nothing
        more, and nothing is drawn twice.
    progress : Progress, optional
        Told 0, 0.01, …, 1 for each question asked of the points: the same calls whatever they are.
    rng : Bits, optional
        ``hg.simulation_rng(seed)``, for experiments and tests: the synopsis is marked, and is no release.

    Privacy
    -------
    ε-differential privacy in the sense of one added or removed record: whatever the method does reaches the data only
    through a counter whose exact counts leave only through the budget, which adds exact noise and keeps the account.
    With `user`, in the sense of one added or removed user with all their records: at most `max_per_user` of them can
    be reached, and each is charged for. See docs/privacy.md for the argument of each method.

    Examples
    --------
    >>> import hushgrid as hg
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> synopsis = hg.publish([[0.5, 0.5]] * 1000, domain=domain, epsilon=1, rng=hg.simulation_rng(1))
    >>> synopsis
    <Synopsis by staq: epsilon=1, 133 cells, simulation=True>
    """
    job = Job.of(
        domain=domain,
        epsilon=epsilon,
        method=method,
        lon=lon,
        lat=lat,
        geometry=geometry,
        crs=crs,
        user=user,
        max_per_user=max_per_user,
        missing_user=missing_user,
        scale_to_total=scale_to_total,
        max_for_total=max_for_total,
        distinct=distinct,
        public_size=public_size,
        size_from=size_from,
        size_share=size_share,
        calibrate=calibrate,
    )
    if ledger is None and dataset is None and not new_release and resume is None:
        return job.release(job.open(points), bits=SystemBits() if rng is None else rng, progress=progress)
    if rng is not None:
        msg = (
            "rng is for simulations, which are no releases: no ledger takes them. Leave out rng, or ledger and dataset."
        )
        raise ArgumentError(msg)
    if ledger is None or dataset is None:
        msg = "ledger and dataset go together: where the account is kept, and the name of the data set in it."
        raise ArgumentError(msg)
    if new_release and resume is not None:
        msg = "resume goes on with a release that was begun, new_release pays for another. Give one of them."
        raise ArgumentError(msg)
    return _from_ledger(job, points, ledger, dataset, new_release=new_release, resume=resume, progress=progress)


def _from_ledger(
    job: Job,
    points: Any,
    place: str | Path,
    dataset: str,
    *,
    new_release: bool,
    resume: int | None,
    progress: Progress | None,
) -> Synopsis:
    """The release that a ledger has of a job, or has from now on."""
    from hushgrid.files.release import parse_release
    from hushgrid.ledger.ledger import open_ledger
    from hushgrid.ledger.reservation import CommittedRelease
    from hushgrid.release.reserved import publish_reserved  # here, because few sessions keep a ledger

    with open_ledger(place) as ledger:
        request = job.request(dataset)
        answer = ledger.reserve(request, new_release=new_release) if resume is None else ledger.resume(resume, request)
        release = (
            answer if isinstance(answer, CommittedRelease) else publish_reserved(job, points, answer, progress=progress)
        )
        return parse_release(release.read(), name=f"the release of entry {release.entry.number}")
