"""Points divided by slice: all of them, each in its slice, in memory or in a file."""

import os
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.by_slice import sliced
from hushgrid.counting.by_slice.sliced import sliced_points
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.filtered import within_slices
from hushgrid.counting.opening import open_points
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.slices.by import By
from tests.plain_users import kept_in_slices

DOMAIN = Domain(west=0, south=0, east=1, north=1)
BY = By("kind", values=range(5))
KEY = bytes(range(32))


def table(rows: int, seed: int = 1) -> pa.Table:
    """Rows of which some lie in no slice, and some in no domain."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-0.1, 1.1, (2, rows))
    kinds = rng.integers(0, 7, rows)  # two kinds are in no slice
    users = rng.integers(0, 20, rows)
    return pa.table({"lon": np.where(kinds == 3, np.nan, x), "lat": y, "kind": kinds, "who": users})


def pairs(source) -> list:
    blocks = [block for part in source.parts() for block in part]
    return sorted(repr(pair) for b in blocks for pair in zip(b.longitudes.tolist(), b.latitudes.tolist(), strict=True))


def of_kind(rows: pa.Table, *kinds: int) -> list:
    chosen = [row for row in rows.to_pylist() if row["kind"] in kinds]
    return sorted(repr((row["lon"], row["lat"])) for row in chosen)


@pytest.mark.parametrize("memory_bytes", [1, 5_000, 2**27])
@pytest.mark.parametrize("rows", [0, 1, 3000])
def test_every_row_is_in_its_slice(rows, memory_bytes, monkeypatch) -> None:
    monkeypatch.setattr(sliced, "BATCH_ROWS", 100)
    data = table(rows)
    with sliced_points(open_points(data, by=BY), len(BY.names), memory_bytes=memory_bytes) as points:
        assert len(points.slices) == 5
        for number, source in enumerate(points.slices):
            assert pairs(source) == of_kind(data, number)
            assert source.rows() == len(of_kind(data, number))
        assert pairs(points.all) == of_kind(data, *range(5))
        assert points.all.rows() == len(of_kind(data, *range(5)))
        assert repr(points) == "SlicedPoints(...)"


def test_counts_of_slices_sum_to_counts_of_all() -> None:
    grid, data = Grid(domain=DOMAIN, rows=4, columns=4), table(5000)
    inside = data.filter(pa.compute.less(data["kind"], 5))
    expected = PointCounter(DOMAIN, open_points(inside)).count(grid)
    for memory_bytes in (4_000, 2**27):
        with sliced_points(open_points(data, by=BY), 5, memory_bytes=memory_bytes) as points:
            counts = [PointCounter(DOMAIN, source).count(grid) for source in points.slices]
            assert np.array_equal(np.sum(counts, axis=0), expected)
            assert np.array_equal(PointCounter(DOMAIN, points.all).count(grid), expected)


def test_the_file_is_private_and_goes_away(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with sliced_points(open_points(table(3000), by=BY), 5, memory_bytes=1000):
        (folder,) = tmp_path.iterdir()
        assert [path.name for path in folder.iterdir()] == ["slices.arrow"]
        if os.name == "posix":
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_only_rows_in_slices_are_seen_without_a_copy(tmp_path) -> None:
    data = table(2000)
    source = within_slices(open_points(data, by=BY, user="who"))
    assert source.rows() == len(of_kind(data, *range(5)))
    assert pairs(source) == of_kind(data, *range(5))
    users = sum(len(block.users) for part in source.parts() for block in part)
    assert users == source.rows()
    path = Path(tmp_path) / "points.parquet"
    pa.parquet.write_table(data, path)
    assert pairs(within_slices(open_points(path, by=BY))) == pairs(source)


RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", None, ""]),
        st.integers(-1, 2),
        st.sampled_from([(0.5, 0.5), (0.5 + 2**-50, 0.5), (0.25, 1.0), (0.0, 0.0), (2.0, 0.5)]),
    ),
    max_size=60,
)


@settings(deadline=None)
@given(RECORDS, st.integers(1, 4), st.sampled_from([300, 2**27]), st.randoms())
def test_users_keep_the_same_records_over_all_slices_in_any_order(records, most, memory_bytes, random) -> None:
    by = By("kind", values=range(3))
    plain = [(None if not who else who.encode(), number, point) for who, number, point in records]
    expected = kept_in_slices(plain, key=KEY, domain=DOMAIN, most=most)
    rule = KeyedRule(key=KEY, domain=DOMAIN, most=most)
    random.shuffle(records)
    columns = {"lon": [p[0] for *_, p in records], "lat": [p[1] for *_, p in records]}
    data = pa.table(
        {name: pa.array(values, pa.float64()) for name, values in columns.items()}
        | {
            "kind": pa.array([n for _, n, _ in records], pa.int32()),
            "who": pa.array([w for w, *_ in records], pa.string()),
        }
    )
    source = open_points(data, by=by, user="who")
    found = []
    with (
        bounded_points(source, rule, memory_bytes=memory_bytes) as bounded,
        sliced_points(bounded.source, 3, memory_bytes=memory_bytes) as points,
    ):
        for number, each in enumerate(points.slices):
            for part in each.parts():
                for block in part:
                    found += [
                        (number, x, y) for x, y in zip(block.longitudes.tolist(), block.latitudes.tolist(), strict=True)
                    ]
    assert sorted(found) == expected


def test_nobody_keeps_more_than_k_records_whatever_the_slices() -> None:
    rows = 400
    data = pa.table({"lon": [0.5] * rows, "lat": [0.5] * rows, "kind": list(range(rows)), "who": ["eve"] * rows})
    by = By("kind", values=range(rows))
    rule = KeyedRule(key=KEY, domain=DOMAIN, most=7)
    with bounded_points(open_points(data, by=by, user="who"), rule) as bounded:
        assert bounded.source.rows() == 7
        with sliced_points(bounded.source, rows) as points:
            assert sum(source.rows() for source in points.slices) == 7
