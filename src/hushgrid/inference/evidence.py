"""A partition and its measurements, solved once."""

from dataclasses import dataclass, field
from functools import cached_property

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.partition import Structure
from hushgrid.geometry.tree import Tree
from hushgrid.inference.least_squares import NodeEstimates, measured_nodes, measured_tree, solve
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.splits import SplitFit, bayes_masses

MOST_KEPT = 2**19  # nodes of a tree whose masses are kept: they take 100 bytes each


@dataclass(eq=False)
class Evidence:
    """A partition and its measurements, and a public prior if there is one.

    What follows from them is found once and kept, unless it is large.

    Parameters
    ----------
    prior : array of int, shape (leaves,), optional
        Evidence of a public prior in each leaf of a quadtree, as `hushgrid.inference.pooled` has it.
    """

    partition: Structure
    measurements: Measurements
    prior: Indices | None = None
    _fit: SplitFit | None = field(default=None, init=False, repr=False)

    @cached_property
    def measured(self) -> "Evidence":
        """The same measurements on the tree that they reach.

        With a public prior, leaves are divided further than anything was measured.
        """
        if self.prior is None:
            return self
        assert isinstance(self.partition, Tree)
        return Evidence(*measured_tree(self.partition, self.measured_nodes, self.measurements))

    @cached_property
    def measured_nodes(self) -> Indices:
        """Which nodes of a tree are those of the measured one."""
        assert isinstance(self.partition, Tree)
        return measured_nodes(self.partition, self.measurements)

    @cached_property
    def nodes(self) -> NodeEstimates:
        """Least-squares estimates of all nodes of a tree, or of areas in levels."""
        partition = self.partition
        assert isinstance(partition, Tree | AreaPartition)
        return solve(partition.branches if isinstance(partition, AreaPartition) else partition, self.measurements)

    @cached_property
    def prior_weights(self) -> Floats:
        """What the splits of a quadtree teach, as `SplitFit` has it."""
        return self.fit_splits().prior_weights

    def fit_splits(self) -> SplitFit:
        """Masses of a quadtree and their priors.

        Of large trees, only the weights of the priors are kept.
        """
        if self.prior is not None:
            return self.measured.fit_splits()
        if self._fit is not None:
            return self._fit
        fit = bayes_masses(self.nodes)
        self.prior_weights = fit.prior_weights
        if self.nodes.tree.nodes <= MOST_KEPT:
            self._fit = fit
        return fit
