"""A budget spent along paths down a tree.

Cells are divided again and again, and each path down has an account of its own.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.arrays import Indices
from hushgrid.errors import ArgumentError, BudgetError
from hushgrid.inference.measurements import NOT_MEASURED, NoisyValues
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.draws import Draws
from hushgrid.privacy.mixture import add_noise_each

UNITS = 1024  # of a path's budget: parts are whole units, so that they sum exactly and few rates occur


class PathBudget:
    """One budget for every path, in whole units.

    It begins with disjoint cells. `measure` spends units on the live cells, and `descend` goes on to cells within them.

    Parameters
    ----------
    epsilon : Fraction
        Of every path. It has been charged for.
    cells : int
        Disjoint cells to begin with.
    bits : Bits
        Where the noise comes from.
    draws : Draws, optional
        Those of the release that this is a part of.

    Privacy
    -------
    ε-DP if the live cells are disjoint at every time, if each lies within the one it descends from, and if both the
    cells and the units depend on the data through released values alone. A record then lies in one live cell at a time,
    or in none. It changes one count of each `measure` by one, which costs the rate of that count. These counts lie on
    one path, which cannot spend more units than the whole: see docs/privacy/staq.md.
    """

    def __init__(self, epsilon: Fraction, cells: int, *, bits: Bits, draws: Draws | None = None) -> None:
        self._epsilon = epsilon
        self._left = np.full(cells, UNITS, np.int64)
        self._bits = bits
        self._draws = Draws() if draws is None else draws

    @property
    def left(self) -> Indices:
        """Units left on each live cell's path."""
        return self._left.copy()

    def epsilon(self, units: int) -> Fraction:
        """What a number of units is worth."""
        return Fraction(units * self._epsilon.numerator, UNITS * self._epsilon.denominator)

    def measure(self, true_counts: NDArray[np.int64], units: ArrayLike) -> NoisyValues:
        """Noisy counts of the live cells.

        Each is measured at the units it is given; at zero units, not at all.

        Privacy
        -------
        A record pays the units of its cell. They are taken from what its path has left.
        """
        spent = self._check_units(units)
        if len(true_counts) != len(spent):
            msg = (
                f"true_counts must have one count for each of the {len(spent):,} live cells, got {len(true_counts):,}."
            )
            raise ArgumentError(msg)
        self._left -= spent
        taken = spent > 0
        distinct, index = np.unique(spent[taken], return_inverse=True)
        rates = tuple(self.epsilon(int(number)) for number in distinct)
        values, rate_index = np.zeros(len(spent), np.int64), np.full(len(spent), NOT_MEASURED, np.int32)
        rate_index[taken] = index
        values[taken] = self._draws(
            lambda: add_noise_each(true_counts[taken], rates=rates, rate_index=index, bits=self._bits),
            index.shape,
            "paths",
            rates,
            index,
        )
        return NoisyValues(values=values, rates=rates, rate_index=rate_index)

    def descend(self, parents: ArrayLike) -> None:
        """Replace the live cells by cells within them.

        `parents` gives the live cell that each new one lies within. Live cells without a new one are dropped.

        A cell may stay as it is, as its own parent.
        """
        index = np.asarray(parents, np.int64)
        if index.size and not (index.min() >= 0 and index.max() < len(self._left)):
            msg = f"parents must be at least 0 and below the number of live cells, {len(self._left):,}."
            raise ArgumentError(msg)
        self._left = self._left[index]

    def _check_units(self, units: ArrayLike) -> Indices:
        spent = np.asarray(units)
        if spent.shape != self._left.shape or not np.can_cast(spent.dtype, np.int64) or np.any(spent < 0):
            msg = f"units must be whole numbers of at least 0, one for each of the {len(self._left):,} live cells."
            raise ArgumentError(msg)
        if np.any(spent > self._left):
            msg = f"a path would spend more than its {UNITS:,} units."
            raise BudgetError(msg)
        return spent.astype(np.int64)
