"""The front door: check the request, publish the points, deliver the release."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack, get_type_hints, overload

from hushgrid.counting.counter import OpenedPoints
from hushgrid.errors import ArgumentError, HushgridWarning
from hushgrid.geometry.domain import Domain
from hushgrid.methods.method import Method
from hushgrid.privacy.bits import Bits, SystemBits
from hushgrid.privacy.draws import Journal
from hushgrid.privacy.exact import Exactable
from hushgrid.release.advice import domain_warning, epsilon_warning, noise_warning
from hushgrid.release.aim import released_aim_warning
from hushgrid.release.auto import AUTO
from hushgrid.release.delivery import Charge, Delivery
from hushgrid.release.options import DEFAULTS, Options
from hushgrid.release.request import ReleaseRequest
from hushgrid.release.sliced import release_slices, sliced_steps
from hushgrid.release.warm_up import helped_to_compile
from hushgrid.slices.by import By
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import Progress, Work, current_work

PACKAGE = "hushgrid."


@overload
def publish(
    points: Any,
    *,
    domain: Domain,
    epsilon: Exactable,
    method: str | Method = AUTO,
    by: None = None,
    ledger: str | Path | None = None,
    dataset: str | None = None,
    new_release: bool = False,
    resume: int | None = None,
    series: bool = False,
    progress: Progress | None = None,
    rng: Bits | None = None,
    **options: Unpack[Options],
) -> Synopsis: ...


@overload
def publish(
    points: Any,
    *,
    domain: Domain,
    epsilon: Exactable,
    method: str | Method = AUTO,
    by: By | Sequence[By],
    ledger: str | Path | None = None,
    dataset: str | None = None,
    new_release: bool = False,
    resume: int | None = None,
    series: bool = False,
    progress: Progress | None = None,
    rng: Bits | None = None,
    **options: Unpack[Options],
) -> Slices: ...


def publish(
    points: Any,  # a path, arrays, or any of several kinds of frame
    *,
    domain: Domain,
    epsilon: Exactable,
    method: str | Method = AUTO,
    by: By | Sequence[By] | None = None,
    ledger: str | Path | None = None,
    dataset: str | None = None,
    new_release: bool = False,
    resume: int | None = None,
    series: bool = False,
    progress: Progress | None = None,
    rng: Bits | None = None,
    **options: Unpack[Options],
) -> Synopsis | Slices:
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
    by : By, or list of two, optional
        Divide the records into slices, such as ``hg.By("kind", values=["car", "bike"])`` or
        ``hg.By.time("started_at", "hour", timezone="Europe/Berlin")``; two give every pair. The result then is
        `Slices`: one synopsis for each, at the budget of one. Which slices there are is given, never found in the
        records; what lies in none of them is not counted. Needs a table with the columns: a file, a frame, or what an
        engine holds, which is copied here once.
    lon, lat, geometry : str, optional
        Names of the coordinate columns, or of the column of points; the usual names are recognised.
    crs : str, optional
        Reference system of the points, such as ``"EPSG:4326"``, where it is not the domain's: they are transformed
        before they are counted, each by itself; one that cannot be transformed is ignored. East comes before north.
    delimiter : ",", ";", "|" or "tab", optional
        Sign between the columns of a CSV file; by default the one in its header line.
    decimal : "." or ",", optional
        Decimal sign of the numbers in a CSV file; by default a point, or either where no commas separate the columns.
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
        Most records of each user in a private total and in the share that was kept; by default ten times
        `max_per_user`. With ``estimate="all-records"``, most that count at all; by default chosen from noisy values.
    kept_share : bool
        Whether to measure which share of the records was kept, for a fiftieth of the budget: they are compared with
        the records of all users, at most `max_for_total` of each. Where counts are scaled to a total, it costs nothing.
    estimate : "kept-records" or "all-records"
        What the counts are of. ``"all-records"`` takes about a third of the budget for what kept records do not tell:
        how many records users have, and how many of all lie in each of 256 regions. Intervals then cover what is
        unknown because only `max_per_user` records of each are kept. Counts are of at most `max_for_total` records of
        each user, by default as many as the noise allows; of all where `scale_to_total` is a public number.
    distinct : bool
        Count users instead of records: each once in a cell, in at most `max_per_user` cells of a public grid, given
        as ``method=hg.UniformGrid(side=...)``, or of the areas of ``method=hg.Areas(polygons)``. Sums over several
        cells are of user-area pairs.
    public_size : int, optional
        About how many points there are, if that is public knowledge; saves the budget for a noisy figure.
    size_from : "rows" or "domain"
        Whether the noisy size counts all rows, which costs no pass over a Parquet file, or those in the domain. With
        `user`, both are the kept records.
    size_share : float
        Share of the budget for the noisy size.
    max_cells : int, optional
        Most cells of a partition that is sized from released values; by default 1,048,576 for STAQ and 16,777,216 for
        other methods. Where there would have been more, the release says so.
    calibrate : bool
        Whether to find how wide the intervals of this release have to be, by publishing made-up points like it. Takes
        about a third of the time of the release, and less for more than 200,000 points; without it, intervals are as
        wide as they have to be on average.
    prior : "places", "none" or path, optional
        What is public already about where people are: the bundled places of the world, or a file. That is a GeoTIFF of
        population, points or polygons in GeoJSON or Parquet, or an earlier release. It costs no budget; how far it is
        believed is learned from the release. It must not have been made from the points. For STAQ alone.
    prior_weight : str, optional
        Property or column with the weight of each point or polygon of the prior, such as its people.
    aim : str, path or polygons, optional
        What will mostly be asked: public places, or small squares of one size. Places are a file of polygons (GeoJSON,
        GeoParquet), or polygons as `Areas` takes them. They do not overlap and never come from the data; each is
        counted by itself, all other points around them, and `Synopsis.table` lists them. The side of squares is a
        length such as ``"200m"``, or a share of the domain's sides such as ``"0.5%"``: counts over them come out better
        than by STAQ, and those of large areas worse.
    period : str, optional
        Count the records of this year, quarter, month, week or day alone: ``"2026"``, ``"2026-Q1"``, ``"2026-03"``,
        ``"2026-W09"``, ``"2026-03-31"``. In a ledger with a budget for each period, this one pays.
    time : str, optional
        The column that says when each record was made; needed with `period`. A record without a time is left out.
    timezone : str, optional
        Where the days of the period begin and end, such as ``"Europe/Paris"``; UTC if not given.
    ledger : path or str, optional
        The ledger that keeps the account of the data set, a file or ``postgresql://USER@HOST/DATABASE``. Budget is set
        aside there before anything is read, and the release is kept there before it comes back. The same request gives
        back the same release, at no cost.
    dataset : str, optional
        The name of the data set in the ledger. Where it is given and `ledger` is not, the ledger is that of the
        environment variable HUSHGRID_LEDGER, or the file ``hushgrid.ledger``.
    new_release : bool
        Whether to pay for another release even if the ledger has one of the same request.
    resume : int, optional
        Go on with an entry of the ledger that was cut off, by the same request on the same points; it costs nothing
        more, and nothing is drawn twice.
    series : bool
        Whether the last release of the same data set and domain in the ledger sharpens this one, at no cost; with
        `period`, the last one of an earlier period. For STAQ alone, like `prior`.
    progress : Progress, optional
        Told 0, 0.01, …, 1 while the release is made: the same calls whatever the points are, the last when it is done.
    rng : Bits, optional
        ``hg.simulation_rng(seed)``, for experiments and tests: the synopsis is marked, and is not a release.

    Privacy
    -------
    ε-differential privacy in the sense of one added or removed record: whatever the method does reaches the data only
    through a counter whose exact counts leave only through the budget, which adds exact noise and keeps the account.
    With `user`, in the sense of one added or removed user with all their records: at most `max_per_user` of them can
    be reached, and each is charged for. With `by`, a record lies in one slice, so that all slices together cost one
    budget; `max_per_user` bounds the records of a user in all of them. See docs/privacy.md for the argument of each
    method.

    Examples
    --------
    >>> import hushgrid as hg
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> synopsis = hg.publish([[0.5, 0.5]] * 1000, domain=domain, epsilon=1, rng=hg.simulation_rng(1))
    >>> synopsis
    <Synopsis by staq: epsilon=1, 133 cells, simulation=True>
    """
    request = ReleaseRequest.of(domain=domain, epsilon=epsilon, method=method, by=by, **options)
    charge = Charge.of(ledger=ledger, dataset=dataset, new_release=new_release, resume=resume, series=series)
    if charge is not None and rng is not None:
        msg = "rng is for simulations, which are not releases, and a ledger takes releases only. Leave out rng, or "
        msg += "ledger and dataset."
        raise ArgumentError(msg)

    delivery = Delivery(warn=_warn if rng is None else None, progress=progress)  # experiments try everything
    delivery.warn_of(epsilon_warning, request.epsilon)
    if (request.public_size or 0) >= A_TABLE:
        delivery.warn_of(noise_warning, request)
    released = deliver(request, points, charge=charge, delivery=delivery, bits=rng)
    if isinstance(released, Synopsis):
        delivery.warn_of(domain_warning, released)
        delivery.warn_of(released_aim_warning, released)
    elif released.total is not None:
        delivery.warn_of(domain_warning, released.total)
    return released


