"""No double is an error anywhere, and each lies in the cell that one plain expression gives it.

A database that raises an error on the arithmetic of one value has told that the value is there.
"""

import math
import warnings
from contextlib import ExitStack, contextmanager
from decimal import Decimal, localcontext

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import open_bounded_counter, open_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import DIVIDED, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.quadrants import Quadrants
from tests.conformance.engines import TABLES, uneven_tree
from tests.plain import PlainCounter
from tests.plain_users import kept

pytestmark = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # Ibis's own
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # of neighbours of the largest double
]

SMALLEST, NORMAL, LARGEST = math.ulp(0.0), 2.2250738585072014e-308, 1.7976931348623157e308
METRES = "EPSG:32631"
DOMAINS = {
    "unit square": Domain(west=0, south=0, east=1, north=1),
    "world": Domain(west=-180, south=-90, east=180, north=90),
    "from a denormal": Domain(west=SMALLEST, south=-3 * SMALLEST, east=1, north=7),
    "metres": Domain(west=0, south=-500_000, east=1_000_000, north=500_000, crs=METRES),
    "tiny": Domain(west=-1e-99, south=0, east=1e-99, north=3e-99),
    "huge": Domain(west=-8e99, south=0, east=9e99, north=1e100, crs=METRES),
}
BITS_OF_NAN = (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0x7FF4000000000001, 0xFFFFFFFFFFFFFFFF)
ODD = [0.0, SMALLEST, 2 * SMALLEST, 3 * SMALLEST, NORMAL, 1e-300, 1e-200, 1e-20, 1e15, 1e200, 1e308, LARGEST, math.inf]
HERE = [name for name in TABLES if name != "spark"]
SPARK = pytest.param("spark", marks=pytest.mark.slow)
EVERYWHERE = [*HERE, SPARK, "postgres", "memory", "parquet", "csv"]
WITH_USERS = ["duckdb", "ibis-on-duckdb", SPARK, "postgres", "memory", "parquet", "csv"]


def partitions(domain):
    """One partition of every kind."""
    first_level = Grid(domain=domain, rows=3, columns=4)
    nested = NestedGrid(grid=first_level, sides=[1, 3, 2, 1, 5, 1, 1, 7, 1, 2, 4, 1])
    return {
        "grid": Grid(domain=domain, rows=12, columns=16),
        "nested grid": nested,
        "grouped grid": GroupedGrid(nested=nested, groups=np.where(nested.sides > 1, DIVIDED, np.arange(12) % 2)),
        "tree": uneven_tree(domain),
        "quadrants": Quadrants(domain=domain, levels=[2, 2, 1, 5, 16], codes=[0, 3, 1, 767, 2**32 - 1]),
    }


def odd_numbers(domain, axis):
    """Denormals, zeros, infinities, and the edges of the domain, of cells and of cuts, all with both neighbours."""
    low, high = (domain.west, domain.east) if axis == 0 else (domain.south, domain.north)
    kinds = partitions(domain)
    edges = [kinds[name].bounds()[:, axis::2].ravel() for name in ("grid", "nested grid", "quadrants")]
    lattice = kinds["tree"].lattice
    lines = np.unique(kinds["tree"].boxes[:, axis::2])
    cuts = low + lines * ((high - low) / (lattice.columns, lattice.rows)[axis])
    numbers = np.unique(np.concatenate([ODD, np.negative(ODD), [low, high], cuts, *edges]))
    around = [numbers, np.nextafter(numbers, -np.inf), np.nextafter(numbers, np.inf)]
    no_numbers = np.array(BITS_OF_NAN, np.uint64).view(np.float64)
    return np.concatenate([[-0.0], np.unique(np.concatenate(around)), no_numbers])


