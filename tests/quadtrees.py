"""Quadtrees of any shape, with measurements and truths, for tests of their inference."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from hushgrid.geometry.tree import Lattice, divide, full_tree, grow, seedling
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import NoisyValues
from tests.plain import UNIT_SQUARE

LATTICE = Lattice(domain=UNIT_SQUARE, columns=2**16, rows=2**16)


def complete_quadtree(depth):
    """The quadtree whose leaves are all of one level."""
    return full_tree(LATTICE, [(2, 2)] * depth)


def random_quadtree(rng, *, depth, chance):
    """A quadtree whose nodes are divided with a chance, down to a depth."""
    tree = seedling(LATTICE)
    for _ in range(depth):
        last = np.arange(*tree.levels[-2:])
        nodes = last[rng.random(len(last)) < chance]
        tree = grow(tree, nodes, np.full((len(nodes), 2), 2), divide(tree.boxes[nodes], 2, 2))
    return tree


def node_sums(tree, leaf_values):
    """For every node the sum over its leaves, which come in leaf order."""
    first, stop = tree.runs
    return np.array([leaf_values[low:high].sum() for low, high in zip(first, stop, strict=True)])


def measured(tree, nodes, values, rates):
    """Measurements of nodes, each with its value and its rate."""
    index = np.arange(len(values), dtype=np.int32)
    return measurements_of_nodes(
        tree,
        np.asarray(nodes),
        NoisyValues(values=np.asarray(values, np.int64), rates=tuple(map(Fraction, rates)), rate_index=index),
    )


def noisy(tree, leaf_counts, rate, rng, *, from_level=1):
    """Every node from a level down measured at one rate, with noise from a seeded stream."""
    nodes = np.arange(tree.levels[from_level] if len(tree.levels) > from_level + 1 else 0, tree.nodes)
    keep = 1 - np.exp(-float(rate))
    noise = rng.geometric(keep, len(nodes)) - rng.geometric(keep, len(nodes))
    sums = node_sums(tree, leaf_counts)[nodes] + noise
    return measurements_of_nodes(tree, nodes, NoisyValues.at_one_rate(sums.astype(np.int64), Fraction(rate)))


@st.composite
def measured_quadtrees(draw):
    """A quadtree with any nodes measured at any rates, some several times, some not at all; counts of any sign."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tree = random_quadtree(rng, depth=draw(st.integers(0, 5)), chance=draw(st.sampled_from([0.4, 0.7, 1])))
    nodes = rng.integers(0, tree.nodes, draw(st.integers(0, 3 * tree.nodes)))
    scale = draw(st.sampled_from([0, 3, 1000, 10**9]))
    values = rng.integers(-scale, 3 * scale, len(nodes), endpoint=True)
    rates = [Fraction(1, 1000), Fraction(1, 10), Fraction(2), Fraction(100), Fraction(10**6)]
    index = rng.integers(0, len(rates), len(nodes)).astype(np.int32)
    return tree, measurements_of_nodes(tree, nodes, NoisyValues(values=values, rates=tuple(rates), rate_index=index))
