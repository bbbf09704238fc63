"""Every engine counts points in the areas that are found in memory, bit for bit."""

import math
from contextlib import ExitStack, contextmanager

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest
import shapely

import hushgrid as hg
from hushgrid.answering.areas import area_partition
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import PointCounter, open_bounded_counter, open_counter
from hushgrid.counting.engine import ibis as ibis_engine
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.counting.users import LONGEST_ID
from hushgrid.errors import EngineError
from tests.conformance.engines import DOMAIN, TABLES, awkward_rows
from tests.districts import mosaic

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

SPARK = pytest.param("spark", marks=pytest.mark.slow)
EVERYWHERE = [*(name for name in TABLES if name != "spark"), SPARK, "postgres"]
WITH_USERS = ["duckdb", "ibis-on-duckdb", SPARK, "postgres"]
KEY = bytes(range(32))


def shapes():
    """Most of a mosaic of the domain, cut along the meridian of zero: there, two zeros and a denormal lie apart."""
    west, south, east, north = DOMAIN.bounds
    corner, size = np.array([west, south]), np.array([east - west, north - south])
    tiles = shapely.transform(
        mosaic(24)[:20], lambda places: np.clip(corner + places * size, [west, south], [east, north])
    )
    halves = [shapely.box(west, south, 0, north), shapely.box(0, south, east, north)]
    parts = [part for half in halves for part in shapely.intersection(tiles, half) if shapely.area(part) > 0]
    return np.array(parts)


def partition(parts):
    """The areas, called by their numbers."""
    return area_partition(parts, list(map(str, range(len(parts)))), DOMAIN)


AREAS = partition(shapes())


def rows():
    """Points on outlines and an ulp beside them, anywhere, outside, and rows without points, of few users."""
    one, other = AREAS.segments[:, :2], AREAS.segments[:, 2:]
    borders = np.concatenate([one, (one + other) / 2])
    beside = np.nextafter(borders, np.random.default_rng(1).choice([-np.inf, np.inf], borders.shape))
    odd = [[number, 1.5] for number in (0.0, -0.0, math.ulp(0.0), -math.ulp(0.0), 1e308, -math.inf, math.nan)]
    points = np.concatenate([borders, beside, odd])
    some = awkward_rows(DOMAIN).select(["lon", "lat"])
    table = pa.concat_tables([some, pa.table({"lon": points[:, 0], "lat": points[:, 1]})])
    names = [None, "", "Zoë", "1:2:3", "ü" * LONGEST_ID, "ü" * (LONGEST_ID + 1), *(f"user {n}" for n in range(34))]
    who = np.minimum(np.random.default_rng(3).zipf(1.4, table.num_rows), len(names)) - 1
    return table.append_column("who", pa.array([names[number] for number in who]))


ROWS = rows()


