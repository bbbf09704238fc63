"""What a release measured, and with how much noise.

Measurements are signed integers. Each has the rational rate of its noise, and the leaves that it is about.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hushgrid.errors import ArgumentError
from hushgrid.inference.haar import padded, touched

NOT_MEASURED = -1  # in place of an index into `rates`

# Stands for the variance of noise that is zero with near certainty, so that precisions stay finite.
SMALLEST_VARIANCE = 1e-150


def discrete_laplace_variance(rate: Fraction) -> float:
    """Variance of the discrete Laplace law.

    It is ``2 q / (1 - q)**2`` with ``q = exp(-rate)``: exact, where ``2 / rate**2`` is not.

    Examples
    --------
    >>> round(discrete_laplace_variance(Fraction(1)), 6)
    1.841347
    """
    decay = float(rate)
    return max(2 * math.exp(-decay) / math.expm1(-decay) ** 2, SMALLEST_VARIANCE)


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyValues:
    """Noisy integers, each with its noise rate.

    Parameters
    ----------
    values : array of int64, shape (n,)
        True counts plus discrete Laplace noise; signed, never clipped.
    rates : tuple of Fraction
        The distinct rates. Noise of rate a has probabilities proportional to ``exp(-a |z|)``.
    rate_index : array of int32, shape (n,)
        Which of `rates` each value was measured at, or `NOT_MEASURED`; such a value is zero and means nothing.
    """

    values: NDArray[np.int64]
    rates: tuple[Fraction, ...]
    rate_index: NDArray[np.int32]

    @classmethod
    def at_one_rate(cls, values: NDArray[np.int64], rate: Fraction) -> Self:
        """Values that were all measured at the same rate."""
        return cls(values=values, rates=(rate,), rate_index=np.zeros(values.shape, np.int32))

    @classmethod
    def nothing(cls, size: int = 0) -> Self:
        """As many values as asked, none of them measured."""
        return cls(values=np.zeros(size, np.int64), rates=(), rate_index=np.full(size, NOT_MEASURED, dtype=np.int32))

    @classmethod
    def joined(cls, parts: Sequence["NoisyValues"]) -> Self:
        """Values of several measurements, one after the other."""
        starts = np.cumsum([0, *(len(part.rates) for part in parts)])
        shifted = [
            np.where(part.rate_index == NOT_MEASURED, NOT_MEASURED, part.rate_index + start)
            for part, start in zip(parts, starts[:-1], strict=True)
        ]
        return cls(
            values=np.concatenate([part.values for part in parts]),
            rates=tuple(rate for part in parts for rate in part.rates),
            rate_index=np.concatenate(shifted).astype(np.int32),
        )

    def pick(self, chosen: NDArray[Any]) -> "NoisyValues":
        """Some of the values, by their numbers or a mask."""
        return replace(self, values=self.values[chosen], rate_index=self.rate_index[chosen])

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Exact noise variance of each value, shape (n,).

        It is infinite where nothing was measured.
        """
        # The last entry is what index -1 selects.
        table = np.array([*map(discrete_laplace_variance, self.rates), math.inf])
        return table[self.rate_index]


@dataclass(frozen=True, kw_only=True, eq=False)
class Regions:
    """Measured regions, each a run of leaves.

    Runs go from ``first`` to ``stop``, half-open.
    """

    first: NDArray[np.int64]
    stop: NDArray[np.int64]

    @classmethod
    def nothing(cls) -> Self:
        """No regions."""
        return cls(first=np.empty(0, np.int64), stop=np.empty(0, np.int64))

    @classmethod
    def between(cls, offsets: ArrayLike) -> Self:
        """Neighbouring runs, each from one offset to the next."""
        edges = np.asarray(offsets, np.int64)
        return cls(first=edges[:-1], stop=edges[1:])


@dataclass(frozen=True, kw_only=True, eq=False)
class Wavelet:
    """Noisy Haar coefficients of a grid's counts.

    The grid is padded with zeros to powers of two. The order is that of `haar`.

    Parameters
    ----------
    rows, columns : int
        Shape of the padded grid.
    coefficients : NoisyValues
        ``rows * columns`` values, row by row, all at one rate.
    """

    rows: int
    columns: int
    coefficients: NoisyValues

    def __post_init__(self) -> None:
        if self.rows != padded(self.rows) or self.columns != padded(self.columns):
            msg = f"a wavelet's sides must be powers of two, got {self.rows} by {self.columns}."
            raise ArgumentError(msg)
        index = self.coefficients.rate_index
        if len(index) != self.rows * self.columns or index[0] == NOT_MEASURED or np.any(index != index[0]):
            msg = f"a wavelet needs {self.rows * self.columns:,} coefficients, all measured at one rate."
            raise ArgumentError(msg)

    @property
    def rate(self) -> Fraction:
        """The one rate."""
        return self.coefficients.rates[int(self.coefficients.rate_index[0])]

    @property
    def touched(self) -> int:
        """Coefficients that one record changes, each by one."""
        return touched(self.rows, self.columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """Everything a release measured.

    Parameters
    ----------
    leaves : NoisyValues
        One value a leaf, in leaf order: the leaf's own measurement, the last where there are several.
    regions : Regions
        The regions of the other measurements.
    region_values : NoisyValues
        One value a region.
    wavelet : Wavelet, optional
        Coefficients, where these were measured and not counts.
    """

    leaves: NoisyValues
    regions: Regions
    region_values: NoisyValues
    wavelet: Wavelet | None = None

    @classmethod
    def of_leaves(cls, leaves: NoisyValues) -> Self:
        """Measurements of leaves alone."""
        return cls(leaves=leaves, regions=Regions.nothing(), region_values=NoisyValues.nothing())

    @classmethod
    def of_wavelet(cls, wavelet: Wavelet, *, cells: int) -> Self:
        """Measurements of a grid's wavelet coefficients alone.

        None of the grid's `cells` was measured by itself.
        """
        return replace(cls.of_leaves(NoisyValues.nothing(cells)), wavelet=wavelet)


def rate_totals(measurements: Measurements) -> tuple[NDArray[Any], int]:
    """Sum of the rates that touch each leaf.

    The sums are exact: integers over one common denominator.

    One record lies in one leaf, so the largest of these sums is what the measurements cost it.
    """
    parts = (measurements.leaves, measurements.region_values)
    wavelet = measurements.wavelet
    everywhere = Fraction(0) if wavelet is None else wavelet.touched * wavelet.rate
    denominator = math.lcm(everywhere.denominator, *(rate.denominator for part in parts for rate in part.rates))
    numerators = [[int(rate * denominator) for rate in part.rates] + [0] for part in parts]
    shared = int(everywhere * denominator)
    largest = max(shared, *(max(row) for row in numerators))
    # Python integers only where int64 could overflow: they are a hundred times slower.
    small = largest * (2 + len(parts[1].values)) < 2**62
    dtype: type = np.int64 if small else object
    leaf_table: NDArray[Any] = np.array(numerators[0], dtype=dtype)
    region_table: NDArray[Any] = np.array(numerators[1], dtype=dtype)
    steps: NDArray[Any] = np.zeros(len(parts[0].values) + 1, dtype=dtype)
    cost = region_table[parts[1].rate_index]
    np.add.at(steps, measurements.regions.first, cost)
    np.subtract.at(steps, measurements.regions.stop, cost)
    return leaf_table[parts[0].rate_index] + np.cumsum(steps)[:-1] + shared, denominator
