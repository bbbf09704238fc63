"""How far a pass over the data has come."""

from collections.abc import Callable
from threading import Lock

Progress = Callable[[float], None]
"""Called with the share of the source read so far in this pass, from 0 to 1; never with a count."""


class ShareDone:
    """Adds up what the threads of a pass have read, and tells whoever wants to know.

    Examples
    --------
    >>> done = ShareDone(print)
    >>> done.add(0.25); done.add(0.5)
    0.25
    0.75
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._share = 0.0
        self._lock = Lock()

    def add(self, share: float) -> None:
        """Add the share of one block."""
        if self._progress is not None:
            with self._lock:
                self._share = min(1.0, self._share + share)
                self._progress(self._share)
