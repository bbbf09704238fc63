"""How far a question to the points has come, told so that it says nothing of them."""

from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Self

Progress = Callable[[float], None]
"""Called with 0, 0.01, 0.02, …, 1 for each question asked of the points: the same list whatever the points are."""

STEPS = 100


class ShareDone:
    """Tells the progress of one question, in whole per cents, every one of them once and in order.

    However many rows, blocks, threads and passes it takes to answer, none or several, the calls are the same. The
    last comes when the context ends without an error.

    Privacy
    -------
    The calls are a constant. When each of them comes depends on the points; that is timing, and whoever can watch the
    run is outside the attack model (docs/privacy.md).

    Examples
    --------
    >>> told = []
    >>> with ShareDone(told.append) as done:
    ...     done.add(0.029)
    ...     told
    [0.0, 0.01, 0.02]
    >>> len(told), told[-1]
    (101, 1.0)
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._share = 0.0
        self._steps_told = 0
        self._lock = Lock()

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress(0.0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            with self._lock:
                self._tell(STEPS)

    def add(self, share: float) -> None:
        """Add the share of one block; the last per cent is not told before the question is answered."""
        with self._lock:
            self._share += share
            self._tell(min(STEPS - 1, int(STEPS * self._share)))

    def _tell(self, steps: int) -> None:
        while self._progress is not None and self._steps_told < steps:
            self._steps_told += 1
            self._progress(self._steps_told / STEPS)
