"""A budget whose releases owe nothing to the data, to find out what else does."""

from fractions import Fraction

import numpy as np

from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.paths import PathBudget


class Script:
    """Integers that look like counts: many small, some large, the first of each array always."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def __call__(self, shape):
        """The next array."""
        values = self._rng.choice([-1000, -3, 1000], shape, p=[0.3, 0.4, 0.3])
        values.flat[:1] = 1000
        return values


class ScriptedPaths(PathBudget):
    """Measures the script in place of the data."""

    def __init__(self, script, *args, **options):
        super().__init__(*args, **options)
        self._script = script

    def measure(self, true_counts, units):
        """As many values as there are counts."""
        return super().measure(self._script(len(true_counts)), units)


class ScriptedBudget(Budget):
    """A budget that reads the shape of what is true, and nothing else; noise of a seed is added as ever."""

    def __init__(self, seed, epsilon=Fraction(1), **options):
        super().__init__(epsilon, bits=simulation_rng(seed), **options)
        self._script = Script(seed)

    def noisy_size(self, counter):
        """Of five thousand points."""
        return super().noisy_size(_Points(5000))

    def measure(self, true_counts, share, **options):
        """As many values as there are counts."""
        return super().measure(self._script(len(true_counts)), share, **options)

    def select(self, true_scores, allowed, share, **options):
        """As many candidates as there are scores."""
        return super().select(self._script(true_scores.shape), allowed, share, **options)

    def perturb(self, true_values, rate):
        """As many values as there are true ones."""
        return super().perturb(self._script(true_values.shape), rate)

    def decide(self, true_values, rate):
        """As many decisions as there are true values."""
        return super().decide(self._script(true_values.shape), rate)

    def paths(self, share, cells, *, purpose):
        """Paths that are measured from the same script."""
        rate = self.charge(share, purpose=purpose, measured=True)
        return ScriptedPaths(self._script, rate, cells, bits=self._bits)


class _Points:
    """A number of points, the same wherever they are counted."""

    def __init__(self, size):
        self._size = size

    def rows(self):
        """Rows of the table."""
        return self._size

    def total(self):
        """Points in the domain."""
        return self._size
