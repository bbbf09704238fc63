"""Belief propagation on a tree of splits: messages up, posterior means down.

A *site* is a node of a quadtree, or the west or east half of an inner node: site ``n`` is node n, sites
``nodes + 2 r`` and ``nodes + 2 r + 1`` are the halves of the inner node of rank r. An inner node is a split into its
halves, a half is a split into a southern and a northern child. A message is the likelihood of a site's mass, from
everything measured in and below it, at equidistant masses.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushgrid.kernels.compile import compiled

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

GRID = 20  # masses a message is tabulated at
TAIL = 20  # steps a message is continued for, on either side, before a sum over it
PADDED = GRID + 2 * TAIL
PLACES = 513  # shares a prior is tabulated at, closer together toward 0 and 1
MEANS = 19  # prior means .05, .10, ..., .95 it is tabulated for
SMALLEST_MASS = 1e-100  # a smaller one is split like none
DECAY = np.exp(-np.arange(TAIL + 1.0))


class Sites(NamedTuple):
    """Masses and messages of all sites."""

    lows: Floats  # first mass of a site's grid, shape (sites,)
    steps: Floats  # from one mass to the next, shape (sites,)
    deviations: Floats  # standard deviation of the site's mass from what is measured below, shape (sites,)
    messages: Floats  # shape (sites, GRID)


class Splits(NamedTuple):
    """The splits of one level of a tree."""

    inner: Indices  # inner nodes of the whole tree, by rank
    first_children: Indices  # of every node
    means: Floats  # prior mean of the first part's share: node's, west half's, east half's, shape (nodes, 3)
    tables: Floats  # prior's continuous part, cumulative, along x and y, shape (2, MEANS, PLACES)
    atoms: Floats  # weights along x and y: all in one part, exactly the mean, shape (2, 2)


class Counts(NamedTuple):
    """Measurements by node: those of node n lie from ``offsets[n]`` to ``offsets[n + 1]``."""

    offsets: Indices
    values: Floats
    rates: Floats


@compiled
def place_of_share(share: float) -> float:
    """Where a share lies in a table, between 0 and ``PLACES - 1``: like arcsin of its root, without the arcsin."""
    if share <= 0.5:
        return (PLACES - 1) * math.sqrt(max(share, 0.0) * 0.5)
    return (PLACES - 1) * (1 - math.sqrt(max(1 - share, 0.0) * 0.5))


@compiled
def read_table(table: Floats, place: float) -> float:
    """A tabulated function between its places, linearly; at its ends beyond them."""
    place = min(max(place, 0.0), len(table) - 1.0)
    before = min(int(place), len(table) - 2)
    value: float = table[before] + (place - before) * (table[before + 1] - table[before])
    return value


@compiled
def blend(table: Floats, mean: float, out: Floats) -> None:
    """The row of a prior's table for any mean."""
    place = min(max(mean * (MEANS + 1) - 1, 0.0), MEANS - 1.0)
    row = min(int(place), MEANS - 2)
    weight = place - row
    for share in range(PLACES):
        out[share] = (1 - weight) * table[row, share] + weight * table[row + 1, share]


@compiled
def pad(message: Floats, out: Floats) -> None:
    """A message and its tails, which fall by a factor of e a step."""
    for place in range(TAIL):
        out[place] = message[0] * DECAY[TAIL - place]
        out[TAIL + GRID + place] = message[GRID - 1] * DECAY[place + 1]
    for place in range(GRID):
        out[TAIL + place] = message[place]


@compiled
def weigh(
    mass: float,
    mean: float,
    cdf: Floats,
    atoms: Floats,
    near: Floats,
    near_low: float,
    near_step: float,
    far: Floats,
    far_low: float,
    far_step: float,
) -> tuple[float, float]:
    """Likelihood of a mass that is split into a near and a far part, and its product with the near part's mean.

    The near part's mass is summed over `GRID` cells of the range of its message, cut off at the mass to be split.
    """
    near_scale, far_scale = 1 / near_step, 1 / far_step
    near_shift, far_shift = TAIL - near_low * near_scale, TAIL - far_low * far_scale
    none = read_table(near, near_shift)
    if mass < SMALLEST_MASS:
        return none * read_table(far, far_shift), 0.0
    bottom = max(near_low - 0.5 * near_step, 0.0)
    top = min(near_low + (GRID - 0.5) * near_step, mass)
    if top <= bottom:
        bottom, top = max(mass - GRID * near_step, 0.0), mass
    width = (top - bottom) / GRID
    scale = 1 / mass
    likelihood, moment = 0.0, 0.0
    below = read_table(cdf, place_of_share(bottom * scale))
    for cell in range(GRID):
        part = bottom + (cell + 0.5) * width
        above = read_table(cdf, place_of_share((part + 0.5 * width) * scale))
        term = (above - below) * read_table(near, part * near_scale + near_shift)
        term *= read_table(far, (mass - part) * far_scale + far_shift)
        likelihood += term
        moment += term * part
        below = above
    everything = atoms[0] * mean * read_table(near, mass * near_scale + near_shift) * read_table(far, far_shift)
    nothing = atoms[0] * (1 - mean) * none * read_table(far, mass * far_scale + far_shift)
    part = mean * mass
    exactly = atoms[1] * read_table(near, part * near_scale + near_shift)
    exactly *= read_table(far, (mass - part) * far_scale + far_shift)
    return likelihood + everything + nothing + exactly, moment + everything * mass + exactly * part


