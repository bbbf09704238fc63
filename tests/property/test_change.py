"""Change: laws that hold for any two releases."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import hushgrid as hg
from tests.strategies import partitions, rects
from tests.synopses import some_values, synopsis_on


@st.composite
def pairs(draw):
    """Two releases on one partition, and rectangles."""
    partition = draw(partitions())
    one, other = (
        synopsis_on(partition, values=some_values(partition.cells, seed))
        for seed in draw(st.lists(st.integers(0, 99), min_size=2, max_size=2, unique=True))
    )
    return one, other, draw(rects(partition.domain))


@given(pairs())
@settings(max_examples=60, deadline=None)
def test_signs_swap_when_the_releases_do(drawn):
    """Differences change their sign, ratios turn over, and the evidence stays what it is."""
    one, other, asked = drawn
    there, back = (hg.compare(*each).answer(np.atleast_2d(asked)).columns() for each in ((one, other), (other, one)))

    np.testing.assert_allclose(there["difference"], -back["difference"], atol=1e-9)
    np.testing.assert_allclose(there["low"], -back["high"], atol=1e-9)
    np.testing.assert_allclose(there["p_value"], back["p_value"])
    np.testing.assert_array_equal(there["significant"], back["significant"])
    np.testing.assert_allclose(there["ratio"] * back["ratio"], np.where(np.isnan(there["ratio"]), np.nan, 1))
    np.testing.assert_allclose(there["ratio_low"] * back["ratio_high"], np.where(np.isnan(there["ratio"]), np.nan, 1))