@contextmanager
def postgres_table(server):
    """An address of a table of the rows."""
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS points")
        cursor.execute("CREATE TABLE points (lon float8, lat float8, who text)")
        with cursor.copy("COPY points FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["float8", "float8", "text"])
            for row in zip(*(ROWS[name].to_pylist() for name in ROWS.column_names), strict=True):
                copy.write_row(row)
    yield Address(text=f"{server}&table=points", engine="postgres")


@pytest.fixture
def held(request):
    """A function that puts the rows into an engine."""
    with ExitStack() as stack:

        def put(engine):
            if engine == "postgres":
                return stack.enter_context(postgres_table(request.getfixturevalue("server")))
            if engine == "spark":
                request.getfixturevalue("spark")
            return stack.enter_context(TABLES[engine](ROWS))

        yield put


def in_memory(areas=AREAS):
    """Our own kernels over the same rows."""
    return PointCounter(DOMAIN, open_points(ROWS, crs=DOMAIN.crs)).count(areas)


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_records_are_counted_in_their_areas(held, engine):
    """On outlines and shared borders too; what lies in none of the areas, or is no point, is in no count."""
    with open_counter(DOMAIN, open_points(held(engine), crs=DOMAIN.crs)) as counting:
        found = counting.count(AREAS)

    assert found.dtype == np.int64
    assert 0 < found.sum() < ROWS.num_rows
    np.testing.assert_array_equal(found, in_memory())


@pytest.mark.parametrize("distinct", [False, True], ids=["records", "distinct"])
@pytest.mark.parametrize("missing", ["drop", "own"])
@pytest.mark.parametrize("engine", WITH_USERS)
def test_the_same_records_of_a_user_are_kept(held, engine, missing, distinct):
    """By the same key: counts, their number, and the capped total."""
    rule = KeyedRule(
        key=KEY, domain=DOMAIN, most=3, most_for_total=7, areas=AreaIndex.of(AREAS), distinct_areas=distinct
    )
    there, here = (open_points(table, crs=DOMAIN.crs, user="who") for table in (held(engine), ROWS))

    with (
        open_bounded_counter(there, rule, missing=missing) as found,
        open_bounded_counter(here, rule, missing=missing) as expected,
    ):
        np.testing.assert_array_equal(found.counter.count(AREAS), expected.counter.count(AREAS))
        assert found.counter.rows() == expected.counter.rows() > 0
        assert found.true_capped_total == expected.true_capped_total


def test_the_rows_can_tell_rules_apart():
    """Negative control: another order of areas, single precision, and distinct users give other counts."""
    last_first = in_memory(partition(shapes()[::-1]))[::-1]
    single = ROWS.set_column(0, "lon", ROWS["lon"].cast(pa.float32()).cast(pa.float64()))
    rounded = PointCounter(DOMAIN, open_points(single, crs=DOMAIN.crs)).count(AREAS)

    assert np.any(last_first != in_memory())
    assert np.any(rounded != in_memory())

    def kept(**choice):
        rule = KeyedRule(key=KEY, domain=DOMAIN, most=3, most_for_total=7, **choice)
        with open_bounded_counter(open_points(ROWS, crs=DOMAIN.crs, user="who"), rule, missing="drop") as bounded:
            return bounded.counter.count(AREAS).tolist(), bounded.true_capped_total

    index = AreaIndex.of(AREAS)
    kinds = [kept(areas=index), kept(areas=index, distinct_areas=True), kept()]
    assert len({str(kind) for kind in kinds}) == 3


@pytest.mark.parametrize("engine", [name for name in TABLES if name != "spark"])
def test_a_release_is_the_same_from_everywhere(held, engine):
    """In levels: the same simulated noise gives the same values."""
    parts = shapes()
    half = ["west" if part.centroid.x < 0 else "east" for part in parts]
    named = {"half": half, "part": list(map(str, range(len(parts)))), "geometry": parts}
    options = {"domain": DOMAIN, "epsilon": 1, "method": hg.Areas(named, levels=["half", "part"])}

    there = hg.publish(held(engine), rng=hg.simulation_rng(3), **options)
    here = hg.publish(ROWS, rng=hg.simulation_rng(3), **options)

    np.testing.assert_array_equal(there.counts, here.counts)
    assert there.claim == here.claim


@pytest.mark.parametrize("engine", ["duckdb", "ibis-on-duckdb"])
def test_distinct_users_are_published_alike(held, engine):
    """By the front door, where the key is drawn from the same bits."""
    options = {"domain": DOMAIN, "epsilon": 1, "method": hg.Areas(shapes()), "distinct": True}
    options |= {"user": "who", "max_per_user": 2}

    there = hg.publish(held(engine), rng=hg.simulation_rng(3), **options)
    here = hg.publish(ROWS, rng=hg.simulation_rng(3), **options)

    np.testing.assert_array_equal(there.counts, here.counts)


@pytest.mark.parametrize("engine", ["ibis-on-duckdb", "postgres"])
def test_points_that_come_in_pieces_are_all_counted(held, engine, monkeypatch):
    """Fetched a few at a time, areas stored as they are found, and no table is left behind."""
    monkeypatch.setattr(ibis_engine, "ROWS_AT_ONCE", 100)
    points = open_points(held(engine), crs=DOMAIN.crs)
    connection = points._frame.to_native().get_backend().con  # whose tables are listed

    def ours():
        listed = "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'hushgrid%'"
        return sorted(connection.execute(listed).fetchall())

    before = ours()
    with open_counter(DOMAIN, points) as counting:
        copied = ours()
        np.testing.assert_array_equal(counting.count(AREAS), in_memory())
        assert ours() == copied != before
    assert ours() == before


@pytest.mark.parametrize("engine", [name for name in TABLES if name != "spark"])
def test_what_goes_wrong_beside_points_is_not_repeated(held, engine, monkeypatch):
    """An error among coordinates says neither which they are nor how many."""

    def failing(_index, longitudes, _latitudes):
        msg = f"12.34567 of {len(longitudes)}"
        raise ValueError(msg)

    with open_counter(DOMAIN, open_points(held(engine), crs=DOMAIN.crs)) as counting:
        monkeypatch.setattr(AreaIndex, "numbers", failing)
        with pytest.raises(EngineError, match="failed while counting") as caught:
            counting.count(AREAS)

    assert "12.34567" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_nothing_is_added_to_the_connection_of_a_user():
    """The function that finds areas belongs to a connection of our own."""
    with duckdb.connect() as connection:
        relation = connection.from_arrow(ROWS)
        listed = "SELECT count(*) FROM duckdb_functions()"
        before = connection.execute(listed).fetchall()
        with open_counter(DOMAIN, open_points(relation, crs=DOMAIN.crs)) as counting:
            counting.count(AREAS)

            assert connection.execute(listed).fetchall() == before
