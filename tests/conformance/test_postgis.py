"""Geometries of PostGIS are counted in the server, as our own kernels count the same geometries."""

from dataclasses import replace

import numpy as np
import psycopg
import pytest

import hushgrid as hg
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import PointCounter, open_bounded_counter, open_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.errors import ArgumentError, HushgridError, InputError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.conformance.engines import DOMAIN, partitions
from tests.conformance.postgis import in_memory, running_postgis, why_no_postgis

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

METRES = Domain(west=-3e5, south=1e5, east=6e5, north=3e5, crs="EPSG:3857")


@pytest.fixture(scope="module")
def server():
    """The URL of a PostgreSQL server of our own, with PostGIS."""
    if reason := why_no_postgis():
        pytest.skip(reason)
    with running_postgis() as url:
        yield url


def opened(server, ending, domain=DOMAIN, **columns):
    """Points of the server."""
    return open_points(Address(text=f"{server}&{ending}", engine="postgres"), crs=domain.crs, **columns)


def test_points_are_found_by_their_type_and_counted_alike(server):
    """Without a name, on every kind of partition."""
    expected = PointCounter(DOMAIN, open_points(in_memory(server, "geom"), crs=DOMAIN.crs, geometry="geom"))

    with open_counter(DOMAIN, opened(server, "table=points")) as counting:
        assert counting.rows() == expected.rows()
        assert 0 < counting.total() < expected.rows()
        for partition in partitions(DOMAIN).values():
            np.testing.assert_array_equal(counting.count(partition), expected.count(partition))


COLUMNS = {
    "mixed geometries": ("anything", DOMAIN),
    "geographies": ("globe", DOMAIN),
    "another reference system": ("metres", METRES),
}


@pytest.mark.parametrize(("column", "domain"), COLUMNS.values(), ids=COLUMNS)
def test_a_named_column_is_counted_alike(server, column, domain):
    """What is empty, null or no point is left out; height and measure are passed over."""
    expected = PointCounter(domain, open_points(in_memory(server, column), crs=domain.crs, geometry=column))
    fine = Grid(domain=domain, rows=700, columns=300)

    with open_counter(domain, opened(server, "table=trips", domain, geometry=column)) as counting:
        np.testing.assert_array_equal(counting.count(fine), expected.count(fine))
        assert counting.total() > 0


@pytest.mark.parametrize("user", [None, "who", "device"])
def test_slices_are_those_of_memory(server, user):
    """Of geometries, beside users whose ids are UUIDs or bytes."""
    by = hg.By("id", values=list(map(str, range(0, 40, 3))), other=True)
    options = {"domain": DOMAIN, "epsilon": 1, "method": "ug", "by": by, "calibrate": False, "geometry": "geom"}
    options |= {} if user is None else {"user": user, "max_per_user": 3}
    there = Address(text=f"{server}&table=points", engine="postgres")

    found, expected = (
        hg.publish(points, rng=hg.simulation_rng(3), **options) for points in (there, in_memory(server, "geom"))
    )

    assert list(found) == list(by.names)
    for name in by.names:
        np.testing.assert_array_equal(found[name].counts, expected[name].counts)


def test_a_geometry_tells_no_slice(server):
    """Coordinates tell no slice either, whatever the query calls them."""
    with pytest.raises(ArgumentError, match="column of coordinates"):
        opened(server, "table=points", by=hg.By("geom", values=["here"]))
    with pytest.raises(ArgumentError, match="column of coordinates"):
        opened(server, 'select=SELECT geom, id AS "ST_X" FROM trips', by=hg.By("ST_X", values=["1"]))


@pytest.mark.parametrize("user", ["id", "who", "device"])
def test_the_same_records_of_a_user_are_kept(server, user):
    """Whose ids are integers, UUIDs or bytes."""
    rule = KeyedRule(key=bytes(range(32)), domain=DOMAIN, most=3, most_for_total=7)
    fine = partitions(DOMAIN)["fine-grid"]
    there = opened(server, "table=points", user=user)
    here = open_points(in_memory(server, "geom"), crs=DOMAIN.crs, geometry="geom", user=user)

    with (
        open_bounded_counter(there, rule, missing="drop") as found,
        open_bounded_counter(here, rule, missing="drop") as expected,
    ):
        np.testing.assert_array_equal(found.counter.count(fine), expected.counter.count(fine))
        assert found.true_capped_total == expected.true_capped_total > 0


