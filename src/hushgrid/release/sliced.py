"""A release of slices: the points divided once, then each slice published.

For STAQ, a share of the budget goes to the total of all slices. The total and all other slices then are the prior of
each slice. Other methods publish each slice on its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from hushgrid.counting.bounded import MEMORY_BYTES, bounded_points
from hushgrid.counting.bounding import KEY_BYTES
from hushgrid.counting.by_slice.sliced import SlicedPoints, sliced_points
from hushgrid.counting.counter import EngineSource, OpenedPoints, PointCounter
from hushgrid.counting.source import PointSource
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.methods.method import most_cells
from hushgrid.methods.staq import Staq
from hushgrid.priors.other_slices import priors_of_slices
from hushgrid.priors.prior import Prior
from hushgrid.priors.sharpen import SHARPENED, released_with
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.draws import Draws, Journal
from hushgrid.release.auto import Auto
from hushgrid.release.cost import NOMINAL_SIZE
from hushgrid.release.request import ReleaseRequest
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.claim import LedgerMark
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import Stage, Step, Work, current_work

# From so many slices on, the total has the most that it ever has, and each slice begins with larger cells than a
# release by itself would: the others tell what lies inside of them. Of fewer slices, the others alone tell nearly as
# much as with a total, and cost nothing (decision 16).
MANY = 12
MOST_SHARE = Fraction(1, 10)  # of epsilon, for the total
SLICE = Staq(first_level=2, first_weight=1.0)
# What the slices tell together of large cells is more than the total can, so it is measured in small ones.
TOTAL = Staq(c=1.0, growth=1.4, first_weight=1.3)
PLAIN = (Auto(), Staq())  # methods without parameters of one's own, which may differ
FEW_DIFFER = "the total has smaller cells than a release by itself, slices have the usual ones"
MANY_DIFFER = "the total has smaller cells than a release by itself, slices begin with larger ones: first_level 2, "
MANY_DIFFER += "first_weight 1"


def share_of_total(slices: int) -> Fraction:
    """The share of ε that the total of so many slices gets.

    Examples
    --------
    >>> [str(share_of_total(slices)) for slices in (2, 6, 12, 366)]
    ['1/360', '1/40', '1/10', '1/10']
    """
    return MOST_SHARE * Fraction(min(slices, MANY), MANY) ** 2


def release_slices(
    request: ReleaseRequest,
    source: OpenedPoints,
    *,
    bits: Bits,
    journal: Journal | None = None,
) -> Slices:
    """Read the points once, and publish each slice.

    The arguments are those of `ReleaseRequest.release`.

    Privacy
    -------
    A record lies in one slice, so that the slices compose in parallel: all of them cost what one does, and the total
    its share besides. With users, at most K records of each are kept in all slices together; every kept record costs
    one K-th of that in its slice and in the total, so that a user costs no more, however their records are spread.
    Every slice is released, empty or not, by a fixed order of steps. What is measured of a slice depends on its own
    records alone. Its counts follow from what was measured of all, which is post-processing.
    """
    by, draws = request.by, Draws(journal)
    assert by is not None
    current_work().begin("reading")
    with _divided(request, source, bits, draws) as points:
        del source  # all that is read from here on lies in a slice
        current_work().begin("counting")
        if request.has_total:
            total, parts = _with_total(request, points, bits, draws)
        else:
            total, parts = None, _one_by_one(request, points, bits, draws)
    return Slices(by=by, parts=dict(zip(by.names, parts, strict=True)), total=total)


def _one_by_one(request: ReleaseRequest, points: SlicedPoints, bits: Bits, draws: Draws) -> list[Synopsis]:
    """Each slice by itself, with all of the budget."""
    one, parts = _with_share(request, Fraction(1)), []
    for each in points.slices:
        parts.append(_release(one, each, bits, draws, request.prior))
        current_work().add("counting", 1 / request.releases)
    return parts


def _with_total(
    request: ReleaseRequest, points: SlicedPoints, bits: Bits, draws: Draws
) -> tuple[Synopsis, list[Synopsis]]:
    """The total and the slices, all measured before any has a prior."""
    slices, done = len(points.slices), 1 / request.releases
    share = share_of_total(slices)
    one, whole = _with_share(request, 1 - share), _with_share(request, share)
    note = None
    if request.method in PLAIN:
        whole, note = _by(whole, TOTAL), FEW_DIFFER
        if slices >= MANY:
            one, note = _by(one, SLICE), MANY_DIFFER
    total = _with_note(_release(whole, points.all, bits, draws, request.prior), note)
    current_work().add("counting", done)
    measured = []
    for each in points.slices:
        measured.append(_measure(one, each, bits, draws))
        current_work().add("counting", done / 2)
    parts = []
    for part, prior in zip(measured, priors_of_slices(total, measured), strict=True):
        parts.append(_sharpened(one, part, prior))
        current_work().add("counting", done / 2)
    return total, parts


@contextmanager
def _divided(request: ReleaseRequest, source: OpenedPoints, bits: Bits, draws: Draws) -> Iterator[SlicedPoints]:
    """The points by slice, bounded by user first where there are users."""
    assert request.by is not None
    if isinstance(source, EngineSource):
        with source.copied() as copy, _divided(request, copy, bits, draws) as points:
            yield points
        return
    count = len(request.by.names)
    if request.users is None:
        with sliced_points(source, count, memory_bytes=MEMORY_BYTES) as points:
            yield points
        return
    key = request.budget(bits, draws).key(KEY_BYTES)
    rule = request.users.rule(request.domain, key=key, cells=request.cells)
    missing = request.users.missing_user
    with (
        bounded_points(source, rule, missing=missing, memory_bytes=MEMORY_BYTES) as bounded,
        sliced_points(bounded.source, count, memory_bytes=MEMORY_BYTES) as points,
    ):
        yield points


def _with_share(request: ReleaseRequest, share: Fraction) -> ReleaseRequest:
    """The request for one slice, or for the total.

    It has a share of the budget, and of the cells that all of them may have.
    """
    room = CELL_LIMIT // request.releases
    limit = request.max_cells
    if limit is None and request.cells is None and room < most_cells(request.method):
        limit = room
    return replace(request, epsilon=request.epsilon * share, max_cells=limit, by=None, prior=None)


def _by(request: ReleaseRequest, staq: Staq) -> ReleaseRequest:
    """A request by STAQ with other parameters."""
    return replace(request, method=Auto(staq=staq) if isinstance(request.method, Auto) else staq)


def _with_note(synopsis: Synopsis, note: str | None) -> Synopsis:
    """A release whose method has a note more, if there is one."""
    if note is None:
        return synopsis
    return replace(synopsis, method=replace(synopsis.method, notes=(*synopsis.method.notes, note)))


def _release(request: ReleaseRequest, points: PointSource, bits: Bits, draws: Draws, prior: Prior | None) -> Synopsis:
    """Publish the total, or one slice on its own, without progress of its own."""
    with Work():
        return request.publish_counted(PointCounter(request.domain, points), request.budget(bits, draws), prior)


def _measure(request: ReleaseRequest, points: PointSource, bits: Bits, draws: Draws) -> Synopsis:
    """Measure one slice, whose prior is not known yet."""
    assert isinstance(request.method, Auto | Staq)
    with Work():
        return request.method.measure(PointCounter(request.domain, points), request.budget(bits, draws))


def _sharpened(request: ReleaseRequest, measured: Synopsis, prior: Prior | None) -> Synopsis:
    """One slice as its measurements and its prior have it."""
    evidence, claim, method = measured.evidence, measured.claim, measured.method
    with Work():
        if prior is None:
            tree, measurements = evidence.partition, evidence.measurements
            part = Synopsis.infer(tree, measurements, inference=SHARPENED, claim=claim, method=method)
        else:
            part = released_with(prior, evidence, claim=claim, method=method)
        return request.with_intervals(part)


def sliced_steps(request: ReleaseRequest) -> tuple[Step, ...]:
    """The work of a release of slices: reading, bounding, all slices, writing."""
    cost, count = request.cost, request.releases
    of_slices: tuple[Stage, ...] = ("counting", "inference", "intervals")
    return (
        Step("reading", cost.seconds_of("reading") + NOMINAL_SIZE * DIVIDING),
        Step("bounding", cost.seconds_of("bounding")),
        Step("counting", sum(cost.seconds_of(stage) for stage in of_slices) + count * EACH),
        Step("writing", cost.seconds_of("writing")),
    )


DIVIDING = 1e-7  # seconds of a row, to copy it to its slice
EACH = 0.2  # seconds of a slice, however few points it has


def marked(slices: Slices, mark: LedgerMark) -> Slices:
    """Slices with the entry of the ledger that paid for all."""
    return replace(
        slices,
        parts={name: replace(part, ledger=mark) for name, part in slices.items()},
        total=None if slices.total is None else replace(slices.total, ledger=mark),
    )
