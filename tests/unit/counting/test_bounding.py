"""The rule that keeps at most K records a user, against a plain version of it."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting.bounding import LATTICE_SIDE, KeyedRule
from hushgrid.counting.by_user.ids import Ids
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.plain_users import kept as plainly_kept

DOMAIN = Domain(west=-3, south=1, east=5, north=2)
KEY = bytes(range(32))

# Few places and few users, so that records repeat; two of the places share a cell of the lattice.
PLACES = ((0.0, 1.0), (5.0, 2.0), (1.5, 1.5), (1.5 + 2**-40, 1.5), (1.5, 1.5 - 2**-40), (-3.0, 1.25), (2.0, 1.75))
RECORDS = st.lists(st.tuples(st.sampled_from([b"a", b"b", b"c", b"1:2", None]), st.sampled_from(PLACES)), max_size=60)


def rule(most, *, key=KEY, cap=1, **options):
    """A rule on the domain of these tests."""
    return KeyedRule(key=key, domain=DOMAIN, most=most, most_for_total=cap, **options)


def keep(records, chosen):
    """Points that a rule keeps of pairs of an id and a point, sorted."""
    users = pa.array([user for user, _ in records], pa.large_binary())
    points = np.array([point for _, point in records], np.float64).reshape(-1, 2)
    rows = chosen.keep(Ids.of(users), points[:, 0].copy(), points[:, 1].copy()).rows
    return sorted(map(tuple, points[rows].tolist()))


@settings(deadline=None, max_examples=60)
@given(RECORDS, st.integers(1, 6), st.binary(min_size=32, max_size=32))
def test_it_keeps_what_the_plain_version_keeps(records, most, key):
    """Any users, any repetitions, any key."""
    expected = plainly_kept(records, key=key, domain=DOMAIN, most=most, missing="own")

    assert keep(records, rule(most, key=key)) == expected


@settings(deadline=None, max_examples=60)
@given(RECORDS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_order_changes_nothing(records, most, shuffler):
    """The same points are kept, whatever order the records come in."""
    shuffled = list(records)
    shuffler.shuffle(shuffled)

    assert keep(shuffled, rule(most)) == keep(records, rule(most))


@settings(deadline=None, max_examples=40)
@given(RECORDS, RECORDS, st.integers(1, 4))
def test_one_user_has_no_influence_on_another(records, others, most):
    """What is kept of a user is the same without everyone else; so removing one user removes at most K records."""
    mine = [(user, point) for user, point in records if user == b"a"]
    theirs = [(user, point) for user, point in others if user != b"a"]
    alone, together = keep(mine, rule(most)), keep([*theirs, *mine], rule(most))

    assert sorted([*keep(theirs, rule(most)), *alone]) == together
    assert len(alone) == min(most, len(mine))


@settings(deadline=None, max_examples=40)
@given(RECORDS, st.integers(1, 4), st.integers(1, 5), st.integers(1, 5))
def test_distinct_keeps_one_record_in_each_of_a_few_cells(records, most, columns, rows):
    """As the plain version does, on the cells of a small grid."""
    known = [(user, point) for user, point in records if user is not None]
    shape = {"columns": columns, "rows": rows}
    expected = plainly_kept(known, key=KEY, domain=DOMAIN, most=most, distinct=True, **shape)

    assert keep(known, rule(most, distinct_grid=Grid(domain=DOMAIN, **shape))) == expected


@settings(deadline=None, max_examples=40)
@given(RECORDS, st.integers(1, 10))
def test_the_capped_total_counts_each_user_up_to_the_cap(records, cap):
    """A record without an id is a user of its own."""
    sizes = [sum(user == one for user, _ in records) for one in (b"a", b"b", b"c", b"1:2")]
    strangers = sum(user is None for user, _ in records)
    users = pa.array([user for user, _ in records], pa.large_binary())
    longitudes, latitudes = np.array([point for _, point in records], np.float64).reshape(-1, 2).T.copy()
    found = rule(1, cap=cap).keep(Ids.of(users), longitudes, latitudes)

    assert found.true_capped_total == sum(min(size, cap) for size in sizes) + strangers


def test_a_bound_above_everyones_records_keeps_everything():
    """K at least as large as the largest user."""
    records = [(b"%d" % (number % 7), PLACES[number % 7]) for number in range(70)]

    assert keep(records, rule(10)) == sorted(point for _, point in records)
    assert len(keep(records, rule(9))) == 63


def test_another_key_is_another_choice():
    """The key decides, and nothing else."""
    points = np.random.default_rng(1).uniform([-3, 1], [5, 2], (100, 2)).tolist()
    records = [(b"a", tuple(point)) for point in points]
    choices = {tuple(keep(records, rule(5, key=bytes([number]) * 32))) for number in range(20)}

    assert len(choices) == 20


def test_repr_tells_neither_key_nor_records():
    """The text of a rule hides the key, that of a choice the records."""
    found = rule(1).keep(Ids.of(pa.array([b"a"], pa.large_binary())), np.array([0.25]), np.array([1.25]))

    assert KEY.hex() not in repr(rule(1))
    assert repr(KEY) not in repr(rule(1))
    assert repr(found) == "Kept(...)"


SQL = """
with placed as (
    select id, lon, lat,
           least(floor((lon - $west) * $column_scale), $side - 1)::bigint as x,
           least(floor((lat - $south) * $row_scale), $side - 1)::bigint as y
    from records
    where id <> '' and lon between $west and $east and lat between $south and $north
), numbered as (
    select *, row_number() over (partition by id, x, y order by lon, lat) - 1 as occurrence from placed
), ranked as (
    select *, row_number() over (
        partition by id order by sha256(concat_ws(':', $key, x::text, y::text, occurrence::text, id))
    ) as place from numbered
)
select lon, lat from ranked where place <= $most order by lon, lat
"""


@pytest.mark.parametrize("most", [1, 3, 20])
def test_an_engine_can_do_the_same_in_sql(most):
    """DuckDB keeps exactly the same points, by the statement of docs/decisions/0005."""
    rng = np.random.default_rng(2)
    points = rng.uniform([-3.5, 0.9], [5.5, 2.1], (3000, 2)).round(2)
    names = np.array(["ann", "bob", "Zoë", "1:2:3", ""] + [f"user {n}" for n in range(100)])[
        np.minimum(rng.zipf(1.3, 3000), 105) - 1
    ]
    records = pa.table({"id": names, "lon": points[:, 0], "lat": points[:, 1]})
    west, south, east, north = DOMAIN.bounds
    scales = {"column_scale": LATTICE_SIDE / (east - west), "row_scale": LATTICE_SIDE / (north - south)}
    values = {"west": west, "south": south, "east": east, "north": north, "side": LATTICE_SIDE, "most": most, **scales}
    with duckdb.connect() as engine:
        engine.register("records", records)
        found = engine.execute(SQL, {**values, "key": KEY.hex()}).fetchall()

    pairs = [(name.encode() or None, tuple(point)) for name, point in zip(names, points.tolist(), strict=True)]
    assert found == plainly_kept(pairs, key=KEY, domain=DOMAIN, most=most)
