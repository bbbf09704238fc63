"""The front door: check the request, publish the points, deliver the release."""

import inspect
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack, get_type_hints

from hushgrid.errors import ArgumentError, HushgridWarning
from hushgrid.geometry.domain import Domain
from hushgrid.ledger import DEFAULT_LEDGER
from hushgrid.methods.method import Method
from hushgrid.privacy.bits import Bits, SystemBits
from hushgrid.privacy.exact import Exactable
from hushgrid.release.advice import domain_warning, epsilon_warning, noise_warning
from hushgrid.release.auto import AUTO
from hushgrid.release.options import DEFAULTS, Options
from hushgrid.release.request import ReleaseRequest
from hushgrid.release.warm_up import helped_to_compile
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import Progress, Stage, Work, current_work

PACKAGE = "hushgrid."
Subject = TypeVar("Subject")


def publish(
    points: Any,  # a path, arrays, or any of several kinds of frame
    *,
    domain: Domain,
    epsilon: Exactable,
    method: str | Method = AUTO,
    ledger: str | Path | None = None,
    dataset: str | None = None,
    new_release: bool = False,
    resume: int | None = None,
    progress: Progress | None = None,
    rng: Bits | None = None,
    **options: Unpack[Options],
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
    delimiter : ",", ";", "|" or "tab", optional
        What stands between the columns of a CSV file; its header line tells.
    decimal : "." or ",", optional
        What stands before the decimals of its numbers. If not given, a point; or a comma as well, where columns have
        no commas between them.
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
    kept_share : bool
        Whether to say which share of the records was kept, for a fiftieth of the budget: they are compared with the
        records of all users, at most `max_for_total` of each. Counts that are scaled to a total say it at no cost.
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
    max_cells : int, optional
        Most cells of a partition that is sized from released values; a million for STAQ and sixteen for other methods
        if not given. Where it leaves out cells, the release says so.
    calibrate : bool
        Whether to find how wide the intervals of this release have to be, by publishing made-up points like it. Takes
        about a third of the time of the release, and less for more than 200,000 points; without it, intervals are as
        wide as they have to be on average.
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
    progress : Progress, optional
        Told 0, 0.01, …, 1 while the release is made: the same calls whatever the points are, the last when it is done.
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
    request = ReleaseRequest.of(domain=domain, epsilon=epsilon, method=method, **options)
    charge = Charge.of(ledger=ledger, dataset=dataset, new_release=new_release, resume=resume)
    if charge is not None and rng is not None:
        msg = "rng is for simulations, which are not releases, and a ledger takes releases only. Leave out rng, or "
        msg += "ledger and dataset."
        raise ArgumentError(msg)

    delivery = Delivery(warn=_warn if rng is None else None, progress=progress)  # experiments try everything
    delivery.warn_of(epsilon_warning, request.epsilon)
    if (request.public_size or 0) >= A_TABLE:
        delivery.warn_of(noise_warning, request)
    synopsis = deliver(request, points, charge=charge, delivery=delivery, bits=rng)
    delivery.warn_of(domain_warning, synopsis)
    return synopsis


A_TABLE = 100  # points: of fewer, a program that tries things out expects noise


def _warn(text: str) -> None:
    """Warn where `publish` was called."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals["__name__"].startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, HushgridWarning, stacklevel=level)


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The data set of a ledger that pays for a release.

    Parameters
    ----------
    ledger : path or str
        Path or URL of the ledger.
    dataset : str
        The data set in it.
    new_release : bool
        Whether to pay for a release that the ledger has already.
    resume : int or None
        The entry of a run that was cut off.
    """

    ledger: str | Path
    dataset: str
    new_release: bool = False
    resume: int | None = None

    @classmethod
    def of(
        cls, *, ledger: str | Path | None, dataset: str | None, new_release: bool = False, resume: int | None = None
    ) -> Self | None:
        """Check the arguments of `hushgrid.publish`; None where nothing is charged.

        Examples
        --------
        >>> Charge.of(ledger="city.ledger", dataset="trips")
        Charge(ledger='city.ledger', dataset='trips', new_release=False, resume=None)
        """
        if new_release and resume is not None:
            msg = "resume goes on with a release that was begun, new_release pays for another. Give one of them."
            raise ArgumentError(msg)
        if dataset is not None:
            place = ledger or os.environ.get("HUSHGRID_LEDGER") or DEFAULT_LEDGER
            return cls(ledger=place, dataset=dataset, new_release=new_release, resume=resume)
        for name, given in {"ledger": ledger, "new_release": new_release, "resume": resume}.items():
            if given:
                msg = f"{name} needs dataset: the name of the data set that the release is charged to. "
                msg += "'hushgrid ledger show' lists those of a ledger, 'hushgrid ledger init' adds one."
                raise ArgumentError(msg, instead={"dataset": "NAME"})
        return None


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where a release goes, and who hears of it on the way.

    Parameters
    ----------
    output : Path, optional
        The file to write; without one, the release stays in memory.
    overwrite : bool
        Whether to replace that file.
    tell : callable, optional
        Told what a release is about to take, if that is much, and what became of the budget.
    warn : callable, optional
        Told what the steward should act on.
    progress : Progress, optional
        Told 0, 0.01, …, 1 while the release is made: the same calls whatever the points are.
    tell_stage : callable, optional
        Told each stage of the work when it begins.
    """

    output: Path | None = None
    overwrite: bool = False
    tell: Callable[[str], None] | None = None
    warn: Callable[[str], None] | None = None
    progress: Progress | None = None
    tell_stage: Callable[[Stage], None] | None = None

    @property
    def folder(self) -> Path | None:
        """Where there is room for the release until it is committed."""
        return None if self.output is None else self.output.parent

    def say(self, text: str) -> None:
        """Pass on a note, if somebody listens."""
        if self.tell is not None:
            self.tell(text)

    def warn_of(self, warning: Callable[[Subject], str | None], subject: Subject) -> None:
        """Pass on a warning, if there is one and somebody listens."""
        text = None if self.warn is None else warning(subject)
        if self.warn is not None and text is not None:
            self.warn(text)


def deliver(
    request: ReleaseRequest, points: Any, *, charge: Charge | None, delivery: Delivery, bits: Bits | None = None
) -> Synopsis:
    """Publish points, for Python and the command line alike.

    An error on the way has a note that says what became of the budget.
    """
    with Work(request.cost.steps, delivery.progress, tell_stage=delivery.tell_stage):
        if charge is None:
            return _publish_uncharged(request, points, delivery, SystemBits() if bits is None else bits)
        from hushgrid.release.on_ledger import publish_on_ledger  # here, because few sessions keep a ledger

        return publish_on_ledger(request, points, charge, delivery)


def _publish_uncharged(request: ReleaseRequest, points: Any, delivery: Delivery, bits: Bits) -> Synopsis:
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        delivery.say(text)

    try:
        source = request.open(points)
        with helped_to_compile(request.method, delivery.say):
            synopsis = request.release(source, bits=bits, tell=None if delivery.tell is None else tell)
    except KeyboardInterrupt as error:
        error.add_note(_spent(request) if told else NOTHING_SPENT)
        raise
    current_work().begin("writing")
    if delivery.output is not None:
        synopsis.save(delivery.output, overwrite=delivery.overwrite)
    return synopsis


NOTHING_SPENT = "No release was made, so nothing was spent."


def _spent(request: ReleaseRequest) -> str:
    """What is spent by a run that said what it would take, and then broke off."""
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
