"""The law of the noise in counts that least squares found on a tree.

Such a count is a weighted sum of independent noise. Its variance and its fourth cumulant are exact, and together they
say how wide an interval is: the law lies between that of one Laplace noise and the normal law of very many.

Going up a tree, the estimate of a node v from itself and below has the error ``u_v = w_v e_v + (1 - w_v) U_v``: of its
own noise e, and of the sum U of its children's u. Going down, its final error is ``u_v + s_v (f_p - U_p)``, with the
final error f of its parent p and the share s of the surplus that it takes (`hushgrid.inference.least_squares`).
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.inference.least_squares import NodeEstimates, nodes_of_runs
from hushgrid.inference.measurements import Measurements


def fourth_cumulant(rate: Fraction) -> float:
    """Fourth cumulant of the discrete Laplace law.

    It is ``2 q (1 + 4 q + q**2) / (1 - q)**4`` with ``q = exp(-rate)``: twice the sum of ``k**3 q**k``.

    Examples
    --------
    >>> round(fourth_cumulant(Fraction(1)), 6)
    12.013026
    """
    q = math.exp(-float(rate))
    return 2 * q * (1 + 4 * q + q**2) / (-math.expm1(-float(rate))) ** 4


class NoiseLaw:
    """Noise of counts on a tree, and of their sums.

    Every leaf must have been measured.
    """

    def __init__(self, known: NodeEstimates, measurements: Measurements) -> None:
        tree = self._tree = known.tree
        self._variances, self._fourths = own_noise(known, measurements)
        measured = np.isfinite(self._variances)
        below = known.below_variances
        # Precisions add: the own one is this part of that of a node from itself and below.
        self._own_shares = np.where(measured, below / np.where(measured, self._variances, 1), 0)
        totals = np.bincount(tree.parents[1:], below[1:], minlength=tree.nodes)
        self._shares = np.concatenate([[0.0], below[1:] / totals[tree.parents[1:]]])

    @property
    def _levels(self) -> list[tuple[slice, Indices]]:
        """Nodes of each level below the root, and their parents."""
        levels = (slice(first, stop) for first, stop in pairwise(self._tree.levels.tolist()[1:]))
        return [(nodes, self._tree.parents[nodes]) for nodes in levels]

    def of_nodes(self, power: int) -> Floats:
        """Second or fourth cumulant of every node's final error.

        If the sum over a node's children has the weight a in the error of a child, relative to the child's share s of
        the surplus, that error is ``(1 + s a) u``, plus s times what comes from siblings and from above.
        """
        own = np.where(np.isfinite(self._variances), self._variances if power == 2 else self._fourths, 0)
        w, s, nodes = self._own_shares, self._shares, self._tree.nodes
        subtree, children = w**power * own, np.zeros(nodes)
        for here, above in reversed(self._levels):
            children += np.bincount(above, subtree[here], minlength=nodes)
            inner = np.unique(above)
            subtree[inner] += (1 - w[inner]) ** power * children[inner]
        weights, around, found = -w.copy(), np.zeros(nodes), subtree.copy()
        around[0] = w[0] ** power * own[0] + w[0] ** power * children[0]
        for here, above in self._levels:
            lean, share = 1 + s[here] * weights[above], s[here] ** power
            beside = share * (around[above] - weights[above] ** power * subtree[here])
            found[here] = lean**power * subtree[here] + beside
            weights[here] += (1 - w[here]) * s[here] * weights[above]
            around[here] = (w[here] * lean) ** power * own[here] + weights[here] ** power * children[here] + beside
        return found

    def of_sum(self, weights: Floats) -> tuple[float, float]:
        """Variance and fourth cumulant of a weighted sum of leaves."""
        final = np.zeros(self._tree.nodes)
        final[self._tree.leaves] = weights
        subtree = final.copy()
        for here, above in reversed(self._levels):
            final += np.bincount(above, final[here] * self._shares[here], minlength=len(final))
            subtree[here] = final[here] - final[above]
        subtree[0] = final[0]
        for here, above in self._levels:
            subtree[here] += subtree[above] * (1 - self._own_shares[above])
        own = subtree * self._own_shares
        measured = np.isfinite(self._variances)
        return float(own[measured] ** 2 @ self._variances[measured]), float(own**4 @ self._fourths)


def own_noise(known: NodeEstimates, measurements: Measurements) -> tuple[Floats, Floats]:
    """Variance and fourth cumulant of each node's own measurements, averaged by precision."""
    tree, regions = known.tree, measurements.regions
    nodes = np.concatenate([tree.leaves, nodes_of_runs(tree, regions.first, regions.stop)])
    parts = measurements.leaves, measurements.region_values
    precisions = 1 / np.concatenate([part.variances for part in parts])
    fourths = np.concatenate([np.array([*map(fourth_cumulant, part.rates), 0.0])[part.rate_index] for part in parts])
    totals = np.bincount(nodes, precisions, minlength=tree.nodes)
    shares = np.divide(precisions, totals[nodes], out=np.zeros_like(precisions), where=precisions > 0)
    with np.errstate(divide="ignore"):
        variances = 1 / totals
    return variances, np.bincount(nodes, shares**4 * fourths, minlength=tree.nodes).astype(np.float64)
