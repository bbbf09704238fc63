"""From opened points to a counter: by our own kernels, or by the engine that holds them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from hushgrid.counting.bounded_source import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import Counter
from hushgrid.counting.point_counter import PointCounter
from hushgrid.counting.progress import Progress
from hushgrid.counting.source import PointSource
from hushgrid.counting.user_rows import MissingUser
from hushgrid.geometry.domain import Domain

BeforeRows = Callable[[], None]  # what is called before a step that may look at rows


def nothing() -> None:
    """For whoever need not know when rows may first be looked at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedCounter:
    """Counts of kept records, and the total of the records of all users, each user's capped.

    Privacy
    -------
    Holds no way back to the records that were not kept.
    """

    counter: Counter
    true_capped_total: int

    def __repr__(self) -> str:
        return "BoundedCounter(...)"


@runtime_checkable
class CountedThere(Protocol):
    """Points that are counted where they are. Implemented by `EnginePoints`."""

    def counter(self, domain: Domain, *, progress: Progress | None = None) -> AbstractContextManager[Counter]:
        """Counts of the points."""

    def bounded_counter(
        self, rule: KeyedRule, *, missing: MissingUser, progress: Progress | None = None
    ) -> AbstractContextManager[BoundedCounter]:
        """Counts of the points that a rule keeps."""

    def state(self) -> bytes | None:
        """What tells these points from those that another run reads, or None where nothing does; private."""


OpenedPoints = PointSource | CountedThere


@contextmanager
def open_counter(domain: Domain, points: OpenedPoints, *, progress: Progress | None = None) -> Iterator[Counter]:
    """Counts of the points, for as long as the context lasts."""
    if isinstance(points, CountedThere):
        with points.counter(domain, progress=progress) as counter:
            yield counter
    else:
        yield PointCounter(domain, points, progress=progress)


@contextmanager
def open_bounded_counter(
    points: OpenedPoints, rule: KeyedRule, *, missing: MissingUser, progress: Progress | None = None
) -> Iterator[BoundedCounter]:
    """Counts of the points that a rule keeps of those with user ids, for as long as the context lasts."""
    if isinstance(points, CountedThere):
        with points.bounded_counter(rule, missing=missing, progress=progress) as bounded:
            yield bounded
        return
    with bounded_points(points, rule, missing=missing, progress=progress) as kept:
        del points  # all that is read from here on are kept records
        counter = PointCounter(rule.domain, kept.source, progress=progress)
        yield BoundedCounter(counter=counter, true_capped_total=kept.true_capped_total)
