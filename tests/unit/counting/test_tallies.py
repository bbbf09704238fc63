"""Sums over all records of all users, against a plain way to make them."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.by_user.ids import Ids
from hushgrid.counting.by_user.tallies import UserTally
from hushgrid.synopsis.all_records import REGION_SIDE, WHOLE_RECORD, bin_starts
from tests.plain import UNIT_SQUARE

MOST = 2
PLACES = st.tuples(st.sampled_from([0.0, 0.03, 0.5, 0.99, 1.0]), st.sampled_from([0.0, 0.31, 1.0]))
RECORDS = st.lists(st.tuples(st.sampled_from([b"a", b"b", b"b", b"c", None]), PLACES), max_size=60)


def tallies(records, *, cap=None):
    """Those that bounding makes."""
    users = pa.array([user for user, _ in records], pa.large_binary())
    longitudes, latitudes = np.array([point for _, point in records], np.float64).reshape(-1, 2).T.copy()
    tally = UserTally.of(UNIT_SQUARE, most=MOST, cap=cap)
    rule = KeyedRule(key=bytes(32), domain=UNIT_SQUARE, most=MOST, tally=tally)
    return tally, rule.keep(Ids.of(users), longitudes, latitudes).true_tallies


def region(point):
    """The region of a point, in exact arithmetic."""
    column, row = (min(floor(Fraction(place) * REGION_SIDE), REGION_SIDE - 1) for place in point)
    return row * REGION_SIDE + column


@settings(deadline=None, max_examples=60)
@given(RECORDS, st.sampled_from([None, 3, 5]))
def test_tallies_are_those_of_a_plain_loop(records, cap):
    """User by user; whoever has no id is a user with one record."""
    tally, found = tallies(records, cap=cap)
    owners = [f"stranger {number}" if user is None else user for number, (user, _) in enumerate(records)]
    sizes = Counter(owners)

    users = [
        sum(low <= size < high for size in sizes.values())
        for low, high in zip(tally.starts, (*tally.starts[1:], 10**9), strict=True)
    ]
    assert found.true_users.tolist() == users
    for number, most in enumerate(tally.caps):
        weights = Counter()
        for owner, (_, point) in zip(owners, records, strict=True):
            weights[region(point)] += floor(WHOLE_RECORD * min(Fraction(1), Fraction(most, sizes[owner])))
        assert found.true_totals[number] == sum(min(size, most) for size in sizes.values())
        assert found.true_regions[number].tolist() == [weights[cell] for cell in range(REGION_SIDE**2)]


@settings(deadline=None, max_examples=60)
@given(RECORDS, st.integers(1, 300))
def test_one_user_changes_tallies_by_no_more_than_is_paid_for(records, more):
    """However many records: one bin by one, the total by the cap, and all regions together by the cap's weight."""
    mine = [(b"z", (number % 7 / 7, number % 5 / 5)) for number in range(more)]
    tally, without = tallies(records)
    _, with_me = tallies([*records, *mine])

    assert np.abs(with_me.true_users - without.true_users).sum() == 1
    assert (with_me.true_totals - without.true_totals <= tally.caps).all()
    change = np.abs(with_me.true_regions - without.true_regions).sum(axis=1)
    assert (change <= WHOLE_RECORD * np.array(tally.caps)).all()


@pytest.mark.parametrize("most", [1, 10, 600, 5000])
def test_bins_begin_at_one_and_reach_beyond_the_bound(most):
    """Two to a doubling, and there are caps of at least 2 K to choose from."""
    starts = bin_starts(most)

    assert starts[:7] == (1, 2, 3, 4, 6, 8, 11)
    assert all(1.3 < later / start <= 2 for start, later in pairwise(starts))
    assert max(4096, 8 * most) <= starts[-1] < 2 * max(4096, 8 * most)
    assert min(UserTally.of(UNIT_SQUARE, most=most, cap=None).caps) >= 2 * most
