"""How nodes split: what neighbours predict, what measurements say.

A node's neighbourhood is nine nodes in rows from south to north of columns from west to east, itself in the middle.
"""

import math

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled

OUTSIDE = -1  # stands for a missing neighbour
WHOLE = -1  # in place of a half, west 0 or east 1
POINTS = 12  # of the midpoint rule
REACH = 4.0  # standard deviations of the likelihood that the rule covers
CONCENTRATIONS = (0.5, 1.0, 3.0, 10.0, 40.0, 200.0)  # A of the Beta(2 A m, 2 A (1 - m)) of the prior, m its mean
COMPONENTS = 2 + len(CONCENTRATIONS)  # all to one side, exactly the mean, the Betas
NEAREST_MEAN = 0.01  # to 0 and to 1, of a prior
UNINFORMED = 1e100  # a larger standard deviation of a share says nothing
NOTHING, CERTAIN = 1e-3, 0.01  # points: mass below the first is none where noise is below the second
LEAST_AROUND = 1e-6  # points in a neighbourhood, below which it leans nowhere
SMALLEST_SPREAD = 1e-12  # standard deviation of a share at least: rounding errors stay far below


@compiled
def find_neighbours(first_children: Indices, child_counts: Indices, neighbours: NDArray[np.int32]) -> None:
    """Find the neighbourhood of every node.

    Neighbours are nodes of its own level or, where there is none, the leaf that lies there.
    """
    for place in range(9):
        neighbours[0, place] = OUTSIDE
    neighbours[0, 4] = 0
    for node in range(len(first_children)):
        if child_counts[node] == 0:
            continue
        for place in range(4):
            child = first_children[node] + place
            for offset in range(9):
                row, column = (place >> 1) + offset // 3 - 1, (place & 1) + offset % 3 - 1
                near = neighbours[node, 3 * ((row >> 1) + 1) + (column >> 1) + 1]
                if near != OUTSIDE and child_counts[near] > 0:
                    near = first_children[near] + 2 * (row & 1) + (column & 1)
                neighbours[child, offset] = near


@compiled
def lean(low: float, own: float, high: float) -> float:
    """How far mass leans to the low side.

    It is 1 where all mass is on that side, and -1 where all is on the high side.
    """
    total = low + high + 2 * own
    return (low - high) / total if total > LEAST_AROUND else 0.0


@compiled
def fill_beyond(around: Floats) -> None:
    """Let places at the border count again beyond the domain.

    Number by number: slices take seconds to compile.
    """
    for edge in range(0, 3, 2):
        if around[edge, 1] == OUTSIDE:
            for place in range(3):
                around[edge, place] = around[1, place]
    for edge in range(0, 3, 2):
        if around[1, edge] == OUTSIDE:
            for place in range(3):
                around[place, edge] = around[place, 1]


@compiled
def look_around(
    node: int,
    half: int,
    neighbours: NDArray[np.int32],
    depths: Indices,
    child_counts: Indices,
    masses: Floats,
    half_masses: Floats,
    out: Floats,
) -> None:
    """Mass on nine places around a node, shape (3, 3).

    Places have the node's size, or a half's where one half is asked about.
    """
    for offset in range(9):
        row, column, side = offset // 3, offset % 3, half
        if half != WHOLE:
            position = half + column - 1  # in halves, from the west half of the node
            column, side = 1 + (position >> 1), position & 1
        near = neighbours[node, 3 * row + column]
        if near == OUTSIDE:
            out[row, offset % 3] = OUTSIDE
        elif half != WHOLE and child_counts[near] > 0:
            out[row, offset % 3] = half_masses[near, side]
        else:
            mass = masses[near] / 4.0 ** (depths[node] - depths[near])
            out[row, offset % 3] = mass if half == WHOLE else mass / 2
    fill_beyond(out)


@compiled
def foretell_across(
    nodes: Indices,
    neighbours: NDArray[np.int32],
    depths: Indices,
    child_counts: Indices,
    masses: Floats,
    half_masses: Floats,
    features: Floats,
) -> None:
    """Features of the split into west and east.

    The first is the lean of the node's own row, the second that of the rows beside it.
    """
    around = np.empty((3, 3))
    for index, node in enumerate(nodes):
        look_around(node, WHOLE, neighbours, depths, child_counts, masses, half_masses, around)
        features[index, 0] = lean(around[1, 0], around[1, 1], around[1, 2])
        features[index, 1] = lean(around[0, 0] + around[2, 0], around[0, 1] + around[2, 1], around[0, 2] + around[2, 2])


@compiled
def foretell_along(
    nodes: Indices,
    neighbours: NDArray[np.int32],
    depths: Indices,
    child_counts: Indices,
    masses: Floats,
    half_masses: Floats,
    features: Floats,
) -> None:
    """Features of the halves' splits into south and north.

    Of each node, the west half comes first. A half's first feature is the lean of its own column, its second that of
    the columns beside it.
    """
    around = np.empty((3, 3))
    for index, node in enumerate(nodes):
        for half in range(2):
            look_around(node, half, neighbours, depths, child_counts, masses, half_masses, around)
            features[2 * index + half, 0] = lean(around[0, 1], around[1, 1], around[2, 1])
            features[2 * index + half, 1] = lean(
                around[0, 0] + around[0, 2], around[1, 0] + around[1, 2], around[2, 0] + around[2, 2]
            )


