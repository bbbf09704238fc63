"""The front door: opens the budget, runs a method, closes it."""

from dataclasses import replace
from typing import Any

from hushgrid.choose import AUTO, choose
from hushgrid.counting.open import open_points
from hushgrid.counting.point_counter import PointCounter
from hushgrid.counting.progress import Progress
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.methods.method import Method, is_whole
from hushgrid.privacy.bits import Bits, SystemBits
from hushgrid.privacy.budget import SIZE_SHARE, Budget
from hushgrid.privacy.exact import Exactable, exact_epsilon, exact_share
from hushgrid.synopsis.claim import SizeSource
from hushgrid.synopsis.geo_metadata import geo_metadata
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
    public_size: int | None = None,
    size_from: SizeSource = "rows",
    size_share: Exactable = SIZE_SHARE,
    progress: Progress | None = None,
    rng: Bits | None = None,
) -> Synopsis:
    """Publish points as a synopsis under ε-differential privacy.

    Parameters
    ----------
    points : path, array of shape (n, 2), pair of arrays, or frame
        Longitude and latitude of each record: a Parquet, GeoParquet or CSV file of any size, or a table in memory
        (pyarrow, pandas, polars). Records that are null, not a number or outside the domain are ignored.
    domain : Domain
        The public rectangle to cover. It never comes from the data.
    epsilon : float, str, Decimal, int or Fraction
        The privacy budget. A float means its shortest decimal; 0.1 is exactly one tenth.
    method : str or Method
        ``"auto"``, a name in `hushgrid.METHODS`, or a method with parameters such as ``hg.AdaptiveGrid(alpha=0.25)``.
    lon, lat, geometry : str, optional
        Names of the coordinate columns, or of the column of points; the usual names are recognised.
    public_size : int, optional
        About how many points there are, if that is public knowledge; saves the budget for a noisy figure.
    size_from : "rows" or "domain"
        Whether the noisy size counts all rows, which costs no pass over a Parquet file, or those in the domain.
    size_share : float
        Share of the budget for the noisy size.
    progress : Progress, optional
        Told the share of bytes read; never a count.
    rng : Bits, optional
        ``hg.simulation_rng(seed)``, for experiments and tests: the synopsis is marked, and is no release.

    Privacy
    -------
    ε-differential privacy in the sense of one added or removed record: whatever the method does reaches the data only
    through a counter whose exact counts leave only through the budget, which adds exact noise and keeps the account.
    See docs/privacy.md for the argument of each method.

    Examples
    --------
    >>> import hushgrid as hg
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> synopsis = hg.publish([[0.5, 0.5]] * 1000, domain=domain, epsilon=1, rng=hg.simulation_rng(1))
    >>> synopsis
    <Synopsis by ag: epsilon=1, 202 cells, simulation=True>
    """
    if not isinstance(domain, Domain):
        msg = f"domain must be a hushgrid.Domain(west=, south=, east=, north=), got {type(domain).__name__}."
        raise ArgumentError(msg)
    choice = choose(method)
    budget = Budget(
        exact_epsilon(epsilon),
        bits=SystemBits() if rng is None else rng,
        public_size=_check_public_size(public_size),
        size_from=_check_size_from(size_from),
        size_share=exact_share(size_share, name="size_share"),
    )
    geo_metadata(domain)  # a reference system that no file could state is an error before anything is spent
    source = open_points(points, domain=domain, lon=lon, lat=lat, geometry=geometry)
    synopsis = choice.method.release(PointCounter(domain, source, progress=progress), budget)
    notes = synopsis.method.notes if choice.reason is None else (choice.reason, *synopsis.method.notes)
    return replace(synopsis, method=replace(synopsis.method, asked=choice.asked, notes=notes))


def _check_public_size(value: int | None) -> int | None:
    if value is not None and (not is_whole(value) or value < 0):
        msg = f"public_size must be a whole number of at least 0, got public_size={value!r}."
        raise ArgumentError(msg)
    return value


def _check_size_from(value: SizeSource) -> SizeSource:
    if value not in ("rows", "domain"):
        msg = f"size_from must be 'rows' or 'domain', got size_from={value!r}."
        raise ArgumentError(msg)
    return value
