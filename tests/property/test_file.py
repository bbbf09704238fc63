"""Files of any synopsis come back, and files with any damage are read or refused, never anything else."""

import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import SynopsisFileError
from hushgrid.files.verify import verify_file
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.synopsis.synopsis import read
from tests.strategies import grids, nested_grids
from tests.synopses import synopsis_on

DOMAIN = Domain(west=0, south=0, east=2, north=1)
PARTITIONS = {
    "grid": Grid(domain=DOMAIN, rows=2, columns=3),
    "nested": NestedGrid(grid=Grid(domain=DOMAIN, rows=1, columns=2), sides=[1, 2]),
}
EPSILONS = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6).filter(lambda epsilon: epsilon > 0)


@given(partition=st.one_of(grids(), nested_grids()), epsilon=EPSILONS, data=st.data())
@settings(max_examples=60, deadline=None)
def test_save_then_read_is_identity(partition, epsilon, data):
    """Counts, variances, measurements, claim and partition are the same, and the file is consistent."""
    size = partition.cells
    values = data.draw(st.lists(st.integers(-(2**40), 2**40), min_size=size, max_size=size))
    synopsis = synopsis_on(partition, epsilon=epsilon, values=values)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.dp.parquet"
        synopsis.save(path)
        back, verification = read(path), verify_file(path)

    assert verification.ok
    np.testing.assert_array_equal(back.counts, synopsis.counts)
    np.testing.assert_array_equal(back.variances, synopsis.variances)
    np.testing.assert_array_equal(back.measurements.leaves.values, values)
    assert back.measurements.leaves.rates == synopsis.measurements.leaves.rates
    assert (back.partition, back.claim) == (synopsis.partition, synopsis.claim)


@cache
def file_of(kind):
    """The bytes of a small file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.dp.parquet"
        synopsis_on(PARTITIONS[kind]).save(path)
        return path.read_bytes()


@pytest.mark.parametrize("kind", PARTITIONS)
@given(damage=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_damage_is_read_or_refused(kind, damage):
    """Whatever bytes are flipped, the outcome is a synopsis or one line of complaint."""
    content = bytearray(file_of(kind))
    for place, flip in damage:
        content[int(place * len(content))] ^= flip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.dp.parquet"
        path.write_bytes(content)
        for look in (read, verify_file):
            try:
                look(path)
            except SynopsisFileError as error:
                assert "\n" not in str(error)  # noqa: PT017  # most damage is refused, some is harmless
