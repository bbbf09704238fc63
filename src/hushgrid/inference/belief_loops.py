"""Belief propagation: messages up, posterior means down.

A *site* is a node of a quadtree, or the west or east half of an inner node: site ``n`` is node n, sites
``nodes + 2 r`` and ``nodes + 2 r + 1`` are the halves of the inner node of rank r. An inner node is a split into its
halves, a half is a split into a southern and a northern child. A message is the likelihood of a site's mass, from
everything measured in and below it, at equidistant masses.

Processors differ in how they round the last digit, and a release must come out the same on all of them (decision 10).
So nothing here may depend on the last digit: grids with nearly equal steps count as equal.
"""

import math
from typing import NamedTuple

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled

GRID = 14  # masses a message is tabulated at
TAIL = 14  # steps a message is continued for, on either side, before a sum over it
PADDED = GRID + 2 * TAIL
PLACES = 513  # evenly spaced shares that a prior is tabulated at
MEANS = 19  # prior means .05, .10, ..., .95 it is tabulated for
SMALLEST_MASS = 1e-100  # a smaller mass is split like this one
FINER = 1 - 1e-6  # a grid's step relative to another's, below which it is the finer one
RATIOS = 1024  # rows of the table of powers
LARGEST_RATIO = 0.63  # of a grid's step to its first mass and its deviation, above 8 / 13
DECAY = np.exp(-np.arange(TAIL + 1.0))
LOGITS = 25  # prior means that a second family of laws is tabulated for, evenly spaced as logits
FARTHEST_LOGIT = 6.0


class Second(NamedTuple):
    """A second family of laws, around other means.

    Splits are in bins. In each, the first family has what weight the second leaves.
    """

    means: Floats  # as those of `Splits`, shape (nodes, 3)
    bins: Indices  # shape (nodes, 3)
    tables: Floats  # continuous part, cumulative, shape (2, bins, LOGITS, PLACES)
    one_sided: Floats  # weight of all in one part, shape (2, bins)
    others: Floats  # weight of the first family, shape (2, bins)


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
    """Measurements, sorted by node.

    Those of node n lie from ``offsets[n]`` to ``offsets[n + 1]``.
    """

    offsets: Indices
    values: Floats
    rates: Floats


class Split(NamedTuple):
    """A division in two parts, and its prior.

    Sums run over the near part, the one with the finer grid; the far part has the rest of the mass.
    """

    near_low: float
    near_step: float
    near_scale: float  # one over the step
    far_low: float
    far_scale: float
    mean: float  # of the near part's share, in the prior
    everything: float  # prior weight: all of the mass in the near part
    nothing: float  # prior weight: none of it
    exact: float  # prior weight: the near part's share is exactly the mean
    near_empty: float  # near part's message at no mass
    far_empty: float


class Room(NamedTuple):
    """Scratch arrays that one thread reuses between sites."""

    cdf: Floats  # row of a prior's table for one mean, shape (PLACES + 1,)
    near: Floats  # messages with their tails, shape (PADDED + 1,)
    far: Floats
    logs: Floats  # shape (GRID,)


def powers_of_masses(kappa: float) -> Floats:
    """Table of powers ``(1 + ratio k) ** kappa``, k below GRID.

    There is a row for each ratio from 0 to LARGEST_RATIO.
    """
    ratios = np.arange(RATIOS + 1) / RATIOS * LARGEST_RATIO
    return np.asarray((1 + ratios[:, None] * np.arange(GRID)) ** kappa)


@compiled
def make_room() -> Room:
    """Make the scratch arrays of one thread."""
    return Room(np.empty(PLACES + 1), np.empty(PADDED + 1), np.empty(PADDED + 1), np.empty(GRID))


@compiled
def read_table(table: Floats, place: float) -> float:
    """Interpolate a table linearly at a place.

    The table has one extra entry, so that its last place can be read too.
    """
    before = np.int32(place)
    here = np.uintp(before)  # unsigned, so that negative indices need no check
    value, following = table[here], table[here + np.uintp(1)]
    return float(value + (place - before) * (following - value))


@compiled
def read_message(message: Floats, place: float) -> float:
    """Interpolate a padded message at a place, or at its end."""
    place = place if place > 0.0 else 0.0
    return read_table(message, place if place < PADDED - 1.0 else PADDED - 1.0)


