"""The work of a release, told in whole per cents.

One list of steps covers all of it, from the first row to the file. How long each takes, in proportion, follows from
public arguments and released values alone: see `hushgrid.release.cost`. Whoever does a part of the work says so to the
work that is going on, `current_work`; where nobody follows it, that does nothing.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from threading import RLock
from types import TracebackType
from typing import Literal, NamedTuple, Self

Stage = Literal["reading", "bounding", "counting", "inference", "intervals", "writing"]

Progress = Callable[[float], None]
"""Called with 0, 0.01, 0.02, …, 1, each once for a release: the same list whatever the points are."""

PER_CENTS = 100


class Step(NamedTuple):
    """A part of the work, and about how long it takes.

    A stage may have several steps: counting has one for each question that is asked of the points.
    """

    stage: Stage
    seconds: float


class Work:
    """Steps that are done one after the other, told in per cents.

    Every whole per cent is told once, and in order, however many rows, blocks and threads there are. The last comes
    when the context ends without an error. A step that is over sooner than planned is jumped; what comes after the
    last step of its stage adds nothing.

    Parameters
    ----------
    steps : sequence of Step
        All of the work, in order.
    progress : Progress, optional
        Told the per cents, on whichever thread has come so far.
    tell_stage : callable, optional
        Told each stage when it begins.

    Privacy
    -------
    The calls are a constant. When each of them comes depends on the points; that is timing, and whoever can watch the
    run is outside the attack model (docs/privacy.md).

    Examples
    --------
    >>> told = []
    >>> with Work([Step("counting", 1.0), Step("inference", 3.0)], told.append) as work:
    ...     work.begin("counting")
    ...     work.add("counting", 0.089)
    ...     told
    [0.0, 0.01, 0.02]
    >>> len(told), told[-1]
    (101, 1.0)
    """

    def __init__(
        self,
        steps: Sequence[Step] = (),
        progress: Progress | None = None,
        *,
        tell_stage: Callable[[Stage], None] | None = None,
    ) -> None:
        self._steps = tuple(steps)
        self._progress = progress
        self._tell_stage = tell_stage
        self._at = -1  # number of the step that is going on
        self._share = 0.0  # of that step, done
        self._span = (0.0, 0.0)  # of all work, from its beginning to its end
        self._rest = (0.0, 0)  # the share of all work and the step that a plan begins with
        self._told = 0
        self._lock = RLock()  # whoever is told may work, and tell, on the same thread
        self._outer: Token[Work] | None = None

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress(0.0)
        self._outer = _CURRENT.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._outer is not None:
            _CURRENT.reset(self._outer)
        if kind is None:
            with self._lock:
                self._tell(PER_CENTS)

    def begin(self, stage: Stage) -> None:
        """Go on to the next step of a stage.

        Where none is left, such as for a release that is made within another, nothing happens.
        """
        with self._lock:
            later = range(self._at + 1, len(self._steps))
            found = next((number for number in later if self._steps[number].stage == stage), None)
            if found is None:
                return
            before = None if self._at < 0 else self._steps[self._at].stage
            self._at, self._share, self._span = found, 0.0, (self._edge(found), self._edge(found + 1))
            self._tell_place()
            if self._tell_stage is not None and stage != before:
                self._tell_stage(stage)

    def add(self, stage: Stage, share: float) -> None:
        """Add a share of the step that is going on.

        Nothing happens if that is of another stage.
        """
        with self._lock:
            if self._at >= 0 and self._steps[self._at].stage == stage:
                self._share += share
                self._tell_place()

    def weigh(self, steps: Sequence[Step]) -> None:
        """Plan what is still to come anew.

        The steps are the same, with other times. What was told stays.
        """
        with self._lock:
            if self._steps:
                self._rest = (self._span[1], self._at + 1)
                self._steps = tuple(steps)

    def _edge(self, number: int) -> float:
        """Share of all work that comes before a step."""
        place, first = self._rest
        seconds = [step.seconds for step in self._steps[first:]]
        return place + (1 - place) * sum(seconds[: number - first]) / (sum(seconds) or 1.0)

    def _tell_place(self) -> None:
        begin, end = self._span
        self._tell(min(PER_CENTS - 1, int(PER_CENTS * (begin + (end - begin) * min(1.0, self._share)))))

    def _tell(self, per_cents: int) -> None:
        while self._progress is not None and self._told < per_cents:
            self._told += 1
            self._progress(self._told / PER_CENTS)


_CURRENT: ContextVar[Work] = ContextVar("work", default=Work())  # noqa: B039  # the default has no steps: it stays so


def current_work() -> Work:
    """The work that is going on; one without steps if none is.

    Threads do not know it: ask for it before they start.
    """
    return _CURRENT.get()
