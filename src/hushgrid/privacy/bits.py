"""Sources of uniform bits, for releases and for simulations.

Nothing else makes a generator.
"""

import operator
import os
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Never, Protocol, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError

WORD_BITS = 32  # of the words drawn in bulk
EXTENSION_BITS = 64  # read at a time when a word did not suffice


class Bits(Protocol):
    """Independent uniform bits."""

    simulation: ClassVar[bool]
    """Whether the bits can be had again from a seed, so that nothing made with them is private."""

    @abstractmethod
    def words(self, count: int) -> NDArray[np.uint32]:
        """Uniform words, read-only."""

    @abstractmethod
    def integer(self, bit_count: int) -> int:
        """Uniform integer below ``2**bit_count``."""

    def below(self, bound: int) -> int:
        """Uniform integer below `bound`, by rejection."""
        if bound < 1:
            msg = f"bound must be at least 1, got bound={bound}."
            raise ArgumentError(msg)
        bit_count = (bound - 1).bit_length()
        while (candidate := self.integer(bit_count)) >= bound:
            pass
        return candidate


class SystemBits(Bits):
    """Bits of OpenSSL's generator, for releases.

    Fresh bytes of the operating system are stirred in when the object is made.

    Make a new one for every release: it costs a few microseconds, and the fresh bytes keep forked processes and
    restored machines apart. It holds no state of its own.
    """

    simulation = False

    def __init__(self) -> None:
        import ssl  # here, because it takes as long to import as a small release to publish

        ssl.RAND_add(os.urandom(48), 48.0)
        self._random_bytes = ssl.RAND_bytes

    def words(self, count: int) -> NDArray[np.uint32]:
        """Uniform words, read-only."""
        return np.frombuffer(self._random_bytes(4 * count), np.uint32)

    def integer(self, bit_count: int) -> int:
        """Uniform integer below ``2**bit_count``, from the operating system."""
        byte_count = -(-bit_count // 8)
        return int.from_bytes(os.urandom(byte_count), "little") >> (8 * byte_count - bit_count)

    def __reduce__(self) -> Never:
        msg = "SystemBits cannot be copied or sent to another process: make a new one there."
        raise TypeError(msg)


class SimulatedBits(Bits):
    """Bits from a seed, for experiments and tests.

    They never make a release.

    Words and integers come from two PCG64DXSM streams, so that the words drawn depend on how many were asked for and
    not on how often one did not suffice.
    """

    simulation = True

    def __init__(self, seed: int) -> None:
        for_words, for_integers = np.random.SeedSequence(seed).spawn(2)
        self._words = np.random.PCG64DXSM(for_words)
        self._integers = np.random.PCG64DXSM(for_integers)

    def words(self, count: int) -> NDArray[np.uint32]:
        """Uniform words, read-only.

        They are the low, then the high half of each output of the first stream.
        """
        outputs = self._words.random_raw(-(-count // 2)).astype("<u8", copy=False)
        words = outputs.view("<u4")[:count].astype(np.uint32, copy=False)
        words.flags.writeable = False
        return words

    def integer(self, bit_count: int) -> int:
        """Uniform integer below ``2**bit_count``.

        It is the leading bits of as few outputs of the second stream as hold them.
        """
        output_count = -(-bit_count // 64)
        number = 0
        for output in self._integers.random_raw(output_count).tolist():
            number = number << 64 | output
        return number >> (64 * output_count - bit_count)


class UniformReal:
    """A uniform real number of [0, 1), drawn lazily.

    Only as many bits are drawn as comparisons need.

    Parameters
    ----------
    bits : Bits
        Where further bits come from.
    prefix, length : int
        The bits drawn so far, as an integer, and their number.
    """

    def __init__(self, bits: Bits, *, prefix: int = 0, length: int = 0) -> None:
        self._bits = bits
        self._prefix = prefix
        self._length = length

    def is_below(self, scaled_floor: Callable[[int], int]) -> bool:
        """Whether the number is below s, exactly.

        ``scaled_floor(n)`` is floor(2**n s).

        Ends with probability 1, and never with a guess.
        """
        while (threshold := scaled_floor(self._length)) == self._prefix:
            self._prefix = self._prefix << EXTENSION_BITS | self._bits.integer(EXTENSION_BITS)
            self._length += EXTENSION_BITS
        return self._prefix < threshold


def simulation_rng(seed: SupportsIndex) -> SimulatedBits:
    """Noise that can be repeated from a seed.

    It is for experiments and tests: what it publishes is marked, and is not private.

    Examples
    --------
    >>> simulation_rng(1).words(2).tolist() == simulation_rng(1).words(2).tolist()
    True
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        msg = f"seed must be a non-negative integer, got seed={seed!r}."
        raise ArgumentError(msg)
    return SimulatedBits(number)