@compiled
def blend(table: Floats, axis: int, mean: float, out: Floats) -> None:
    """Interpolate an axis's table to any mean, shape (PLACES + 1,)."""
    place = min(max(mean * (MEANS + 1) - 1, 0.0), MEANS - 1.0)
    row = min(int(place), MEANS - 2)
    weight = place - row
    for share in range(PLACES):
        out[share] = (1 - weight) * table[axis, row, share] + weight * table[axis, row + 1, share]
    out[PLACES] = out[PLACES - 1]


@compiled
def blend_second(second: Second, axis: int, group: int, mean: float, out: Floats) -> None:
    """Add the second family to a first one that is blended, in proportion."""
    place = min(max((math.log(mean / (1 - mean)) / FARTHEST_LOGIT + 1) * ((LOGITS - 1) / 2), 0.0), LOGITS - 1.0)
    row = min(int(place), LOGITS - 2)
    weight, others = place - row, second.others[axis, group]
    for share in range(PLACES):
        before, after = second.tables[axis, group, row, share], second.tables[axis, group, row + 1, share]
        out[share] = others * out[share] + (1 - weight) * before + weight * after
    out[PLACES] = out[PLACES - 1]


@compiled
def pad(messages: Floats, site: int, out: Floats) -> None:
    """Pad a site's message with tails that fall by e a step."""
    first, last = messages[site, 0], messages[site, GRID - 1]
    for place in range(TAIL):
        out[place] = first * DECAY[TAIL - place]
        out[TAIL + GRID + place] = last * DECAY[place + 1]
    for place in range(GRID):
        out[TAIL + place] = messages[site, place]
    out[PADDED] = out[PADDED - 1]


@compiled
def prepare(
    sites: Sites, first: int, second: int, node: int, number: int, splits: Splits, family: Second | None, room: Room
) -> tuple[Split, bool]:
    """Make one of a node's three splits ready to be summed over.

    Also returns whether the near part is the second one.
    """
    mean, axis = splits.means[node, number], min(number, 1)
    swapped = sites.steps[second] < sites.steps[first] * FINER
    if swapped:
        first, second, mean = second, first, 1 - mean
    blend(splits.tables, axis, mean, room.cdf)
    everything, nothing = splits.atoms[axis, 0] * mean, splits.atoms[axis, 0] * (1 - mean)
    exact = splits.atoms[axis, 1]
    if family is not None:  # numba leaves this out where it is
        group, other = family.bins[node, number], family.means[node, number]
        other = 1 - other if swapped else other
        blend_second(family, axis, group, other, room.cdf)
        one_sided, others = family.one_sided[axis, group], family.others[axis, group]
        everything = others * everything + one_sided * other
        nothing = others * nothing + one_sided * (1 - other)
        exact *= others
    pad(sites.messages, first, room.near)
    pad(sites.messages, second, room.far)
    near_step, far_step = sites.steps[first], sites.steps[second]
    split = Split(
        sites.lows[first],
        near_step,
        1 / near_step,
        sites.lows[second],
        1 / far_step,
        mean,
        everything,
        nothing,
        exact,
        read_message(room.near, TAIL - sites.lows[first] / near_step),
        read_message(room.far, TAIL - sites.lows[second] / far_step),
    )
    return split, swapped


@compiled
def weigh(mass: float, split: Split, cdf: Floats, near: Floats, far: Floats) -> tuple[float, float]:
    """Likelihood of a mass, and that times the near part's mean.

    Under the continuous part of the prior it is a sum over equal cells of the near part's mass, of the prior's
    probability of a cell times both messages at its middle. The cells cover the range of the near message, cut off at
    the mass to be split. The prior's atoms put all of the mass in one part, or split it exactly at the mean.
    """
    near_low, near_step, near_scale, far_low, far_scale, mean, all_near, none_near, exact, near_empty, far_empty = split
    bottom = max(near_low - 0.5 * near_step, 0.0)
    top = min(near_low + (GRID - 0.5) * near_step, mass)
    if top <= bottom:
        bottom, top = max(mass - GRID * near_step, 0.0), mass
    width, scale = (top - bottom) * (1 / GRID), (PLACES - 1) / mass
    share, step = bottom * scale, width * scale
    middle = bottom + 0.5 * width
    near_place, near_move = (middle - near_low) * near_scale + TAIL, width * near_scale
    far_place, far_move = (mass - middle - far_low) * far_scale + TAIL, width * far_scale
    likelihood, moment = 0.0, 0.0
    below = read_table(cdf, share)
    for cell in range(GRID):
        above = read_table(cdf, min(share + (cell + 1) * step, PLACES - 1.0))
        term = (above - below) * read_message(near, near_place + cell * near_move)
        term *= read_message(far, far_place - cell * far_move)
        likelihood += term
        moment += term * cell
        below = above
    moment = likelihood * middle + moment * width
    part = mean * mass
    everything = all_near * read_message(near, (mass - near_low) * near_scale + TAIL) * far_empty
    nothing = none_near * near_empty * read_message(far, (mass - far_low) * far_scale + TAIL)
    exactly = exact * read_message(near, (part - near_low) * near_scale + TAIL)
    exactly *= read_message(far, (mass - part - far_low) * far_scale + TAIL)
    return likelihood + everything + nothing + exactly, moment + everything * mass + exactly * part


