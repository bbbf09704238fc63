"""The prior of a slice: the total and all other slices."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.geometry.quadrants import DEEPEST, quadrants_of
from hushgrid.inference.pooled import AKIN, FOREIGN
from hushgrid.priors.other_slices import EVEN, OtherSlices, RunningCounts, SpreadEvidence, priors_of_slices
from hushgrid.priors.releases import units_per_count
from hushgrid.priors.sharpen import SHARPENS, sharpened
from tests.priors import PointsPrior, clustered, staq
from tests.quadtrees import complete_quadtree
from tests.synopses import synopsis_on

END = 1 << 2 * DEEPEST
FINE = 4  # the finest level of these trees
CELLS = 4**FINE


def released(level, counts, *, epsilon=Fraction(9, 10)):
    """A release on all cells of a level, its counts as they are given."""
    return replace(synopsis_on(complete_quadtree(level), epsilon=epsilon), counts=np.asarray(counts, np.float64))


def some_slices(seed=0):
    """A total in fine cells and three slices, two of them in coarse cells; noise makes some counts negative."""
    rng = np.random.default_rng(seed)
    total = released(FINE, rng.integers(-3, 40, CELLS), epsilon=Fraction(1, 10))
    return total, [released(level, rng.integers(-8, 60, 4**level)) for level in (2, 3, 2)]


def along_the_curve(synopsis):
    """Counts on the curve of cells of the finest level, in plain loops: a coarse cell's as an even part each."""
    cells, found = quadrants_of(synopsis.partition), np.zeros(CELLS)
    for level, code, count in zip(cells.levels, cells.codes, synopsis.counts, strict=True):
        size = 4 ** (FINE - level)
        found[code * size : (code + 1) * size] = count / size
    return found


def spread_plainly(part, total):
    """Counts of a part on the curve, each cell's in proportion to the total's there and to one point spread evenly."""
    cells, found = quadrants_of(part.partition), np.zeros(CELLS)
    there = np.maximum(along_the_curve(total), 0)
    for level, code, count in zip(cells.levels, cells.codes, part.counts, strict=True):
        size = 4 ** (FINE - level)
        inside = slice(code * size, (code + 1) * size)
        weights = there[inside] + EVEN / size
        found[inside] = count * weights / weights.sum()
    return found


@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_evidence_is_that_of_the_total_and_the_others(chosen):
    """As loops over all cells of the finest level find it, in cells of every level."""
    total, parts = some_slices()
    prior = priors_of_slices(total, parts)[chosen]
    others = [part for number, part in enumerate(parts) if number != chosen]
    expected = units_per_count(total) * np.maximum(along_the_curve(total), 0)
    expected += sum(units_per_count(part) * spread_plainly(part, total) for part in others)

    for level in range(FINE + 1):
        found = prior.evidence(np.full(4**level, level), np.arange(4**level))
        wanted = np.maximum(expected.reshape(4**level, -1).sum(axis=1), 0)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_what_a_slice_measured_is_not_in_its_own_prior():
    """However large its counts are, and though the others' priors follow them."""
    total, (first, *others) = some_slices()
    louder = replace(first, counts=first.counts + 1000)
    before, after = (priors_of_slices(total, [each, *others]) for each in (first, louder))
    levels, codes = np.full(CELLS, FINE), np.arange(CELLS)

    np.testing.assert_allclose(after[0].evidence(levels, codes), before[0].evidence(levels, codes), atol=1e-6)
    assert (after[1].evidence(levels, codes) > before[1].evidence(levels, codes)).all()


@given(st.integers(0, 2**32), st.lists(st.integers(0, END), min_size=1, max_size=20))
def test_evidence_of_several_is_the_sum_of_theirs(seed, places):
    """At any place on the curve, of whatever slices."""
    total, parts = some_slices(seed)
    counts, at = RunningCounts.of(total), np.sort(places)
    spread = []
    for part in parts:
        first, stop = quadrants_of(part.partition).runs
        spread.append(SpreadEvidence.within(counts, np.append(first, stop[-1]), part.counts))

    np.testing.assert_allclose(
        SpreadEvidence.together(spread).before(at), sum(each.before(at) for each in spread), rtol=1e-9, atol=1e-6
    )


def test_a_slice_has_no_prior_where_nothing_else_has_points():
    """The other slice has one: the first."""
    total, part = released(1, np.zeros(4)), released(1, np.full(4, 5.0))
    empty = released(1, np.full(4, -1.0))

    first, second = priors_of_slices(total, [part, empty])
    assert first is None
    assert isinstance(second, OtherSlices)


def test_a_slice_believes_the_others_more_than_a_foreign_prior():
    """Three hundred points in clusters that others have shown: too few to learn how far to believe them."""
    points, low = clustered(300, seed=0), np.random.default_rng(8).random((200, 2)) * 0.9
    rects = np.hstack([low, low + 0.1])
    expected = clustered(300_000, seed=9)
    inside = ((expected[:, None] >= rects[:, :2]) & (expected[:, None] <= rects[:, 2:])).all(axis=2)
    errors = {}
    for trust in (FOREIGN, AKIN):
        prior = PointsPrior(clustered(20_000, seed=1), trust=trust)
        prior.needs_proof = False
        sharper = sharpened(staq(points, epsilon=1), prior)
        assert sharper.inference == SHARPENS[trust]
        errors[trust] = np.abs(sharper.count(rects) - inside.sum(axis=0) / 1000).mean()

    assert errors[AKIN] < 0.9 * errors[FOREIGN]


def test_the_digest_is_of_all_that_was_measured():
    """The same for every slice, and another if any of them has measured anything else."""
    total, parts = some_slices()
    digests = {prior.sha256 for prior in priors_of_slices(total, parts)}
    other = synopsis_on(complete_quadtree(2), epsilon=Fraction(9, 10), values=np.arange(16))
    changed = {prior.sha256 for prior in priors_of_slices(total, [*parts[:2], other])}

    assert len(digests) == len(changed) == 1
    assert digests != changed
