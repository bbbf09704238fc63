"""Numbers on their way into a page."""

import base64
import gzip

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hushgrid.web.figures import Payload, fixed_point

WHOLE = st.integers(-(2**51), 2**51)
COUNTS = arrays.arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e6, 1e6, width=32))


@given(st.lists(WHOLE, max_size=30))
def test_whole_numbers_come_back(values):
    """Decoded one by one with Python's own integers."""
    payload = Payload()
    payload.add("first", [7])
    payload.add("values", values)

    (_, one, skipped), (_, length, planes) = payload.contents
    content = gzip.decompress(base64.b64decode(payload.text))[one * skipped :]
    codes = [sum(content[plane * length + i] << (8 * plane) for plane in range(planes)) for i in range(length)]
    assert [code // 2 if code % 2 == 0 else -(code + 1) // 2 for code in codes] == values


@given(COUNTS)
def test_sums_of_runs_keep_their_precision(counts):
    """Any run of leaves is off by one step at most, and a step is a small part of the total."""
    units, step = fixed_point(counts)

    running, rounded = np.cumsum(counts), np.cumsum(units) * step
    largest = max(np.abs(running).max(), 1)
    assert np.abs(running - rounded).max() <= step / 2 + 1e-15 * largest
    assert step == 1 or step <= max(abs(running[-1]), 1) * 2.0**-36 or step <= largest * 2.0**-50


def test_whole_counts_are_exact():
    """Whole counts are kept as they are, with a step of 1."""
    units, step = fixed_point(np.array([5.0, -3.0, 2.0**40]))

    assert step == 1
    assert units.tolist() == [5, -3, 2**40]