@compiled
def observe_shares(masses: Floats, sums: Floats, variances: Floats, shares: Floats, spreads: Floats) -> None:
    """Measured share of each first part, with its deviation.

    The best estimate of a part a, given the mass x of both, is ``Za + (x - Za - Zb) Va / (Va + Vb)`` with variance
    ``Va Vb / (Va + Vb)``. Where nothing is known the standard deviation is infinite. So it is where nearly certain
    counts leave next to no mass: its few digits are rounding errors, and nothing should be learned from them.
    """
    for split in range(len(masses)):
        mass, first, second = masses[split], sums[split, 0], sums[split, 1]
        va, vb = variances[split, 0], variances[split, 1]
        if va == math.inf:
            part, variance = mass - second, vb
        elif vb == math.inf:
            part, variance = first, va
        else:
            part, variance = first + (mass - first - second) * (va / (va + vb)), va * (vb / (va + vb))
        shares[split], spreads[split] = 0.5, math.inf
        deviation = math.sqrt(variance)
        empty = mass < NOTHING and deviation < CERTAIN
        if not empty and max(abs(part), deviation) < UNINFORMED * mass:
            shares[split], spreads[split] = part / mass, max(deviation / mass, SMALLEST_SPREAD)


@compiled
def tabulate_log_norms(log_norms: Floats) -> None:
    """Logarithms of the Betas' constants, shape (means, 6).

    Means are evenly spaced.
    """
    for row in range(len(log_norms)):
        mean = NEAREST_MEAN + (1 - 2 * NEAREST_MEAN) * row / (len(log_norms) - 1)
        for component, concentration in enumerate(CONCENTRATIONS):
            a, b = 2 * concentration * mean, 2 * concentration * (1 - mean)
            log_norms[row, component] = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)


@compiled
def weigh_components(
    shares: Floats, spreads: Floats, means: Floats, log_norms: Floats, evidence: Floats, moments: Floats
) -> None:
    """How well each prior component explains each share.

    Also fills `moments`: that evidence, times the component's posterior mean of the true share.

    The likelihood is Gaussian; a factor that is the same for all components of a split is left out. Integrals over the
    Betas are by the midpoint rule on the part of 0 to 1 where the likelihood is above ``exp(-REACH**2 / 2)`` of its
    largest value. The constants of the Betas are interpolated.
    """
    for split in range(len(shares)):
        share, spread, mean = shares[split], spreads[split], means[split]
        if spread == math.inf:
            for component in range(COMPONENTS):
                evidence[split, component] = 1.0
                moments[split, component] = mean
            continue
        nearest = min(max(share, 0.0), 1.0)
        miss = share - nearest
        wide = (REACH * spread) ** 2
        reach = wide / (math.sqrt(miss**2 + wide) + abs(miss))
        below, above = min(reach, nearest), min(reach, 1 - nearest)
        step = (below + above) / POINTS
        for component in range(COMPONENTS):
            evidence[split, component] = 0.0
            moments[split, component] = 0.0
        # A Gaussian at equidistant places: each ratio of neighbours is the one before times a constant.
        offset, precision = 0.5 * step - below, 1 / spread**2
        density = likelihood(offset, miss, spread)
        ratio = math.exp(step * (miss - offset - 0.5 * step) * precision)
        decline = math.exp(-step * step * precision)
        for point in range(POINTS):
            # The share and its complement, each precise near zero.
            s = (nearest - below) + (point + 0.5) * step
            rest = (1 - nearest - above) + (POINTS - point - 0.5) * step
            weight = step / (s * rest) * density
            # Beta(2 A m, 2 A (1 - m)) is this power of 2 A, over s (1 - s) and a constant.
            base = math.exp(mean * math.log(s) + (1 - mean) * math.log(rest))
            second = base * base
            sixth = second * second * second
            twentieth = sixth * sixth * sixth * second
            eightieth = (twentieth * twentieth) ** 2
            powers = (base, second, sixth, twentieth, eightieth, eightieth * (eightieth * eightieth) ** 2)
            for component in range(len(CONCENTRATIONS)):
                term = weight * powers[component]
                evidence[split, 2 + component] += term
                moments[split, 2 + component] += term * s
            density *= ratio
            ratio *= decline
        place = (mean - NEAREST_MEAN) / (1 - 2 * NEAREST_MEAN) * (len(log_norms) - 1)
        row = min(max(int(place), 0), len(log_norms) - 2)
        for component in range(len(CONCENTRATIONS)):
            before, after = log_norms[row, component], log_norms[row + 1, component]
            norm = math.exp(before + (place - row) * (after - before))
            evidence[split, 2 + component] *= norm
            moments[split, 2 + component] *= norm
        moments[split, 0] = mean * likelihood(1 - nearest, miss, spread)
        evidence[split, 0] = (1 - mean) * likelihood(-nearest, miss, spread) + moments[split, 0]
        evidence[split, 1] = likelihood(mean - nearest, miss, spread)
        moments[split, 1] = mean * evidence[split, 1]


@compiled
def likelihood(offset: float, miss: float, spread: float) -> float:
    """Relative Gaussian likelihood of a true share.

    It is relative to that of the nearest share: the one from 0 to 1 that is nearest to the observed share.

    The true share lies by `offset` above the nearest one, the observed by `miss`, which is zero if it is from 0 to 1.
    """
    # miss**2 - (miss - offset)**2, as a product that never rounds to above zero.
    return math.exp(offset * (2 * miss - offset) / (2 * spread**2))
