"""A partition and its measurements, solved once."""

from dataclasses import dataclass
from functools import cached_property

from hushgrid.arrays import Floats
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.partition import Structure
from hushgrid.geometry.tree import Tree
from hushgrid.inference.least_squares import NodeEstimates, solve
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.splits import SplitFit, bayes_masses


@dataclass(eq=False)
class Evidence:
    """A partition and its measurements.

    What follows from both is found once and kept, unless it is large.
    """

    partition: Structure
    measurements: Measurements

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

        They are large and not kept, but for the weights of the priors.
        """
        fit = bayes_masses(self.nodes)
        self.prior_weights = fit.prior_weights
        return fit
