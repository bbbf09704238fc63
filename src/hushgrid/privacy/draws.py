"""The random values of a release, each kept before it is used where there is a journal to keep it in."""

import hashlib
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Journal(Protocol):
    """Where the random values of one release are kept, by their number."""

    def recall(self, number: int, fingerprint: str) -> bytes | None:
        """A value that was recorded, or None; an error if something else was recorded under its number."""

    def record(self, number: int, fingerprint: str, payload: bytes) -> None:
        """Keep a value for good."""


class Draws:
    """The random values of one release, in the order they are asked for.

    Parameters
    ----------
    journal : Journal, optional
        Where to keep each of them before anything uses it. A release that was cut off and is begun again finds there
        what it has drawn, and goes on.

    Privacy
    -------
    A measurement that is drawn a second time costs a second time. One that a journal has is never drawn again. Whoever
    reads the journal sees every value, so that each must be one that the proof of the claim covers: a released
    measurement, a decision or a choice that the release shows, or random bytes that owe nothing to the data.

    Examples
    --------
    >>> Draws()(lambda: np.array([3, 1]), (2,), "counts", 1)
    array([3, 1])
    """

    def __init__(self, journal: Journal | None = None) -> None:
        self._journal = journal
        self._number = 0

    def __call__(self, draw: Callable[[], Integers], shape: tuple[int, ...], *what: object) -> Integers:
        """What `draw` gives, or what it gave in the run that this one goes on with.

        Parameters
        ----------
        draw : callable
            Makes an array of the shape.
        what : objects
            What is drawn, such as a purpose and a rate; arrays count with all they hold.
        """
        if self._journal is None:
            return draw()
        self._number += 1
        mark = fingerprint(shape, *what)
        kept = self._journal.recall(self._number, mark)
        if kept is not None:
            return np.frombuffer(kept, "<i8").reshape(shape).astype(np.int64)
        drawn = draw()
        self._journal.record(self._number, mark, drawn.astype("<i8").tobytes())
        return drawn


def fingerprint(*what: object) -> str:
    """A hash that tells public values of any kind apart; arrays are of integers.

    Examples
    --------
    >>> fingerprint("counts", 1) == fingerprint("counts", 2)
    False
    """
    digest = hashlib.sha256()
    for each in what:
        part = each.astype("<i8").tobytes() if isinstance(each, np.ndarray) else str(each).encode()
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