def odd_rows(domain):
    """Every odd number beside a plain one, on either axis, and beside another odd one."""
    east, north = odd_numbers(domain, 0), odd_numbers(domain, 1)
    middle = np.array([domain.west + domain.width * 0.3, domain.south + domain.height * 0.7])
    rng = np.random.default_rng(7)
    lon = np.concatenate([east, np.full(len(north), middle[0]), rng.permutation(east), rng.choice(east, 200)])
    lat = np.concatenate([np.full(len(east), middle[1]), north, rng.choice(north, len(east)), rng.choice(north, 200)])
    return pa.table({"id": np.arange(len(lon)) % 23, "lon": pa.array(lon), "lat": pa.array(lat)})


@contextmanager
def postgres_table(server, rows, kind="float8"):
    """An address of a table with the very same bits."""
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS odd")
        cursor.execute(f"CREATE TABLE odd (id bigint, lon {kind}, lat {kind})")
        with cursor.copy("COPY odd FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int8", kind, kind])
            for row in zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True):
                copy.write_row(row)
    yield Address(text=f"{server}&table=odd", engine="postgres")


def written(name, rows, folder):
    """A path of a file of these rows, in full precision."""
    path = folder / f"odd.{name}"
    if name == "parquet":
        pq.write_table(rows, path)
    else:
        columns = (rows["id"].to_pylist(), rows["lon"].to_pylist(), rows["lat"].to_pylist())
        lines = [",".join(map(repr, row)) for row in zip(*columns, strict=True)]
        path.write_text("\n".join(["id,lon,lat", *lines, ""]))
    return path


@pytest.fixture
def held(request, tmp_path):
    """A function that puts rows where an engine or a reader finds them."""
    with ExitStack() as stack:

        def put(name, rows):
            if name == "memory":
                return rows
            if name in ("parquet", "csv"):
                return written(name, rows, tmp_path)
            if name == "postgres":
                return stack.enter_context(postgres_table(request.getfixturevalue("server"), rows))
            if name == "spark":
                request.getfixturevalue("spark")
            return stack.enter_context(TABLES[name](rows))

        yield put


def plain_points(rows):
    """Pairs of floats."""
    return tuple(zip(rows["lon"].to_pylist(), rows["lat"].to_pylist(), strict=True))


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
@pytest.mark.parametrize("engine", EVERYWHERE)
def test_every_double_is_counted_where_it_lies(held, engine, domain):
    """Odd doubles are counted in their cells, on every kind of partition."""
    rows = odd_rows(domain)
    expected = PlainCounter(domain, plain_points(rows))

    with open_counter(domain, open_points(held(engine, rows), crs=domain.crs)) as counting:
        assert counting.rows() == rows.num_rows
        assert 0 < counting.total() == expected.total() < rows.num_rows
        for kind, partition in partitions(domain).items():
            np.testing.assert_array_equal(counting.count(partition), expected.count(partition), err_msg=kind)


@pytest.mark.parametrize("shape", [None, {"columns": 5, "rows": 4}], ids=["records", "distinct"])
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
@pytest.mark.parametrize("engine", WITH_USERS)
def test_the_records_of_a_user_are_chosen_alike(held, engine, domain, shape):
    """By a lattice finer than any partition, on which the place of every double is the same."""
    rows, key = odd_rows(domain), bytes(range(32))
    grid = None if shape is None else Grid(domain=domain, **shape)
    rule = KeyedRule(key=key, domain=domain, most=5, distinct_grid=grid)
    records = list(zip((b"%d" % user for user in rows["id"].to_pylist()), plain_points(rows), strict=True))
    options = {} if shape is None else {**shape, "distinct": True}
    expected = PlainCounter(domain, tuple(kept(records, key=key, domain=domain, most=5, **options)))
    fine = Grid(domain=domain, rows=733, columns=1024)

    points = open_points(held(engine, rows), crs=domain.crs, user="id")
    with open_bounded_counter(points, rule, missing="drop") as bounded:
        np.testing.assert_array_equal(bounded.counter.count(fine), expected.count(fine))