@compiled
def observe(sites: Sites, node: int, counts: Counts, logs: Floats) -> None:
    """Multiply a node's message by its counts' likelihoods.

    Then its largest value is scaled to one.
    """
    largest = -math.inf
    for place in range(GRID):
        mass = sites.lows[node] + place * sites.steps[node]
        log = 0.0
        for number in range(counts.offsets[node], counts.offsets[node + 1]):
            log -= counts.rates[number] * abs(counts.values[number] - mass)
        logs[place] = log
        largest = max(largest, log)
    for place in range(GRID):
        sites.messages[node, place] *= math.exp(logs[place] - largest)
    rescale(sites.messages, node)


@compiled
def rescale(messages: Floats, site: int) -> None:
    """Scale a message's largest value to one.

    A message of zeros becomes one that says nothing.
    """
    largest = 0.0
    for place in range(GRID):
        largest = max(largest, messages[site, place])
    for place in range(GRID):
        messages[site, place] = messages[site, place] / largest if largest > 0 else 1.0


@compiled
def observe_leaves(leaves: Indices, first: int, stop: int, sites: Sites, counts: Counts) -> None:
    """Messages of leaves: the likelihoods of their own counts."""
    logs = np.empty(GRID)
    for number in range(first, stop):
        for place in range(GRID):
            sites.messages[leaves[number], place] = 1.0
        observe(sites, leaves[number], counts, logs)


@compiled
def send_up(
    first: int, stop: int, sites: Sites, splits: Splits, counts: Counts, powers: Floats, family: Second | None
) -> None:
    """Messages of inner nodes and halves, each from its two parts.

    The nodes are those of ranks `first` to `stop`; of each, its west half comes first, then its east half.

    A message is known up to a factor. Without the power of the mass, sums of many sites would come out too low
    (docs/staq-inference.md).
    """
    nodes = len(splits.first_children)
    room = make_room()
    for rank in range(first, stop):
        node = splits.inner[rank]
        child, west = splits.first_children[node], nodes + 2 * rank
        for turn in range(1, 4):
            number, site, part, other = turn, west + turn - 1, child + turn - 1, child + turn + 1
            if turn == 3:
                number, site, part, other = 0, node, west, west + 1
            split, _ = prepare(sites, part, other, node, number, splits, family, room)
            low, step = sites.lows[site], sites.steps[site]
            ratio = step / (low + sites.deviations[site]) * (RATIOS / LARGEST_RATIO)
            row = min(int(ratio), RATIOS - 1)
            for place in range(GRID):
                mass = max(low + place * step, SMALLEST_MASS)
                likelihood, _ = weigh(mass, split, room.cdf, room.near, room.far)
                power = powers[row, place] + (ratio - row) * (powers[row + 1, place] - powers[row, place])
                sites.messages[site, place] = likelihood * power
            if number > 0:
                rescale(sites.messages, site)
        observe(sites, node, counts, room.logs)


@compiled
def send_down(first: int, stop: int, sites: Sites, splits: Splits, masses: Floats, family: Second | None) -> None:
    """Posterior means of halves and children, from inner nodes.

    The nodes are those of ranks `first` to `stop`; their masses are given. Each is divided first, then its halves.
    """
    nodes = len(splits.first_children)
    room = make_room()
    for rank in range(first, stop):
        node = splits.inner[rank]
        child, west = splits.first_children[node], nodes + 2 * rank
        for number in range(3):
            site, part, other = west + number - 1, child + number - 1, child + number + 1
            if number == 0:
                site, part, other = node, west, west + 1
            mass = masses[site]
            if mass < SMALLEST_MASS:
                masses[part] = splits.means[node, number] * mass
            else:
                split, swapped = prepare(sites, part, other, node, number, splits, family, room)
                likelihood, moment = weigh(mass, split, room.cdf, room.near, room.far)
                near = min(moment / likelihood, mass) if likelihood > 0 else split.mean * mass
                masses[part] = mass - near if swapped else near
            masses[other] = mass - masses[part]
