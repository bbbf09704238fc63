"""Belief propagation: messages up, posterior means down.

A *site* is a node of a quadtree, or the west or east half of an inner node: site ``n`` is node n, sites
``nodes + 2 r`` and ``nodes + 2 r + 1`` are the halves of the inner node of rank r. An inner node is a split into its
halves, a half is a split into a southern and a northern child. A message is the likelihood of a site's mass, from
everything measured in and below it, at equidistant masses.

Processors differ in how they round the last digit, and a release must come out the same on all of them (decision 10).
So nothing here may depend on the last digit: grids with nearly equal steps count as equal, and shares next to 0 or 1
count as 0 or 1.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled

Places = NDArray[np.int32]

GRID = 20  # masses a message is tabulated at
TAIL = 20  # steps a message is continued for, on either side, before a sum over it
PADDED = GRID + 2 * TAIL
PLACES = 513  # shares a prior is tabulated at, closer together toward 0 and 1
MEANS = 19  # prior means .05, .10, ..., .95 it is tabulated for
SMALLEST_MASS = 1e-100  # a smaller mass is split like this one
SMALLEST_SHARE = 1e-12  # a smaller share counts as zero: places in the table have an infinite slope there
FINER = 1 - 1e-6  # a grid's step relative to another's, below which it is the finer one
RATIOS = 1024  # rows of the table of powers
LARGEST_RATIO = 0.53  # of a grid's step to its first mass and its deviation, above 10 / 19
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
    """Measurements, sorted by node.

    Those of node n lie from ``offsets[n]`` to ``offsets[n + 1]``.
    """

    offsets: Indices
    values: Floats
    rates: Floats


class Grids(NamedTuple):
    """Grids of masses of a split's two parts.

    Sums run over the near part; the far part has the rest of the mass.
    """

    near_low: float
    near_step: float
    near_scale: float  # one over the step
    far_low: float
    far_scale: float


class Room(NamedTuple):
    """Scratch arrays that one thread reuses between sites."""

    cdf: Floats  # row of a prior's table for one mean, shape (PLACES + 1,)
    near: Floats  # messages with their tails, shape (PADDED + 1,)
    far: Floats
    places: Places  # before each edge or middle of the cells of a sum: in the prior, near and far, (3, GRID + 1)
    behind: Floats  # how far behind that place it lies, shape (3, GRID + 1)
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
    return Room(
        np.empty(PLACES + 1),
        np.empty(PADDED + 1),
        np.empty(PADDED + 1),
        np.empty((3, GRID + 1), np.int32),
        np.empty((3, GRID + 1)),
        np.empty(GRID),
    )


@compiled
def place_of_share(share: float, rest: float) -> float:
    """Place of a share in a prior's table.

    It runs from 0 to ``PLACES - 1``, like the arcsin of the share's root but cheaper to compute.

    `rest` is one minus the share, known to more digits than that where it is small.
    """
    small = share if share < rest else rest
    small = small if small > SMALLEST_SHARE else 0.0
    root = (PLACES - 1) * math.sqrt(small * 0.5)
    return root if share < rest else (PLACES - 1) - root


@compiled
def place_of_mass(mass: float, low: float, scale: float) -> float:
    """Place of a mass in a padded message, below PADDED."""
    place = (mass - low) * scale + TAIL
    place = place if place > 0.0 else 0.0
    return place if place < PADDED - 1.0 else PADDED - 1.0


@compiled
def read_table(table: Floats, place: int, behind: float) -> float:
    """Interpolate a table linearly, `behind` past a place.

    The table has one extra entry, so that its last place can be read too.
    """
    here = np.uintp(place)  # unsigned, so that negative indices need no check
    value, following = table[here], table[here + np.uintp(1)]
    return float(value + behind * (following - value))


@compiled
def read_message(message: Floats, place: float) -> float:
    """Interpolate a padded message at a place."""
    before = int(place)
    return read_table(message, before, place - before)


@compiled
def blend(table: Floats, mean: float, out: Floats) -> None:
    """Interpolate a prior's table to any mean, shape (PLACES + 1,)."""
    place = min(max(mean * (MEANS + 1) - 1, 0.0), MEANS - 1.0)
    row = min(int(place), MEANS - 2)
    weight = place - row
    for share in range(PLACES):
        out[share] = (1 - weight) * table[row, share] + weight * table[row + 1, share]
    out[PLACES] = out[PLACES - 1]


@compiled
def pad(message: Floats, out: Floats) -> None:
    """Pad a message with tails that fall by e a step."""
    for place in range(TAIL):
        out[place] = message[0] * DECAY[TAIL - place]
        out[TAIL + GRID + place] = message[GRID - 1] * DECAY[place + 1]
    for place in range(GRID):
        out[TAIL + place] = message[place]
    out[PADDED] = out[PADDED - 1]