def assert_counted(points, domain, expected):
    """On a grid, as one point after the other."""
    plain, grid = PlainCounter(domain, tuple(expected)), partitions(domain)["grid"]
    with open_counter(domain, open_points(points, crs=domain.crs)) as counting:
        np.testing.assert_array_equal(counting.count(grid), plain.count(grid))
    assert plain.total() > 0


@pytest.mark.parametrize("engine", [*HERE, SPARK, "memory", "parquet"])
def test_single_precision_is_exact(held, engine):
    """Denormals, infinities and all kinds of NaN among them."""
    bits = [0, 1, 2, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001, 0x7FFFFFFF]
    numbers = np.array([*bits, *(bit | 0x80000000 for bit in bits), *range(0x3E000000, 0x3F800002, 0x80000)], np.uint32)
    column = numbers.view(np.float32)
    rows = pa.table({"lon": pa.array(column), "lat": pa.array(column[::-1].copy())})
    with np.errstate(invalid="ignore"):
        plain = column.astype(np.float64).tolist()

    assert_counted(held(engine, rows), DOMAINS["unit square"], zip(plain, plain[::-1], strict=True))


SILENT = {
    "records": {"domain": DOMAINS["unit square"]},
    "slices": {"domain": DOMAINS["unit square"], "by": hg.By("id", values=range(3), other=True)},
    "projected": {"domain": Domain(west=0, south=0, east=1e5, north=1e5, crs="EPSG:3857"), "crs": "OGC:CRS84"},
}


@pytest.mark.parametrize("options", SILENT.values(), ids=SILENT)
@pytest.mark.parametrize("engine", [*HERE, "memory", "parquet"])
def test_no_number_of_single_precision_says_a_word(held, engine, options):
    """A signalling NaN, above all: of one that is widened, numpy warns, or raises an error where it was told to."""
    if "crs" in options and engine in HERE:
        pytest.skip("an engine transforms no points")
    bits = np.array([0, 1, 0x3F000000, 0x7F7FFFFF, 0x7F800000, 0x7FA00000, 0x7FC00000, 0xFF800001], np.uint32)
    column = pa.array(bits.view(np.float32))
    rows = pa.table({"id": np.arange(len(column)) % 5, "lon": column, "lat": column[::-1]})

    with warnings.catch_warnings(action="error", category=RuntimeWarning), np.errstate(all="raise"):
        release = hg.publish(held(engine, rows), epsilon=1, method="ug", rng=hg.simulation_rng(1), **options)

    assert release.claim.epsilon == 1


@pytest.mark.parametrize("kind", [pa.decimal128(9, 6), pa.decimal128(18, 3), pa.decimal128(38, 35)], ids=str)
@pytest.mark.parametrize("engine", ["polars", "duckdb", "ibis-on-duckdb", SPARK, "memory", "parquet"])
def test_a_decimal_is_the_nearest_double(held, engine, kind):
    """Every engine makes the nearest double of a decimal; on edges of cells, a cast that rounds twice would show."""
    domain = Domain(west=0, south=0, east=0.7, north=0.3)
    step = Decimal(1).scaleb(-kind.scale)
    with localcontext(prec=60):
        edges = [side * n / 1920 for side in map(Decimal, ("0.7", "0.3")) for n in range(1, 1920, 5)]
        values = [edge.quantize(step) + more for edge in edges for more in (-step, 0 * step, step)]
    rows = pa.table({"lon": pa.array(values, kind), "lat": pa.array(values[::-1], kind)})
    plain = [float(value) for value in values]
    expected = PlainCounter(domain, tuple(zip(plain, plain[::-1], strict=True)))
    fine = Grid(domain=domain, rows=1920, columns=1920)

    with open_counter(domain, open_points(held(engine, rows), crs=domain.crs)) as counting:
        np.testing.assert_array_equal(counting.count(fine), expected.count(fine))


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64()], ids=str)
@pytest.mark.parametrize("engine", [*HERE, "memory", "parquet"])
def test_whole_numbers_are_the_nearest_doubles(held, engine, kind):
    """Every engine makes the nearest double of whole numbers, the largest ones too."""
    width, signed = kind.bit_width, not pa.types.is_unsigned_integer(kind)
    values = [0, 1, 2, 3, 100, 2 ** (width - 1) - 1, *([-1, -(2 ** (width - 1))] if signed else [2**width - 1])]
    rows = pa.table({"lon": pa.array(values, kind), "lat": pa.array([1] * len(values), kind)})

    assert_counted(held(engine, rows), DOMAINS["world"], [(float(value), 1.0) for value in values])
    if width == 64:
        domain = Domain(west=2**53, south=0, east=2**64, north=2, crs=METRES)
        assert_counted(held(engine, rows), domain, [(float(value), 1.0) for value in values])