@compiled
def gather(sites: Sites, site: int, parts: tuple[int, int], prior: tuple[float, Floats, Floats], kappa: float) -> None:
    """Message of a site from those of its two parts; `prior` is its mean, its table and its atoms.

    Without the power `kappa` of the mass, sums of many sites would come out too low (docs/staq-inference.md).
    """
    cdf, near, far = np.empty(PLACES), np.empty(PADDED), np.empty(PADDED)
    first, second, mean = ready(sites, parts, prior, cdf, near, far)
    for place in range(GRID):
        mass = sites.lows[site] + place * sites.steps[site]
        likelihood, _ = weigh(
            mass, mean, cdf, prior[2],
            near, sites.lows[first], sites.steps[first], far, sites.lows[second], sites.steps[second],
        )  # fmt: skip
        sites.messages[site, place] = likelihood * (mass + sites.deviations[site]) ** kappa


@compiled
def ready(
    sites: Sites, parts: tuple[int, int], prior: tuple[float, Floats, Floats], cdf: Floats, near: Floats, far: Floats
) -> tuple[int, int, float]:
    """Parts in the order to sum them in, the one with the finer grid first, and the prior mean of that one's share."""
    (first, second), mean = parts, prior[0]
    if sites.steps[second] < sites.steps[first]:
        first, second, mean = second, first, 1 - mean
    blend(prior[1], mean, cdf)
    pad(sites.messages[first], near)
    pad(sites.messages[second], far)
    return first, second, mean


@compiled
def divided(sites: Sites, mass: float, parts: tuple[int, int], prior: tuple[float, Floats, Floats]) -> float:
    """Posterior mean of the first part's mass, given the mass of both."""
    cdf, near, far = np.empty(PLACES), np.empty(PADDED), np.empty(PADDED)
    first, second, mean = ready(sites, parts, prior, cdf, near, far)
    likelihood, moment = weigh(
        mass, mean, cdf, prior[2],
        near, sites.lows[first], sites.steps[first], far, sites.lows[second], sites.steps[second],
    )  # fmt: skip
    part = min(moment / likelihood, mass) if likelihood > 0 else mean * mass
    return part if first == parts[0] else mass - part


@compiled
def observe(sites: Sites, node: int, counts: Counts) -> None:
    """Multiply a node's message by the likelihoods of its own counts, and scale its largest value to one."""
    message = sites.messages[node]
    logs = np.zeros(GRID)
    for place in range(GRID):
        mass = sites.lows[node] + place * sites.steps[node]
        for number in range(counts.offsets[node], counts.offsets[node + 1]):
            logs[place] -= counts.rates[number] * abs(counts.values[number] - mass)
    message *= np.exp(logs - logs.max())
    rescale(message)


@compiled
def rescale(message: Floats) -> None:
    """Scale the largest value to one; a message without any says nothing."""
    largest = message.max()
    message[:] = message / largest if largest > 0 else np.ones(GRID)


@compiled
def observe_leaves(leaves: Indices, first: int, stop: int, sites: Sites, counts: Counts) -> None:
    """Messages of leaves: the likelihoods of their own counts."""
    for number in range(first, stop):
        sites.messages[leaves[number]] = 1.0
        observe(sites, leaves[number], counts)


@compiled
def send_up(first: int, stop: int, sites: Sites, splits: Splits, counts: Counts, kappa: float) -> None:
    """Messages of the inner nodes of ranks `first` to `stop` and of their halves, from those of their children."""
    nodes = len(splits.first_children)
    for rank in range(first, stop):
        node = splits.inner[rank]
        child, west = splits.first_children[node], nodes + 2 * rank
        for side in range(2):
            prior = (splits.means[node, 1 + side], splits.tables[1], splits.atoms[1])
            gather(sites, west + side, (child + side, child + 2 + side), prior, kappa)
            rescale(sites.messages[west + side])
        gather(sites, node, (west, west + 1), (splits.means[node, 0], splits.tables[0], splits.atoms[0]), kappa)
        observe(sites, node, counts)


@compiled
def send_down(first: int, stop: int, sites: Sites, splits: Splits, masses: Floats) -> None:
    """Posterior means of the sites below the inner nodes of ranks `first` to `stop`, given the masses of these."""
    nodes = len(splits.first_children)
    for rank in range(first, stop):
        node = splits.inner[rank]
        child, west = splits.first_children[node], nodes + 2 * rank
        prior = (splits.means[node, 0], splits.tables[0], splits.atoms[0])
        masses[west] = divided(sites, masses[node], (west, west + 1), prior)
        masses[west + 1] = masses[node] - masses[west]
        for side in range(2):
            prior = (splits.means[node, 1 + side], splits.tables[1], splits.atoms[1])
            masses[child + side] = divided(sites, masses[west + side], (child + side, child + 2 + side), prior)
            masses[child + 2 + side] = masses[west + side] - masses[child + side]