@compiled
def prepare(sites: Sites, parts: tuple[int, int], mean: float, table: Floats, room: Room) -> tuple[Grids, float, bool]:
    """Make a split ready to be summed over.

    The part with the finer grid becomes the near one. Returns the grids, the near part's prior mean, and whether the
    near part is the second one.
    """
    first, second = parts
    swapped = sites.steps[second] < sites.steps[first] * FINER
    if swapped:
        first, second, mean = second, first, 1 - mean
    blend(table, mean, room.cdf)
    pad(sites.messages[first], room.near)
    pad(sites.messages[second], room.far)
    near_step, far_step = sites.steps[first], sites.steps[second]
    return Grids(sites.lows[first], near_step, 1 / near_step, sites.lows[second], 1 / far_step), mean, swapped


@compiled
def near_range(mass: float, grids: Grids) -> tuple[float, float]:
    """Range of the near part's mass.

    It is that of its message, cut off at the mass to be split.
    """
    bottom = max(grids.near_low - 0.5 * grids.near_step, 0.0)
    top = min(grids.near_low + (GRID - 0.5) * grids.near_step, mass)
    if top <= bottom:
        return max(mass - GRID * grids.near_step, 0.0), mass
    return bottom, top


@compiled
def place_cells(mass: float, grids: Grids, places: Places, behind: Floats) -> None:
    """Places of cells in the prior and both messages.

    Cells are equally wide: their edges are placed in the prior, their middles in the messages.

    There is no branch and no reading of tables here, so that processors do several cells at a time. The share of an
    edge and its complement are counted from either end, so that both are precise where they are small.
    """
    bottom, top = near_range(mass, grids)
    width, scale = (top - bottom) / GRID, 1 / mass
    share, rest, step = bottom * scale, (mass - top) * scale, width * scale
    for edge in range(GRID + 1):
        place = place_of_share(share + edge * step, rest + (GRID - edge) * step)
        before = np.int32(place)
        places[0, edge] = before
        behind[0, edge] = place - before
    middle = bottom + 0.5 * width
    for cell in range(GRID):
        place = place_of_mass(middle + cell * width, grids.near_low, grids.near_scale)
        before = np.int32(place)
        places[1, cell] = before
        behind[1, cell] = place - before
    for cell in range(GRID):
        place = place_of_mass(mass - middle - cell * width, grids.far_low, grids.far_scale)
        before = np.int32(place)
        places[2, cell] = before
        behind[2, cell] = place - before


@compiled
def weigh_cells(cdf: Floats, near: Floats, far: Floats, places: Places, behind: Floats) -> tuple[float, float]:
    """Likelihood of a mass, summed over cells.

    Also returns the likelihood times the mean position among the cells of the near part.
    """
    likelihood, moment = 0.0, 0.0
    below = read_table(cdf, places[0, 0], behind[0, 0])
    for cell in range(GRID):
        above = read_table(cdf, places[0, cell + 1], behind[0, cell + 1])
        term = (above - below) * read_table(near, places[1, cell], behind[1, cell])
        term *= read_table(far, places[2, cell], behind[2, cell])
        likelihood += term
        moment += term * (cell + 0.5)
        below = above
    return likelihood, moment


@compiled
def weigh_atoms(
    mass: float, mean: float, atoms: Floats, grids: Grids, near: Floats, far: Floats
) -> tuple[float, float]:
    """Likelihood of a mass under the prior's atoms.

    The atoms put all of the mass in one part, or split it exactly at the mean. Also returns the likelihood times the
    near part's mean mass.
    """
    near_low, _, near_scale, far_low, far_scale = grids
    part = mean * mass
    everything = atoms[0] * mean * read_message(near, place_of_mass(mass, near_low, near_scale))
    everything *= read_message(far, place_of_mass(0.0, far_low, far_scale))
    nothing = atoms[0] * (1 - mean) * read_message(near, place_of_mass(0.0, near_low, near_scale))
    nothing *= read_message(far, place_of_mass(mass, far_low, far_scale))
    exactly = atoms[1] * read_message(near, place_of_mass(part, near_low, near_scale))
    exactly *= read_message(far, place_of_mass(mass - part, far_low, far_scale))
    return everything + nothing + exactly, everything * mass + exactly * part