NUMERIC = (
    "1e400",
    "-1e400",
    "1e-400",
    "-1e-400",
    "1e131071",
    "2.48e-324",
    "2.46e-324",
    "1e-310",
    "1.7976931348623157e308",
)
NUMERIC += ("1.7976931348623159e308", "0.1", "0.30000000000000004", "0.29999999999999998889776975", "5", "0")
WORDS = ("NaN", "Infinity", "-Infinity")
# A table by URL, and a table of Ibis that somebody made themselves.
ROUTES = ("url", "ibis")


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("domain", ["unit square", "from a denormal", "huge"])
def test_decimals_of_any_size_are_no_error_in_postgres(server, route, domain):
    """The server's own cast to double raises where no double is near."""
    texts = [*NUMERIC, *WORDS]
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS exact; CREATE TABLE exact (lon numeric, lat numeric(10, 3))")
        cursor.executemany("INSERT INTO exact VALUES (%s::numeric, 0.7)", [[text] for text in texts])
    plain = [(float(text), 0.7) for text in texts]

    with psycopg.connect(server) as connection:
        assert_counted(postgres_route(server, connection, route, "exact"), DOMAINS[domain], plain)


@pytest.mark.parametrize("route", ROUTES)
def test_other_numbers_are_no_error_in_postgres(server, route):
    """Single precision with all that it holds."""
    bits = np.array([0, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x3F000000], np.uint32)
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS single; CREATE TABLE single (lon real, lat real)")
        with cursor.copy("COPY single FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["float4", "float4"])
            for number in bits.view(np.float32).tolist():
                copy.write_row([number, 0.5])
    plain = [(number, 0.5) for number in bits.view(np.float32).tolist()]

    with psycopg.connect(server) as connection:
        assert_counted(postgres_route(server, connection, route, "single"), DOMAINS["unit square"], plain)


def postgres_route(server, connection, route, table):
    """A table of PostgreSQL, on one of two ways."""
    if route == "url":
        return Address(text=f"{server}&table={table}", engine="postgres")
    import ibis

    return ibis.postgres.from_connection(connection).table(table)


def test_the_list_holds_what_fails_without_care():
    """Negative control: of the plain expression, some products underflow; and some points change cells by an ulp."""
    domain = DOMAINS["metres"]
    east = odd_numbers(domain, 0)
    distances = east[(east >= domain.west) & (east <= domain.east)] - domain.west

    assert np.any((distances > 0) & (distances * (1 / domain.width) == 0))
    for scale in (16 / domain.width, 4 / domain.width):
        assert np.any(np.floor(distances * scale) != np.floor(distances * np.nextafter(scale, 0)))


@pytest.mark.parametrize("extent", [SMALLEST, NORMAL, 1e-300])
def test_a_domain_whose_cells_have_no_size_is_refused(extent):
    """Cells per unit of length would be infinite, and the place of a point no number."""
    with pytest.raises(ArgumentError, match="too narrow or too wide"):
        Domain(west=0, south=0, east=extent, north=1)
