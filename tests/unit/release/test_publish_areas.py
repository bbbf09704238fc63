"""`publish` on areas that are given: records, kept records, and distinct users in each."""

import re

import duckdb
import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.counting import bounded as bounded_source
from hushgrid.counting.bounding import KEY_BYTES
from hushgrid.counting.counter import PointCounter
from hushgrid.errors import ArgumentError
from hushgrid.files.verify import verify_file
from hushgrid.ledger.ledger import open_ledger
from hushgrid.privacy.bits import SystemBits
from hushgrid.release.request import ReleaseRequest
from tests.districts import SHAPES, first_holders
from tests.plain import UNIT_SQUARE
from tests.plain_users import priority

CERTAIN = 10**7  # noise at a K-th of this rate is zero
MOST, KEY = 2, bytes(range(KEY_BYTES))
AREAS = hg.Areas(list(SHAPES.values()), names=list(SHAPES))


def records(size=3000, seed=1):
    """Heavy and light users, rows without an id, points on borders and outside."""
    rng = np.random.default_rng(seed)
    points = np.round(rng.uniform(-0.05, 1.05, (size, 2)), rng.integers(1, 4))
    who = np.minimum(rng.zipf(1.5, size), 200)
    users = pa.array([None if one % 13 == 12 else int(one) for one in who], pa.int64())
    return pa.table({"who": users, "lon": points[:, 0], "lat": points[:, 1]})


def publish(points=None, *, epsilon=CERTAIN, method=AREAS, **options):
    """A simulated release on areas."""
    points = records() if points is None else points
    return hg.publish(points, domain=UNIT_SQUARE, epsilon=epsilon, method=method, rng=hg.simulation_rng(1), **options)


def area_of_rows(table):
    """Area of every row, -1 for none."""
    return first_holders(list(SHAPES.values()), np.stack([table["lon"], table["lat"]], axis=1))


def test_records_in_each_area():
    """As shapely finds them; what lies in none is not counted."""
    found = area_of_rows(records())
    synopsis = publish()

    assert synopsis.counts.tolist() == np.bincount(found[found >= 0], minlength=5).tolist()
    assert synopsis.total < len(found)
    assert synopsis.partition.names == tuple(SHAPES)
    assert synopsis.claim.counted == "points"


def test_distinct_users_in_each_area():
    """With K as large as the number of areas, every user counts in each area that they were in, once."""
    table = records()
    pairs = set(zip(area_of_rows(table).tolist(), table["who"].to_pylist(), strict=True))
    synopsis = publish(user="who", max_per_user=5, distinct=True, epsilon=5 * CERTAIN)

    expected = [sum(area == number and who is not None for area, who in pairs) for number in range(5)]
    assert synopsis.counts.tolist() == expected
    assert synopsis.claim.distinct
    assert synopsis.claim.counted == "user-area pairs"


def kept(points, *, distinct=True, memory_bytes=bounded_source.MEMORY_BYTES, **names):
    """Kept records in each area, with a known key."""
    job = ReleaseRequest.of(
        domain=UNIT_SQUARE, epsilon=1, method=AREAS, user="who", max_per_user=MOST, distinct=distinct, **names
    )
    rule = job.users.rule(UNIT_SQUARE, key=KEY, cells=job.cells, distinct=distinct)
    with bounded_source.bounded_points(job.open(points), rule, memory_bytes=memory_bytes) as bounded:
        return PointCounter(UNIT_SQUARE, bounded.source).count(job.cells).tolist()


def test_distinct_areas_are_chosen_by_the_keyed_rule():
    """Of each user the K areas of the smallest hashes, as a few lines of Python choose them."""
    table = records()
    by_user = {}
    for area, who in set(zip(area_of_rows(table).tolist(), table["who"].to_pylist(), strict=True)):
        if area >= 0 and who is not None:
            by_user.setdefault(who, []).append((priority(KEY, area, 0, 0, b"%d" % who), area))
    chosen = [area for ranked in by_user.values() for _, area in sorted(ranked)[:MOST]]
    assert kept(table) == np.bincount(chosen, minlength=5).tolist()


