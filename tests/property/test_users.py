"""Bounding by user, on threads and divided, against the rule written out with hashlib."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushgrid.counting import bounding, memory
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.by_user import ids as user_ids
from hushgrid.counting.by_user import partitions
from hushgrid.counting.by_user.ids import Ids, Users
from hushgrid.counting.opening import open_points
from hushgrid.counting.users import IDS
from hushgrid.geometry.domain import Domain
from tests.plain_users import kept as plainly_kept

DOMAIN = Domain(west=-3, south=1, east=5, north=2)
CAP = 7

# Few places, so that records repeat; some share a cell of the lattice, one is a negative zero, one is outside.
PLACES = [(-0.0, 1.0), (0.0, 1.0), (5.0, 2.0), (1.5, 1.5), (1.5 + 2**-40, 1.5), (1.5, 1.5 - 2**-40), (9.0, 1.5)]
PLACES += [(number / 16, 1 + number / 160) for number in range(60)]
WHOLE = st.one_of(st.none(), st.integers(-3, 9), st.sampled_from([2**63 - 1, -(2**63)]))
TEXT = st.one_of(st.none(), st.sampled_from(["", "ann", "Zoë", "1:2", "7", "x" * 70, "ü" * 1024, "x" * 1025]))


@st.composite
def records(draw, ids):
    """Ids and places; one user may have most of the records."""
    rows = draw(st.lists(st.tuples(ids, st.sampled_from(PLACES)), max_size=80))
    repeated = draw(st.integers(0, 200)) if rows else 0
    return rows + [(rows[0][0], PLACES[number % len(PLACES)]) for number in range(repeated)]


def canonical(one):
    """The id as the rule writes it; None where the row has none."""
    return None if one in (None, "") else str(one).encode()


def expected(rows, *, most, missing):
    """Kept points and capped total by the plain version."""
    rows = [(canonical(one), (x + 0.0, y)) for one, (x, y) in rows if not (isinstance(one, str) and len(one) > 1024)]
    inside = [one for one, (x, _) in rows if x <= DOMAIN.east]
    total = sum(min(CAP, inside.count(one)) for one in set(inside) - {None})
    total += inside.count(None) if missing == "own" else 0
    return plainly_kept(rows, key=bytes(range(32)), domain=DOMAIN, most=most, missing=missing), total


def found(points, *, most, missing, memory_bytes, user):
    """Kept points and capped total of a source."""
    rule = KeyedRule(key=bytes(range(32)), domain=DOMAIN, most=most, most_for_total=CAP)
    source = open_points(points, crs=DOMAIN.crs, user=user)
    with bounded_points(source, rule, missing=missing, memory_bytes=memory_bytes) as bounded:
        blocks = [block for part in bounded.source.parts() for block in part]
        pairs = [pair for block in blocks for pair in zip(block.longitudes, block.latitudes, strict=True)]
    return sorted((float(x), float(y)) for x, y in pairs), bounded.true_capped_total


def forms(rows, kind, folder):
    """The same records in every form that is read here."""
    ids, places = [one for one, _ in rows], np.array([place for _, place in rows], np.float64).reshape(-1, 2)
    table = pa.table({"lon": places[:, 0], "lat": places[:, 1], "who": pa.array(ids, kind)})
    yield places, ids
    yield table, "who"
    yield table.set_column(2, "who", table.column("who").dictionary_encode()), "who"
    yield table.to_pandas(types_mapper={pa.int64(): pd_whole()}.get), "who"
    (folder / "many").mkdir(exist_ok=True)
    pq.write_table(table, folder / "many" / "a.parquet", row_group_size=17)
    yield folder / "many" / "a.parquet", "who"
    yield folder / "many", "who"
    if all(one is None or '"' not in str(one) for one in ids):
        lines = [f"{'' if one is None else one},{x!r},{y!r}" for one, (x, y) in zip(ids, places.tolist(), strict=True)]
        (folder / "a.csv").write_text("\n".join(["who,lon,lat", *lines]))
        yield folder / "a.csv", "who"


def pd_whole():
    """Integers of pandas that may be missing."""
    import pandas as pd

    return pd.Int64Dtype()


@pytest.mark.parametrize(("ids", "kind"), [(WHOLE, pa.int64()), (TEXT, pa.string())], ids=["whole numbers", "text"])
@pytest.mark.parametrize("missing", ["drop", "own"])
def test_every_form_on_any_number_of_threads_keeps_what_the_rule_keeps(ids, kind, missing, tmp_path_factory):
    """In memory undivided, in memory divided, and on disk: the same points, bit for bit, and the same total."""
    folder = tmp_path_factory.mktemp("records")

    @settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
    @given(records(ids), st.sampled_from([1, 3, 10]), st.sampled_from("125"))
    def check(rows, most, threads):
        wanted = expected(rows, most=most, missing=missing)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HUSHGRID_THREADS", threads)
            patch.setattr(memory, "PART_ROWS", 17)
            patch.setattr(partitions, "PARTITIONS", 3)
            for points, user in forms(rows, kind, folder):
                for few, memory_bytes in ((2**20, 2**20), (1, 2**20), (1, 500)):
                    patch.setattr(partitions, "FEW_BYTES", few)
                    assert found(points, most=most, missing=missing, memory_bytes=memory_bytes, user=user) == wanted

    check()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from([b"", b"a", b"b", b"aa", b"ab", b"\0", b"\0\0"]) | st.binary(max_size=3), max_size=600))
def test_users_are_told_apart_as_a_dictionary_does(values):
    """Ids that differ in one byte or in length alone, more of them than the first table has room for."""
    seen = {}
    wanted = [seen.setdefault(value, len(seen)) if value else -1 for value in values]

    for steps in (user_ids.MOST_STEPS, 0):  # with none, all is left to Arrow's own table
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(user_ids, "MOST_STEPS", steps)
            users = Users.of(Ids.of(pa.array(values, IDS)))
        assert users.numbers.tolist() == wanted
        spans = zip(users.edges[:-1], users.edges[1:], strict=True)
        assert [users.content[first:stop].tobytes() for first, stop in spans] == list(seen)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 4))
def test_priorities_that_begin_alike_are_told_apart_by_their_ends(owners, most):
    """64 equal bits never happen, so the first words are made equal here; the other three decide, as they should."""
    rng = np.random.default_rng(len(owners))
    longitudes, latitudes = rng.uniform([-3, 1], [5, 2], (len(owners), 2)).T.copy()
    ids = Ids.of(pa.array([b"%d" % owner for owner in owners], IDS))
    rule = KeyedRule(key=bytes(32), domain=DOMAIN, most=most)
    hashed = bounding.hash_records

    def alike(*arguments):
        hashed(*arguments)
        arguments[-1][:, 0] = 5

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounding, "hash_records", alike)
        rows = rule.keep(ids, longitudes, latitudes).rows
    digests = np.empty((len(owners), 4), np.uint64)
    columns, lines = rule._places(longitudes, latitudes)
    numbers = np.stack([columns, lines, np.zeros_like(lines)]).astype(np.uint32)
    head = np.frombuffer(bytes(32).hex().encode(), np.uint8)
    hashed(head, numbers, ids.content, ids.edges, np.arange(len(owners), dtype=np.int32), digests)
    ends = [tuple(map(int, digest[1:])) for digest in digests]
    wanted = [
        row
        for row, owner in enumerate(owners)
        if sum(other == owner and end < ends[row] for other, end in zip(owners, ends, strict=True)) < most
    ]

    assert rows.tolist() == wanted
