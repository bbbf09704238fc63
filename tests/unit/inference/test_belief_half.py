"""The mean of belief propagation and least squares, and a density with negative leaves."""

import numpy as np

from hushgrid.answering.sloped_trees import SlopedSurface
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.methods.staq import AimedQuadtree
from hushgrid.planning.population import population
from tests.quadtrees import complete_quadtree
from tests.unit.methods.test_aimed import released


def test_it_is_the_mean_of_both():
    """Leaf by leaf, with negative ones among them."""
    synopsis = released(AimedQuadtree(level=6), population(3000, 0.2, seed=1))
    evidence = Evidence(synopsis.partition, synopsis.measurements)
    both = [INFERENCES[name].counts(evidence) for name in ("belief-2", "least-squares")]

    assert synopsis.inference == "belief-half"
    assert np.allclose(synopsis.counts, np.mean(both, axis=0))
    assert synopsis.counts.min() < 0 <= both[0].min()


def test_negative_leaves_count_as_they_are():
    """By tables of corners, for many rectangles, as one by one; and their slopes are those of no points."""
    tree = complete_quadtree(3)
    rng = np.random.default_rng(2)
    counts = rng.normal(1, 5, tree.cells)
    surface = SlopedSurface.of(Evidence(tree, Measurements.of_leaves(NoisyValues.nothing(tree.cells))), counts)
    low = rng.random((3000, 2)) * 0.7
    west, south, east, north = tree.domain.bounds
    sides = np.array([east - west, north - south] * 2)
    rects = np.hstack([low, low + 0.3 * rng.random((3000, 2))]) * sides + [west, south, west, south]
    together = surface.counts(rects)

    assert together.min() < 0
    assert np.allclose(together[:200], [surface.counts(rect[None])[0] for rect in rects[:200]])
