"""A release of slices: the points divided once, then each slice published.

For STAQ, a tenth of the budget goes to the total of all slices, which then is the prior of each of them. Other methods
publish each slice on its own.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from hushgrid.counting.bounded import MEMORY_BYTES, bounded_points
from hushgrid.counting.bounding import KEY_BYTES
from hushgrid.counting.by_slice.sliced import SlicedPoints, sliced_points
from hushgrid.counting.counter import EngineSource, OpenedPoints, PointCounter
from hushgrid.counting.source import PointSource
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.methods.method import Method, most_cells
from hushgrid.methods.staq import Staq
from hushgrid.priors.prior import Prior
from hushgrid.priors.releases import total_prior
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.draws import Draws, Journal
from hushgrid.release.auto import Auto
from hushgrid.release.cost import NOMINAL_SIZE
from hushgrid.release.request import ReleaseRequest
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.claim import LedgerMark
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import Stage, Step, Work, current_work

# Of epsilon, for the total that is the prior of every slice. Three tenths were worse on both sets that were tried.
SHARE_OF_TOTAL = Fraction(1, 10)
# The total tells how points lie inside large cells, so a slice begins with larger ones than a release alone would.
SLICE = Staq(first_level=2, first_weight=1.2)
# Only where no parameter was given.
LARGER: Mapping[Method, Method] = MappingProxyType({Staq(): SLICE, Auto(): Auto(staq=SLICE)})
HOW_SLICES_DIFFER = "slices with first_level 2 and first_weight 1.2, as the total tells what lies inside large cells"


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
    Every slice is released, empty or not, by a fixed order of steps; what becomes of one changes no other.
    """
    by, draws = request.by, Draws(journal)
    assert by is not None
    current_work().begin("reading")
    with _divided(request, source, bits, draws) as points:
        del source  # all that is read from here on lies in a slice
        work = current_work()
        work.begin("counting")
        done = 1 / request.releases
        total, prior, share = None, request.prior, Fraction(1)
        if request.has_total:
            total = _release(_with_share(request, SHARE_OF_TOTAL), points.all, bits, draws, prior)
            prior, share = total_prior(total), 1 - SHARE_OF_TOTAL
            work.add("counting", done)
        one, parts = _with_share(request, share), {}
        if total is not None and one.method in LARGER:
            one = replace(one, method=LARGER[one.method])
            total = _with_note(total, HOW_SLICES_DIFFER)
        for name, slice_points in zip(by.names, points.slices, strict=True):
            parts[name] = _release(one, slice_points, bits, draws, prior)
            work.add("counting", done)
    return Slices(by=by, parts=parts, total=total)


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


def _with_note(synopsis: Synopsis, note: str) -> Synopsis:
    """A release whose method has one note more."""
    return replace(synopsis, method=replace(synopsis.method, notes=(*synopsis.method.notes, note)))


def _release(request: ReleaseRequest, points: PointSource, bits: Bits, draws: Draws, prior: Prior | None) -> Synopsis:
    """Publish one slice, without progress of its own."""
    with Work():
        return request.publish_counted(PointCounter(request.domain, points), request.budget(bits, draws), prior)


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
