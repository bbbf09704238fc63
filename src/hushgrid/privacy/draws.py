"""The random values of a release, journalled before use."""

import hashlib
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Journal(Protocol):
    """Keeps the random values of one release, by number."""

    def recall(self, number: int, fingerprint: str) -> bytes | None:
        """A recorded value, or None.

        It is an error if something else was recorded under the number.
        """

    def record(self, number: int, fingerprint: str, payload: bytes) -> None:
        """Keep a value for good."""


class Draws:
    """The random values of one release, in order.

    Parameters
    ----------
    journal : Journal, optional
        Where to keep each value before it is used. A release that was cut off finds there what it has drawn, and goes
        on.

    Privacy
    -------
    A measurement drawn twice costs twice. One that a journal holds is never drawn again. Whoever reads the journal sees
    every value, so the proof of the claim must cover each: a released measurement, a decision or a choice that the
    release shows, or random bytes that owe nothing to the data.

    Examples
    --------
    >>> Draws()(lambda: np.array([3, 1]), (2,), "counts", 1)
    array([3, 1])
    """

    def __init__(self, journal: Journal | None = None) -> None:
        self._journal = journal
        self._number = 0

    def __call__(self, draw: Callable[[], Integers], shape: tuple[int, ...], *what: object) -> Integers:
        """Draw, or return what an earlier run drew.

        Parameters
        ----------
        draw : callable
            Makes an array of the shape.
        what : objects
            What is drawn, such as a purpose and a rate. Arrays count with all their values.
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
    """Hash public values, so that they can be compared.

    Arrays must hold integers.

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
