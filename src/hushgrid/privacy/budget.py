"""The budget of one release, its noise and account."""

from collections.abc import Callable
from copy import copy
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import ArgumentError, BudgetError
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.inference.measurements import NoisyValues
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.draws import Draws
from hushgrid.privacy.laplace import add_noise
from hushgrid.privacy.paths import PathBudget
from hushgrid.privacy.selection import permute_and_flip
from hushgrid.synopsis.claim import BY_USER, TOTAL, CappedTotal, Claim, Size, SizeSource, Spend, Unit

SIZE_SHARE = Fraction(
    1, 100
)  # of epsilon, for the noisy number of points (half or twice it costs 1 to 3 % in accuracy)
TOTAL_SHARE = Fraction(1, 20)  # of epsilon, for the noisy total that counts are scaled to, if one is asked for
KEPT_SHARE = Fraction(1, 50)  # of epsilon, for a noisy total that only says which share of the records was kept
WORD_BYTES = 8  # a journal keeps 64-bit integers


class Sized(Protocol):
    """What a noisy size needs of a counter."""

    def rows(self) -> int:
        """True number of rows."""

    def total(self) -> int:
        """True number of points in the domain."""


class Budget:
    """ε-differential privacy, spent in shares on measurements.

    Parameters
    ----------
    epsilon : Fraction
        Granted for one unit.
    bits : Bits
        Where the noise comes from.
    unit : "record" or "user"
        What the budget is granted for.
    max_per_unit : int
        Records one unit may have. A method only ever sees ``epsilon / max_per_unit``: by group privacy a method that
        is (ε/K)-DP for one record is ε-DP for K of them.
    public_size : int, optional
        A size known to the public, in place of a noisy one.
    size_from : "rows" or "domain"
        What the noisy size counts.
    size_share : Fraction
        Share of the budget for the noisy size.
    max_cells : int, optional
        Most cells of a partition that is sized from released values, where that is not left to the method.
    draws : Draws, optional
        Keeps every random value before it is used. All budgets of one release have the same.
    tell_size : callable, optional
        Told the noisy size, once it is known.

    Privacy
    -------
    Each call of `measure` adds discrete Laplace noise of rate ``share * epsilon`` to counts of disjoint cells. One
    record changes one of these counts by one, so the call is (share · ε)-DP. The calls compose; each may depend on the
    values released by earlier ones; the budget refuses shares that sum to more than one.
    """

    def __init__(
        self,
        epsilon: Fraction,
        *,
        bits: Bits,
        unit: Unit = "record",
        max_per_unit: int = 1,
        public_size: int | None = None,
        size_from: SizeSource = "rows",
        size_share: Fraction = SIZE_SHARE,
        max_cells: int | None = None,
        draws: Draws | None = None,
        tell_size: Callable[[int], None] | None = None,
    ) -> None:
        self._granted = epsilon / max_per_unit
        self._for_counts = self._granted
        self._bits = bits
        self._draws = Draws() if draws is None else draws
        self._unit: Unit = unit
        self._max_per_unit = max_per_unit
        self._size = None if public_size is None else Size(source="public", value=public_size)
        self._total: CappedTotal | None = None
        self._size_from = size_from
        self._size_share = size_share
        self._max_cells = max_cells
        self._tell_size = tell_size
        self._spends: list[Spend] = []

    @property
    def epsilon(self) -> Fraction:
        """What a method may spend on counts.

        It is less than the grant once a noisy size has been paid for.
        """
        return self._for_counts

    @property
    def public_size(self) -> int | None:
        """The public size, if one was declared."""
        return self._size.value if self._size is not None and self._size.source == "public" else None

    def most_cells(self, default: int = GUIDELINE_CELL_LIMIT) -> int:
        """Most cells of a partition sized from released values.

        Such a size is clamped, because no record may cause an error.
        """
        return default if self._max_cells is None else self._max_cells

    def noisy_size(self, counter: Sized) -> int:
        """The noisy or public number of points.

        It is for sizing the partition and nothing else.

        Privacy
        -------
        One record changes the true number by at most one, whether all rows or those in the domain are counted.
        """
        if self._size is None:
            if any(spend.purpose not in BY_USER for spend in self._spends):
                msg = "the noisy size must be the first thing a method asks of its budget."
                raise BudgetError(msg)
            rate = self._granted * self._size_share
            true_size = counter.rows() if self._size_from == "rows" else counter.total()
            noisy = self._noisy(np.array([true_size]), rate, "size")
            self._spend("size", rate, measured=False)
            self._for_counts -= rate
            self._size = Size(source=self._size_from, value=int(noisy[0]))
            if self._tell_size is not None:
                self._tell_size(self._size.value)
        return self._size.value

    def noisy_total(self, true_capped_total: int, *, cap: int, share: Fraction = TOTAL_SHARE) -> int:
        """The noisy number of records, capped per unit.

        Counts are scaled to it, or compared with it. It must be asked for before any count, and once.

        Privacy
        -------
        One unit changes the true number by at most `cap`: see `noisy_by_unit`.
        """
        if self._total is not None:
            msg = "the noisy total can be asked for once."
            raise BudgetError(msg)
        noisy = self.noisy_by_unit(np.array([true_capped_total]), change=cap, share=share, purpose=TOTAL)
        self._total = CappedTotal(value=int(noisy[0]), cap=cap)
        return self._total.value

    def noisy_by_unit(
        self, true_sums: NDArray[np.int64], *, change: int, share: Fraction, purpose: str
    ) -> NDArray[np.int64]:
        """Noisy sums over all records, kept or not.

        They must be asked for before anything is asked of kept records.

        Privacy
        -------
        One unit changes all sums together by at most `change`, so noise of rate ``share * ε / change`` costs it
        share · ε. The account holds one K-th of that, the price of one of the unit's K records.
        """
        if any(spend.purpose not in BY_USER for spend in self._spends):
            msg = f"{purpose} must be the first thing asked of a budget, before any count."
            raise BudgetError(msg)
        cost = self._granted * share
        noisy = self._noisy(true_sums, cost * self._max_per_unit / change, purpose)
        self._spend(purpose, cost, measured=False)
        self._for_counts -= cost
        return noisy

    def measure(self, true_counts: NDArray[np.int64], share: Fraction, *, purpose: str = "counts") -> NoisyValues:
        """Noisy counts of disjoint cells at ``share * epsilon``.

        A share of zero measures nothing.

        Privacy
        -------
        (share · ε)-DP: one record changes one of the counts by one.
        """
        if share < 0:
            msg = f"a share of the budget cannot be negative, got share={share}."
            raise ArgumentError(msg)
        if share == 0:
            return NoisyValues.nothing(len(true_counts))
        rate = self.charge(share, purpose=purpose, measured=True)
        return NoisyValues.at_one_rate(self._noisy(true_counts, rate, purpose), rate)

    def select(
        self,
        true_scores: NDArray[np.int64],
        allowed: NDArray[np.bool_],
        share: Fraction,
        *,
        purpose: str = "selection",
    ) -> NDArray[np.int64]:
        """Choose one candidate per row, by permute-and-flip.

        The result is the column of an allowed candidate for every row of integer scores.

        Privacy
        -------
        (share · ε)-DP if one record changes the scores of one row only, each of them by at most one.
        """
        rate = self.charge(share, purpose=purpose) / 2
        return self._draws(
            lambda: permute_and_flip(true_scores, allowed, rate=rate, bits=self._bits),
            (len(allowed),),
            purpose,
            rate,
            allowed,
        )

    def apart(self) -> "Budget":
        """What is left of the budget, for other records.

        It has an account of its own.

        Privacy
        -------
        Parallel composition: it costs nothing more if no record is counted under both, and if which records are counted
        under which depends on each record and on public values alone. What was spent so far is on both accounts.
        """
        other = copy(self)
        other._spends = list(self._spends)  # noqa: SLF001  # its own
        return other

    def charge(self, share: Fraction, *, purpose: str, measured: bool = False) -> Fraction:
        """Spend a share on a mechanism with its own proof.

        Returns the ε that it may cost one record.

        `measured` says whether it buys measurements that the release keeps.
        """
        rate = share * self._for_counts
        self._spend(purpose, rate, measured=measured)
        return rate

    def paths(self, share: Fraction, cells: int, *, purpose: str) -> PathBudget:
        """A share to spend along paths.

        Each path begins in one of `cells` disjoint cells.

        Privacy
        -------
        (share · ε)-DP on the terms of `PathBudget`: one record follows one path.
        """
        epsilon = self.charge(share, purpose=purpose, measured=True)
        return PathBudget(epsilon, cells, bits=self._bits, draws=self._draws)

    def perturb(self, true_values: NDArray[np.int64], rate: Fraction) -> NDArray[np.int64]:
        """Add noise of any rate to integers.

        The mechanism that releases them must have been charged for.

        Privacy
        -------
        None by itself: the proof of the mechanism says what this rate costs, and `charge` has it on the account. A
        journal keeps every noisy integer. Where the proof covers only their signs, use `decide`.
        """
        return self._noisy(true_values, rate, "perturbed")

    def decide(self, true_values: NDArray[np.int64], rate: Fraction) -> NDArray[np.bool_]:
        """Whether each integer plus noise is above zero.

        The noise may have any rate. The mechanism must have been charged for.

        Privacy
        -------
        None by itself, as with `perturb`. The noisy integers are forgotten at once: the proof covers the answers and
        nothing else, so a journal keeps the answers alone.
        """
        return self._draws(
            lambda: (add_noise(true_values, rate=rate, bits=self._bits) > 0).astype(np.int64),
            np.shape(true_values),
            "decisions",
            rate,
        ).astype(bool)

    def key(self, length: int) -> bytes:
        """Random bytes that choose which records are kept.

        They cost nothing.

        Privacy
        -------
        The guarantee holds for every single key, so it also holds against whoever reads this one in a journal.
        """
        words = length // WORD_BYTES
        drawn = self._draws(
            lambda: np.frombuffer(self._bits.integer(8 * length).to_bytes(length), "<i8"), (words,), "key"
        )
        return drawn.astype("<i8").tobytes()

    def claim(self) -> Claim:
        """The guarantee that follows from the spending."""
        return Claim(
            epsilon=self._spent * self._max_per_unit,
            unit=self._unit,
            max_per_unit=self._max_per_unit,
            spends=tuple(self._spends),
            size=self._size,
            max_cells=self._max_cells,
            simulation=self._bits.simulation,
            total=self._total,
        )

    def _noisy(self, true_values: NDArray[np.int64], rate: Fraction, purpose: str) -> NDArray[np.int64]:
        return self._draws(
            lambda: add_noise(true_values, rate=rate, bits=self._bits), np.shape(true_values), purpose, rate
        )

    @property
    def _spent(self) -> Fraction:
        return sum((spend.epsilon for spend in self._spends), Fraction(0))

    def _spend(self, purpose: str, rate: Fraction, *, measured: bool) -> None:
        if self._spent + rate > self._granted:
            msg = f"{purpose} would spend {rate}, but only {self._granted - self._spent} of {self._granted} is left."
            raise BudgetError(msg)
        self._spends.append(Spend(purpose=purpose, epsilon=rate, measured=measured))
