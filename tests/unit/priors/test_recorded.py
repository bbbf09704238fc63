"""The prior that a sharper release holds."""

import numpy as np

from hushgrid.geometry.quadrants import divide_cells, quadrants_of
from hushgrid.priors.recorded import RecordedPrior
from hushgrid.priors.sharpen import sharpened
from tests.priors import clustered, good_prior, staq, useless_prior

RELEASE = staq(clustered(5000, seed=0))
SHARPER = sharpened(RELEASE, good_prior())


def test_leaves_have_what_the_release_holds():
    """In units of one pseudo-count."""
    prior, leaves = RecordedPrior.of(SHARPER), quadrants_of(SHARPER.partition)
    np.testing.assert_array_equal(32 * prior.evidence(leaves.levels, leaves.codes), SHARPER.prior.leaves)


def test_parts_add_up():
    """Of every leaf, and nearly evenly."""
    prior, leaves = RecordedPrior.of(SHARPER), quadrants_of(SHARPER.partition)
    parts, whole = divide_cells(leaves, np.ones(leaves.cells, np.int64))
    found = 32 * prior.evidence(parts.levels, parts.codes)
    np.testing.assert_array_equal(np.bincount(whole, found), SHARPER.prior.leaves)
    assert np.abs(found - SHARPER.prior.leaves[whole] / 4).max() <= 1


def test_it_is_named_as_in_the_release():
    """The recorded prior has the name, kind, digest and licence of the release."""
    prior, record = RecordedPrior.of(SHARPER), SHARPER.prior
    assert (prior.name, prior.kind, prior.sha256, prior.licence) == (
        record.name,
        record.kind,
        record.sha256,
        record.licence,
    )


def test_releases_without_one_have_none():
    """Releases without a prior have none recorded, and neither have those that ignored one."""
    assert RecordedPrior.of(RELEASE) is None
    assert RecordedPrior.of(sharpened(RELEASE, useless_prior())) is None