def test_a_query_may_transform(server):
    """What it gives declares no system, and is taken to be in the domain's."""
    with open_counter(DOMAIN, opened(server, "table=in_degrees")) as viewed:
        total = viewed.total()
    with open_counter(DOMAIN, opened(server, "select=SELECT ST_Transform(metres, 4326) AS m FROM trips")) as queried:
        assert queried.total() == total > 0


def test_numbers_that_no_double_is_near_are_no_error(server):
    """They are decimals of one row each: too large is no point, too small is zero."""
    query = "select=SELECT exact AS lon, 1.5 AS lat FROM trips"
    with psycopg.connect(server) as connection:
        ((expected,),) = connection.execute("SELECT count(*) FROM trips WHERE exact < 2")

    with open_counter(DOMAIN, opened(server, query)) as counting:
        assert counting.total() == expected


def test_functions_may_be_in_another_schema(server):
    """PostGIS may be in a schema that is not on the search path."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE elsewhere")
    url = server.replace("/postgres?", "/elsewhere?")
    with psycopg.connect(url) as connection:
        connection.execute('CREATE SCHEMA "Geo"; CREATE EXTENSION postgis SCHEMA "Geo"; CREATE SCHEMA city')
        made = 'SELECT "Geo".ST_Point(n, 1, 4326) AS "g%" FROM generate_series(-9, 9) n'
        connection.execute(f'CREATE TABLE city."My ""trips""" AS {made}')

    with open_counter(DOMAIN, opened(url, 'table=city.My "trips"')) as counting:
        assert counting.total() == 9


ERRORS = {
    "another system": (
        "trips",
        {"geometry": "metres"},
        r"in EPSG:3857, and not in OGC:CRS84.*ST_MakeEnvelope",
    ),
    "several geometries": ("trips", {}, "Name them: lon=, lat=, or geometry="),
    "declared as lines": ("trips", {"geometry": "road"}, r"has type geometry\(LineString,4326\); points are of type"),
    "no geometry": ("trips", {"geometry": "name"}, "column 'name' of the table has type text; points are of type"),
    "no column": ("points", {"geometry": "place"}, "has no column 'place'. Its columns are: 'id', 'who'"),
    "numbers that are none": ("trips", {"lon": "geom", "lat": "id"}, "column 'geom' of the table has type"),
    "no users": ("points", {"user": "rider"}, "column 'rider' of user ids"),
    "users that are none": ("points", {"user": "geom"}, "is a column of coordinates"),
}


@pytest.mark.parametrize(("table", "columns", "message"), ERRORS.values(), ids=ERRORS)
def test_what_is_wrong_is_said_by_the_catalogue(server, table, columns, message):
    """Errors come with the way out, and without a look at rows."""
    with pytest.raises(HushgridError, match=message):
        opened(server, f"table={table}", **columns)


def test_degrees_are_refused_for_a_domain_in_metres(server):
    """A geography is in degrees even where it declares nothing."""
    domain = replace(METRES, crs="EPSG:32631")

    with pytest.raises(InputError, match=r"in EPSG:4326, and not in EPSG:32631.*END, 32631"):
        opened(server, "select=SELECT geom::geography AS g FROM trips", domain)


def test_a_table_that_may_not_be_read_is_found_out_before_it_is(server):
    """A missing right is found before any row is read, so that a ledger gives the budget back."""
    with psycopg.connect(server) as connection:
        connection.execute("CREATE ROLE guest LOGIN")

    with pytest.raises(InputError, match=r"does not let this user open 'points'. Reading it takes SELECT"):
        opened(server.replace("hush@", "guest@"), "table=points")