def test_kept_records_are_of_the_areas():
    """Records elsewhere do not use up what a user may keep."""
    elsewhere = [[0.05, 0.95]] * 500  # in no area
    points = np.array([*elsewhere, [0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    synopsis = publish(points, user=np.zeros(len(points), int), max_per_user=3, epsilon=3 * CERTAIN)

    assert synopsis.counts.tolist() == [3, 0, 0, 0, 0]
    assert synopsis.claim.counted == "kept records"


def test_a_user_changes_at_most_k_counts_each_by_one():
    """Whatever their records are, for every key."""
    table = records()
    steps = np.linspace(0, 1, 20)
    everywhere = pa.table({"who": [10**6] * 400, "lon": np.tile(steps, 20), "lat": np.repeat(steps, 20)})
    both = pa.concat_tables([table, everywhere.cast(table.schema)])
    for most in (1, 2, 4):
        options = {"user": "who", "max_per_user": most, "distinct": True, "epsilon": most * CERTAIN}
        difference = publish(both, **options).counts - publish(table, **options).counts

        assert set(difference.tolist()) <= {0.0, 1.0}
        assert difference.sum() == most


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("distinct", [False, True], ids=["records", "users"])
def test_files_larger_than_memory(kind, distinct, tmp_path):
    """Rows that do not fit are divided among files, and what is kept of them is the same."""
    path = tmp_path / f"trips.{kind}"
    (pq.write_table if kind == "parquet" else pyarrow.csv.write_csv)(records(), path)
    names = {"lon": "lon", "lat": "lat"}

    assert kept(path, distinct=distinct, memory_bytes=10_000, **names) == kept(records(), distinct=distinct)


def test_users_without_an_id_each_count():
    """Once, in the area they are in."""
    points = np.array([[0.1, 0.1], [0.1, 0.1], [0.05, 0.95]])
    synopsis = publish(points, user=[None] * 3, max_per_user=2, missing_user="own", distinct=True, epsilon=2 * CERTAIN)

    assert synopsis.counts.tolist() == [2, 0, 0, 0, 0]


def test_a_scaled_total_is_of_records_in_areas():
    """A private one counts no others."""
    table = records()
    inside = int(np.sum((area_of_rows(table) >= 0) & np.array(table["who"].is_valid())))
    synopsis = publish(user="who", max_per_user=3, scale_to_total="private", max_for_total=10**4, epsilon=10**12)

    assert synopsis.total == pytest.approx(inside)


def test_areas_and_points_may_be_in_other_systems():
    """All are moved to that of the domain."""
    frame = geopandas.GeoSeries([shapely.box(-74, 40.7, -73.9, 40.8)], crs="EPSG:4326")
    domain = hg.Domain(west=560_000, south=4_480_000, east=620_000, north=4_530_000, crs="EPSG:32618")
    points = [[-73.95, 40.75], [-73.85, 40.75]]
    synopsis = hg.publish(
        points, domain=domain, crs="EPSG:4326", epsilon=CERTAIN, method=hg.Areas(frame), rng=hg.simulation_rng(1)
    )

    assert synopsis.counts.tolist() == [1]
    assert synopsis.count_polygons(frame).tolist() == [1]


def test_names_come_from_a_column_or_a_sequence():
    """Whatever is there, as text; shapes alone are called by their numbers, and a frame is asked which column it is."""
    frame = geopandas.GeoDataFrame({"code": [7, 8]}, geometry=[shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)])

    assert hg.Areas(frame, names="code").names == ("7", "8")
    assert hg.Areas(frame, names=["a", "b"]).names == ("a", "b")
    assert hg.Areas(list(frame.geometry)).names == ("0", "1")
    assert hg.Areas(frame, names="code").domain() == hg.Domain(west=0, south=0, east=2, north=1)
    with pytest.raises(ArgumentError, match="names=COLUMN; there are: code"):
        hg.Areas(frame)


def test_a_release_names_its_areas_by_a_digest():
    """A ledger tells requests apart by it: shapes, names and reference system."""
    one, other = (list(SHAPES.values()), list(SHAPES)), (list(SHAPES.values())[:4], list(SHAPES)[:4])
    requests = [
        ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, method=hg.Areas(shapes, names=names)).for_ledger("trips").key
        for shapes, names in (one, one, other, (one[0], list("abcde")))
    ]

    assert requests[0] == requests[1]
    assert len(set(requests)) == 3
    assert publish().method.parameters == {"sha256": AREAS.sha256}


def test_a_ledger_keeps_releases_on_areas(tmp_path):
    """A request on the same areas gives back the same release."""
    with open_ledger(tmp_path / "a.ledger", create=True) as ledger:
        ledger.add_dataset("trips", budget=3, unit="record")
    options = {"domain": UNIT_SQUARE, "epsilon": 1, "ledger": tmp_path / "a.ledger", "dataset": "trips"}
    first = hg.publish(records(), method=AREAS, **options)
    again = hg.publish(records(), method=hg.Areas(list(SHAPES.values()), names=list(SHAPES)), **options)

    assert np.array_equal(first.counts, again.counts)


@pytest.mark.parametrize(
    "options", [{}, {"user": "who", "max_per_user": 3, "distinct": True}], ids=["records", "users"]
)
def test_a_release_can_be_verified(options, tmp_path):
    """A file of a release on areas, with real noise, passes verify."""
    path = tmp_path / "areas.dp.parquet"
    hg.publish(records(), domain=UNIT_SQUARE, epsilon=1, method=AREAS, **options).save(path)

    assert verify_file(path).ok
    assert hg.read(path).partition == AREAS.public_partition(UNIT_SQUARE)


REFUSED = {
    "no polygons": (lambda: hg.Areas([]), "at least one polygon"),
    "names of another number": (lambda: hg.Areas(list(SHAPES.values()), names=["a"]), "1 names for 5 areas"),
    "a column that is not there": (lambda: hg.Areas(list(SHAPES.values()), names="code"), "column of a GeoDataFrame"),
    "areas that overlap": (
        lambda: publish("none", method=hg.Areas([SHAPES["west"]] * 2)),
        "'0' (feature 0) and '1' (feature 1) overlap",
    ),
    "areas outside the domain": (
        lambda: publish("none", method=hg.Areas([shapely.box(0, 0, 2, 1)])),
        "Try domain=Domain(west=0.0, south=0.0, east=2.0, north=1.0, crs='OGC:CRS84')",
    ),
    "distinct without users": (lambda: publish("none", distinct=True), "needs user and max_per_user"),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_refused_before_reading(call, words):
    """There is no file to read."""
    with pytest.raises(ArgumentError, match=re.escape(words)):
        call()


def test_another_reference_system_is_refused_before_an_engine_reads():
    """A view that fails when it is read is not read."""
    relation = duckdb.sql("select error('read')::double as lon, 0.0 as lat")
    request = ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, method=AREAS, crs="EPSG:3857")

    with pytest.raises(ArgumentError, match="Transform them in the engine"):
        request.release(request.open(relation), bits=SystemBits())


@pytest.mark.parametrize("points", [np.empty((0, 2)), [[np.nan, 0.5]], [[9.0, 9.0]]], ids=["none", "NaN", "outside"])
def test_no_points_in_areas_are_no_error(points):
    """Every area is published all the same."""
    assert publish(points).counts.tolist() == [0] * 5
