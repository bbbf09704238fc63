"""The front door: opens the budget, runs a method, closes it."""

from dataclasses import replace
from typing import Any, Literal

from hushgrid.calibrate import calibrated
from hushgrid.choose import AUTO, choose
from hushgrid.counting.bounded_source import BoundedPoints, bounded_points
from hushgrid.counting.bounding import KEY_BYTES
from hushgrid.counting.open import open_points
from hushgrid.counting.point_counter import PointCounter
from hushgrid.counting.progress import Progress
from hushgrid.counting.user_level import PRIVATE, UserLevel
from hushgrid.counting.user_rows import MissingUser
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.methods.method import Method, is_whole
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import Bits, SystemBits
from hushgrid.privacy.budget import SIZE_SHARE, Budget
from hushgrid.privacy.exact import Exactable, exact_epsilon, exact_share
from hushgrid.synopsis.claim import SizeSource
from hushgrid.synopsis.geo_metadata import geo_metadata
from hushgrid.synopsis.scale import Scale
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
        ``method=hg.UniformGrid(side=...)``. Sums over several cells are of user-area pairs.
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
    progress : Progress, optional
        Told the share of bytes read; never a count.
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
    if not isinstance(domain, Domain):
        msg = f"domain must be a hushgrid.Domain(west=, south=, east=, north=), got {type(domain).__name__}."
        raise ArgumentError(msg)
    chosen = choose(method)
    users = UserLevel.of(
        user,
        max_per_user=max_per_user,
        missing_user=missing_user,
        scale_to_total=scale_to_total,
        max_for_total=max_for_total,
    )
    distinct_side = _distinct_side(chosen, users) if distinct else None
    bits = SystemBits() if rng is None else rng
    budget = Budget(
        exact_epsilon(epsilon),
        bits=bits,
        unit="record" if users is None else "user",
        max_per_unit=1 if users is None else users.max_per_user,
        public_size=_check_public_size(public_size),
        size_from=_check_size_from(size_from),
        size_share=exact_share(size_share, name="size_share"),
    )
    geo_metadata(domain)  # a reference system that no file could state is an error before anything is spent
    source = open_points(points, domain=domain, lon=lon, lat=lat, geometry=geometry, user=user)
    if users is None:
        synopsis = chosen.release(PointCounter(domain, source, progress=progress), budget)
        return calibrated(synopsis, chosen) if calibrate else synopsis
    rule = users.rule(domain, key=bits.integer(8 * KEY_BYTES).to_bytes(KEY_BYTES), distinct_side=distinct_side)
    with bounded_points(source, rule, missing=users.missing_user, progress=progress) as bounded:
        del source  # all that is read from here on are kept records
        total = _total(users, bounded, budget)
        synopsis = chosen.release(PointCounter(domain, bounded.source, progress=progress), budget)
    if distinct:
        return replace(synopsis, claim=replace(synopsis.claim, distinct=True))
    synopsis = calibrated(synopsis, chosen) if calibrate else synopsis
    return synopsis if total is None else synopsis.scaled(_scale(users, total, synopsis))


def _total(users: UserLevel, bounded: BoundedPoints, budget: Budget) -> int | None:
    """The total that counts are to be scaled to: declared, or noisy and paid for."""
    if users.scale_to_total != PRIVATE:
        return users.scale_to_total
    return budget.noisy_total(bounded.true_capped_total, cap=users.max_for_total)


def _scale(users: UserLevel, total: int, synopsis: Synopsis) -> Scale:
    if users.scale_to_total == PRIVATE:
        return Scale.to(total, synopsis.counts, source="private", cap=users.max_for_total)
    return Scale.to(total, synopsis.counts, source="public")


def _distinct_side(method: Method, users: UserLevel | None) -> int:
    """Side of the public grid that users are counted on."""
    if users is None:
        msg = "distinct counts users, so that it needs user and max_per_user."
        raise ArgumentError(msg)
    if users.scale_to_total is not None:
        msg = "distinct counts users in cells, which sum to no total of records. Leave scale_to_total out."
        raise ArgumentError(msg)
    if not isinstance(method, UniformGrid) or method.side is None:
        msg = "distinct needs a public grid, method=hg.UniformGrid(side=...): which cells of a user are counted is "
        msg += f"decided before any count is released. Got method {method.name!r}."
        raise ArgumentError(msg)
    return method.side


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