@compiled
def gather(
    sites: Sites, site: int, parts: tuple[int, int], prior: tuple[float, Floats, Floats], powers: Floats, room: Room
) -> None:
    """Message of a site from its two parts.

    It is known up to a factor. `prior` holds the split's mean, table and atoms.

    Without the power of the mass, sums of many sites would come out too low (docs/staq-inference.md).
    """
    cdf, near, far, places, behind, _ = room
    grids, mean, _ = prepare(sites, parts, prior[0], prior[1], room)
    low, step = sites.lows[site], sites.steps[site]
    ratio = step / (low + sites.deviations[site]) * (RATIOS / LARGEST_RATIO)
    row = min(int(ratio), RATIOS - 1)
    message, atoms = sites.messages[site], prior[2]
    for place in range(GRID):
        mass = max(low + place * step, SMALLEST_MASS)
        place_cells(mass, grids, places, behind)
        likelihood, _ = weigh_cells(cdf, near, far, places, behind)
        of_atoms, _ = weigh_atoms(mass, mean, atoms, grids, near, far)
        power = powers[row, place] + (ratio - row) * (powers[row + 1, place] - powers[row, place])
        message[place] = (likelihood + of_atoms) * power


@compiled
def divided(
    sites: Sites, mass: float, parts: tuple[int, int], prior: tuple[float, Floats, Floats], room: Room
) -> float:
    """Posterior mean of the first part's mass.

    The mass of both parts together is given.
    """
    if mass < SMALLEST_MASS:
        return prior[0] * mass
    cdf, near, far, places, behind, _ = room
    grids, mean, swapped = prepare(sites, parts, prior[0], prior[1], room)
    place_cells(mass, grids, places, behind)
    likelihood, cells = weigh_cells(cdf, near, far, places, behind)
    bottom, top = near_range(mass, grids)
    moment = likelihood * bottom + cells * ((top - bottom) / GRID)
    of_atoms, their_moment = weigh_atoms(mass, mean, prior[2], grids, near, far)
    likelihood, moment = likelihood + of_atoms, moment + their_moment
    part = min(moment / likelihood, mass) if likelihood > 0 else mean * mass
    return mass - part if swapped else part


@compiled
def observe(sites: Sites, node: int, counts: Counts, logs: Floats) -> None:
    """Multiply a node's message by its counts' likelihoods.

    Then its largest value is scaled to one.
    """
    message = sites.messages[node]
    largest = -math.inf
    for place in range(GRID):
        mass = sites.lows[node] + place * sites.steps[node]
        logs[place] = 0.0
        for number in range(counts.offsets[node], counts.offsets[node + 1]):
            logs[place] -= counts.rates[number] * abs(counts.values[number] - mass)
        largest = max(largest, logs[place])
    for place in range(GRID):
        message[place] *= math.exp(logs[place] - largest)
    rescale(message)


@compiled
def rescale(message: Floats) -> None:
    """Scale a message's largest value to one.

    A message of zeros becomes one that says nothing.
    """
    largest = 0.0
    for place in range(GRID):
        largest = max(largest, message[place])
    for place in range(GRID):
        message[place] = message[place] / largest if largest > 0 else 1.0


@compiled
def observe_leaves(leaves: Indices, first: int, stop: int, sites: Sites, counts: Counts) -> None:
    """Messages of leaves: the likelihoods of their own counts."""
    logs = np.empty(GRID)
    for number in range(first, stop):
        sites.messages[leaves[number]] = 1.0
        observe(sites, leaves[number], counts, logs)


@compiled
def send_up(first: int, stop: int, sites: Sites, splits: Splits, counts: Counts, powers: Floats) -> None:
    """Messages of inner nodes and halves, from their children.

    The nodes are those of ranks `first` to `stop`.
    """
    nodes = len(splits.first_children)
    room = make_room()
    for rank in range(first, stop):
        node = splits.inner[rank]
        child, west = splits.first_children[node], nodes + 2 * rank
        for side in range(2):
            prior = (splits.means[node, 1 + side], splits.tables[1], splits.atoms[1])
            gather(sites, west + side, (child + side, child + 2 + side), prior, powers, room)
            rescale(sites.messages[west + side])
        prior = (splits.means[node, 0], splits.tables[0], splits.atoms[0])
        gather(sites, node, (west, west + 1), prior, powers, room)
        observe(sites, node, counts, room.logs)


@compiled
def send_down(first: int, stop: int, sites: Sites, splits: Splits, masses: Floats) -> None:
    """Posterior means of halves and children, from inner nodes.

    The nodes are those of ranks `first` to `stop`; their masses are given.
    """
    nodes = len(splits.first_children)
    room = make_room()
    for rank in range(first, stop):
        node = splits.inner[rank]
        child, west = splits.first_children[node], nodes + 2 * rank
        prior = (splits.means[node, 0], splits.tables[0], splits.atoms[0])
        masses[west] = divided(sites, masses[node], (west, west + 1), prior, room)
        masses[west + 1] = masses[node] - masses[west]
        for side in range(2):
            prior = (splits.means[node, 1 + side], splits.tables[1], splits.atoms[1])
            masses[child + side] = divided(sites, masses[west + side], (child + side, child + 2 + side), prior, room)
            masses[child + 2 + side] = masses[west + side] - masses[child + side]
