"""A release sharpened by a public prior.

All of it follows from released values and public ones: it is post-processing, and costs no privacy. Whether the prior
is believed, and how far, is learned from what was measured; one that does not explain it is ignored.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.partition import Structure
from hushgrid.geometry.quadrants import DEEPEST, Quadrants, quadrant_tree, quadrants_of
from hushgrid.geometry.tree import Tree
from hushgrid.inference.belief import counts_by_node, path_budget
from hushgrid.inference.belief_prior import Leanings
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.least_squares import node_sums
from hushgrid.inference.measurements import NOT_MEASURED, Measurements, NoisyValues, Regions
from hushgrid.inference.pooled import AKIN, EDGES, FOREIGN, UNIT, Trust, lesson_of_nodes, nats_gained
from hushgrid.priors.prior import Prior
from hushgrid.synopsis.answer import UNCALIBRATED
from hushgrid.synopsis.claim import Claim, MethodRecord, PriorRecord
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import current_work

SHARPENED = "belief-2"  # the inference without a public prior; and with one, by how far it is believed
SHARPENS: Mapping[Trust, str] = MappingProxyType({FOREIGN: "belief-prior", AKIN: "belief-slices"})
# What a prior must gain, or it is ignored. In the median, useless ones gained at most 2.9 at epsilon 0.1, and half of
# the second at epsilon 1. With a bar of 2 for the first, towns that had been moved were followed too often.
LEAST_NATS, NATS_PER_SPLIT = 4.0, 0.001
NAT_DIGITS = 3  # decimals of nats that a release keeps
LEAST_MOVED = 0.05  # points times epsilon that a further division must move
MOST_OFF = 1.5  # by which four shares can be off one quarter, all together
MOST_ROUNDS = 6  # levels that leaves are divided further
MOST_TIMES, FEW_CELLS = 4, 8192  # cells in the end: this multiple of those measured, or this many more
MOST_EVIDENCE = 2**40  # of a prior in all, so that sums of its whole numbers stay far below 2**63


def released_with(prior: Prior, measured: Evidence, *, claim: Claim, method: MethodRecord) -> Synopsis:
    """A release of STAQ's measurements, sharpened by a public prior.

    Parameters
    ----------
    prior : Prior
        Opened for the domain of the release.
    measured : Evidence
        A quadtree and what was measured of it.
    """
    current_work().begin("inference")
    evidence, found = sharpen(measured, prior, max_cells=claim.max_cells)
    inference = SHARPENS[prior.trust] if found.used else SHARPENED
    return Synopsis(
        partition=evidence.partition,
        measurements=evidence.measurements,
        inference=inference,
        counts=INFERENCES[inference].counts(evidence),
        claim=claim,
        method=method,
        prior=found,
        solved=evidence,
    )


def sharpened(synopsis: Synopsis, prior: Prior) -> Synopsis:
    """A release of STAQ that has no prior, sharpened by one.

    Claim and budget stay as they are. It has to be calibrated afterwards.

    Parameters
    ----------
    synopsis : Synopsis
        By belief propagation, not yet sharpened.
    prior : Prior
        Opened for the domain of the release.
    """
    if synopsis.inference != SHARPENED or not can_be_divided(synopsis.partition):
        msg = f"a prior sharpens releases of staq with inference='belief', not one by {synopsis.inference!r}."
        raise ArgumentError(msg)
    refined, found = sharpen(synopsis.evidence, prior, max_cells=synopsis.claim.max_cells)
    if not found.used:
        return replace(synopsis, prior=found)
    inference, scale = SHARPENS[prior.trust], synopsis.scale
    inferred = INFERENCES[inference].counts(refined)
    sharper = replace(
        synopsis,
        partition=refined.partition,
        measurements=refined.measurements,
        inference=inference,
        counts=inferred,
        calibration=UNCALIBRATED,
        scale=None,
        prior=found,
        solved=refined,
    )
    return (
        sharper
        if scale is None
        else sharper.scaled(scale.to(scale.total, inferred, source=scale.source, cap=scale.cap))
    )


def can_be_divided(partition: Structure) -> bool:
    """Whether cells are those of a quadtree over its whole domain."""
    return isinstance(partition, Tree) and max(partition.lattice.box[0]) == 1 << DEEPEST


def sharpen(evidence: Evidence, prior: Prior, *, max_cells: int | None) -> tuple[Evidence, PriorRecord]:
    """Evidence with a public prior, and what a release says of it.

    Leaves are divided where the prior says more than was measured. If the prior explains too little of what was
    measured, the evidence stays as it is.
    """
    tree = evidence.partition
    assert isinstance(tree, Tree)
    masses, leaves = evidence.fit_splits().masses, quadrants_of(tree)
    known = node_sums(tree, whole_evidence(prior, leaves))
    lesson, features = lesson_of_nodes(evidence.nodes, masses, known, prior.trust)
    coefficients = lesson.first_coefficients()
    nats = nats_gained(lesson, coefficients, evidence.prior_weights.mean(axis=(0, 1)))
    found = PriorRecord(
        name=prior.name, kind=prior.kind, sha256=prior.sha256, licence=prior.licence, nats=round(nats, NAT_DIGITS)
    )
    least_nats = LEAST_NATS + NATS_PER_SPLIT * np.count_nonzero(np.isfinite(lesson.splits.spreads))
    if prior.needs_proof and nats < least_nats:
        return evidence, found
    leanings = Leanings.by(features, coefficients)
    least = LEAST_MOVED / path_budget(tree, counts_by_node(tree, evidence.measurements))
    room = _room(tree.cells, max_cells)
    cells, whole = divide_further(leaves, masses[tree.leaves], leanings, prior, least=least, room=room)
    refined = Evidence(quadrant_tree(cells), moved(evidence.measurements, whole), whole_evidence(prior, cells))
    refined.measured = evidence  # what the refined one would find again
    return refined, replace(found, leaves=refined.prior)


def _room(cells: int, limit: int | None) -> int:
    """How many more cells a release may have."""
    most = max(MOST_TIMES * cells, cells + FEW_CELLS)
    return max(0, (most if limit is None else min(most, limit)) - cells)


def whole_evidence(prior: Prior, cells: Quadrants) -> Indices:
    """A prior's evidence in cells, as whole numbers.

    Running sums are rounded, and not each cell by itself, so that larger cells come out right, too.
    """
    running = np.cumsum(prior.evidence(cells.levels, cells.codes))
    scale = UNIT * min(1.0, MOST_EVIDENCE / max(running[-1], 1.0))
    return np.asarray(np.diff(np.rint(scale * running).astype(np.int64), prepend=0))


def divide_further(
    leaves: Quadrants, counts: Floats, leanings: Leanings, prior: Prior, *, least: float, room: int
) -> tuple[Quadrants, Indices]:
    """Leaves divided where the prior moves many points.

    Returns the cells, and which leaf each is a part of.

    Parameters
    ----------
    least : float
        Points that a division must move.
    room : int
        How many more cells there may be.
    """
    levels, codes, masses, whole = leaves.levels, leaves.codes, counts, np.arange(leaves.cells)
    done = []
    for below in range(MOST_ROUNDS):
        go = np.zeros(len(levels), bool)
        able = np.flatnonzero((levels < DEEPEST) & (MOST_OFF * masses > least))  # the others cannot move so much
        parts = 4 * codes[able, None] + np.arange(4)
        quarters = UNIT * prior.evidence(np.repeat(levels[able] + 1, 4), parts.ravel()).reshape(-1, 4)
        shares = leanings.shares(whole[able], np.full(len(able), below), quarters.reshape(-1, 2, 2))
        moves = masses[able] * np.abs(shares - 0.25).sum(axis=1)
        ranked = np.flatnonzero((moves > least) & (quarters.sum(axis=1) > EDGES[0]))
        ranked = ranked[np.argsort(-moves[ranked], kind="stable")][: room // 3]
        ranked.sort()
        go[able[ranked]] = True
        room -= 3 * len(ranked)
        done.append((levels[~go], codes[~go], whole[~go]))
        masses = (masses[go, None] * shares[ranked]).ravel()
        levels, codes, whole = np.repeat(levels[go] + 1, 4), parts[ranked].ravel(), np.repeat(whole[go], 4)
    done.append((levels, codes, whole))
    levels, codes, whole = (np.concatenate(arrays) for arrays in zip(*done, strict=True))
    order = np.argsort(codes << 2 * (DEEPEST - levels))
    return replace(leaves, levels=levels[order], codes=codes[order]), whole[order]


def moved(measurements: Measurements, whole: Indices) -> Measurements:
    """Measurements of leaves that were divided, on their parts.

    Parameters
    ----------
    whole : array of int, shape (parts,)
        The leaf that each is a part of, in order.
    """
    leaves, regions = measurements.leaves, measurements.regions
    edges = np.searchsorted(whole, np.arange(len(leaves.values) + 1))
    alone = np.diff(edges) == 1
    own = leaves.pick(whole)
    own.rate_index[~alone[whole]] = NOT_MEASURED
    own.values[~alone[whole]] = 0
    rest = np.flatnonzero(~alone & (leaves.rate_index != NOT_MEASURED))
    return Measurements(
        leaves=own,
        regions=Regions(
            first=np.concatenate([edges[regions.first], edges[rest]]),
            stop=np.concatenate([edges[regions.stop], edges[rest + 1]]),
        ),
        region_values=NoisyValues.joined([measurements.region_values, leaves.pick(rest)]),
    )