A_TABLE = 100  # points: of fewer, a program that tries things out expects noise


def _warn(text: str) -> None:
    """Warn where `publish` was called."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals["__name__"].startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, HushgridWarning, stacklevel=level)


def deliver(
    request: ReleaseRequest, points: Any, *, charge: Charge | None, delivery: Delivery, bits: Bits | None = None
) -> Synopsis | Slices:
    """Publish points, for Python and the command line alike.

    An error on the way has a note that says what became of the budget.
    """
    steps = request.cost.steps if request.by is None else sliced_steps(request)
    with Work(steps, delivery.progress, tell_stage=delivery.tell_stage):
        if charge is None:
            return _publish_uncharged(request, points, delivery, SystemBits() if bits is None else bits)
        from hushgrid.release.on_ledger import publish_on_ledger  # here, because few sessions keep a ledger

        return publish_on_ledger(request, points, charge, delivery)


def _publish_uncharged(request: ReleaseRequest, points: Any, delivery: Delivery, bits: Bits) -> Synopsis | Slices:
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        delivery.say(text)

    try:
        source = request.open(points)
        with helped_to_compile(request.method, delivery.say):
            released = release(request, source, bits=bits, tell=None if delivery.tell is None else tell)
    except KeyboardInterrupt as error:
        error.add_note(_spent(request) if told else NOTHING_SPENT)
        raise
    current_work().begin("writing")
    if delivery.output is not None:
        released.save(delivery.output, overwrite=delivery.overwrite)
    return released


def release(
    request: ReleaseRequest,
    source: OpenedPoints,
    *,
    bits: Bits,
    journal: Journal | None = None,
    tell: Callable[[str], None] | None = None,
) -> Synopsis | Slices:
    """Publish opened points, as a whole or in slices.

    The arguments are those of `ReleaseRequest.release`.
    """
    if request.by is None:
        return request.release(source, bits=bits, journal=journal, tell=tell)
    return release_slices(request, source, bits=bits, journal=journal)


NOTHING_SPENT = "No release was made, so nothing was spent."


def _spent(request: ReleaseRequest) -> str:
    """What a run has spent that was interrupted."""
    if request.public_size is not None or request.cells is not None:  # then these said it
        return NOTHING_SPENT
    price = float(request.epsilon * request.size_share)
    return (
        f"No release was made. What it would take was told from the noisy number of points: epsilon {price:g} is spent."
    )


def _full_signature() -> inspect.Signature:
    """The signature of `publish` with every option and default."""
    signature, kinds = inspect.signature(publish), get_type_hints(Options)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kinds[name])
        for name, default in DEFAULTS.items()
    ]
    *own, _ = signature.parameters.values()
    return signature.replace(parameters=[*own, *options])


publish.__signature__ = _full_signature()  # type: ignore[attr-defined]  # what inspect looks for
