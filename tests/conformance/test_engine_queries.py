"""Engines are asked few queries for quadtree cells, whatever the points, and answer what our own kernels count."""

from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import narwhals as nw
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting import quadtree
from hushgrid.counting.counter import PointCounter, open_counter
from hushgrid.counting.engine import counter as engine_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.geometry.quadrants import DEEPEST, Quadrants, all_cells
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.staq import Staq
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.conformance.engines import DOMAIN, TABLES
from tests.plain import UNIT_SQUARE
from tests.scripted import ScriptedBudget

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own

SLOW = ("spark", "postgres")  # which take a minute to start, or seconds a query
ENGINES = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in (*TABLES, "postgres")]
MOST_QUERIES = 4


def in_towns(size):
    """Points in and around towns of very different size, some at one place, and some rows that are no points."""
    rng = np.random.default_rng(0)
    west, south, east, north = DOMAIN.bounds
    weights, spread = rng.pareto(1.1, 500), rng.lognormal(-5, 1.2, 500)
    town = rng.choice(500, size, p=weights / weights.sum())
    shares = rng.random((500, 2))[town] + spread[town, None] * rng.normal(size=(size, 2))
    shares[::1000] = 0.625
    points = [west, south] + shares * [east - west, north - south]
    points[::5000] = np.nan
    return pa.table({"lon": points[:, 0], "lat": points[:, 1]})


def on_lines():
    """Points on lines of all levels, and an ulp beside them."""
    rng = np.random.default_rng(1)
    west, south, east, north = DOMAIN.bounds
    levels = rng.integers(1, DEEPEST + 1, (3000, 2))
    shares = rng.integers(0, 2**levels + 1) / 2**levels * rng.choice([1, 2.0**-7], (3000, 1))
    on = [west, south] + shares * [east - west, north - south]
    points = np.concatenate([on, np.nextafter(on, -np.inf), np.nextafter(on, np.inf)])
    return pa.table({"lon": points[:, 0], "lat": points[:, 1]})


@contextmanager
def postgres_table(server, rows):
    """An address of a table with the same rows."""
    name = f"t{uuid4().hex}"
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} (lon double precision, lat double precision)")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(rows["lon"].to_pylist(), rows["lat"].to_pylist(), strict=True):
                copy.write_row(row)
    yield Address(text=f"{server}&table={name}", engine="postgres")


@contextmanager
def spark_table(session, rows):
    """A table that Spark reads from a file, which takes it less time than being handed the rows."""
    with TemporaryDirectory() as folder:
        pq.write_table(rows, Path(folder, "points.parquet"))
        yield session.read.parquet(folder)


@pytest.fixture
def opened(request):
    """A function that opens a counter of rows in an engine."""
    with ExitStack() as stack:

        def make(engine, rows):
            match engine:
                case "spark":
                    made = spark_table(request.getfixturevalue("spark"), rows)
                case "postgres":
                    made = postgres_table(request.getfixturevalue("server"), rows)
                case _:
                    made = TABLES[engine](rows)
            table = stack.enter_context(made)
            return stack.enter_context(open_counter(DOMAIN, open_points(table, crs=DOMAIN.crs)))

        yield make


@pytest.fixture
def answers(monkeypatch):
    """The number of rows that came back from each query."""
    sizes, collect = [], nw.LazyFrame.collect

    def collecting(frame, *args, **options):
        found = collect(frame, *args, **options)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(nw.LazyFrame, "collect", collecting)
    return sizes


def in_memory(rows):
    """Our own kernels over the same rows."""
    return PointCounter(DOMAIN, open_points(rows, crs=DOMAIN.crs))


def released(method, counter):
    """A simulated release of a counter."""
    return method.release(counter, Budget(Fraction(1), bits=simulation_rng(5)))


@pytest.mark.parametrize("engine", ENGINES)
def test_staq_asks_few_queries_and_releases_the_same(engine, opened, answers):
    """A million points in an engine: the very values of a release in memory, in three queries where rounds are many."""
    rows, method = in_towns(10**6), Staq(inference="least-squares")
    counter = opened(engine, rows)
    before = len(answers)
    rounds = []
    count = counter.count
    counter.count = lambda cells: rounds.append(cells) or count(cells)

    found, expected = released(method, counter), released(method, in_memory(rows))

    assert len(rounds) > MOST_QUERIES + 2
    assert max(cells.levels.max() for cells in rounds) > quadtree.DENSE_LEVEL
    assert 2 <= len(answers) - before <= 3
    assert max(answers[before:]) <= 4**quadtree.DENSE_LEVEL
    assert np.array_equal(found.partition.bounds(), expected.partition.bounds())
    assert np.array_equal(found.measurements.leaves.values, expected.measurements.leaves.values)
    assert found.claim == expected.claim


def test_privtree_asks_few_queries_and_releases_the_same(opened, answers):
    """All its rounds, and the leaves of all levels in the end."""
    rows = in_towns(10**5)

    found, expected = released(PrivTree(), opened("duckdb", rows)), released(PrivTree(), in_memory(rows))

    assert len(answers) <= MOST_QUERIES
    assert np.array_equal(found.measurements.leaves.values, expected.measurements.leaves.values)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [in_towns(2000), in_towns(2000).slice(0, 1), in_towns(2000).slice(0, 0)], ids=len)
def test_rows_are_counted_along_with_the_first_cells(engine, rows, opened, answers):
    """With and without points, and rows that are none; a query of their own gives the same number."""
    counter, plain = opened(engine, rows), opened(engine, rows)
    before = len(answers)

    counter.count(all_cells(DOMAIN, 3))

    assert counter.rows() == rows.num_rows
    assert len(answers) - before == 1
    assert plain.rows() == rows.num_rows


@pytest.mark.parametrize("most_parts", [0, 4**6, quadtree.MOST_PARTS])
@pytest.mark.parametrize("engine", ENGINES)
def test_cells_of_all_levels_are_those_of_the_kernels(engine, most_parts, opened, monkeypatch):
    """On lines and an ulp beside them, with room for all parts of cells, for some, or for none."""
    monkeypatch.setattr(quadtree, "MOST_PARTS", most_parts)
    rows = on_lines()
    counter, expected = opened(engine, rows), in_memory(rows)

    for cells in [all_cells(DOMAIN, 2), *(corner_cells(level) for level in (11, 12, 14, 16))]:
        np.testing.assert_array_equal(counter.count(cells), expected.count(cells))


def corner_cells(deepest):
    """Cells that are finer and finer towards a corner, with gaps between them."""
    parts = [(level, code) for level in range(deepest, 0, -5) for code in (1, 2, 3)]
    levels, codes = np.array([(deepest, 0), *parts]).T
    order = np.argsort(codes << 2 * (DEEPEST - levels))
    return Quadrants(domain=DOMAIN, levels=levels[order], codes=codes[order])


@pytest.mark.parametrize(("dense_level", "most_parts"), [(3, 600), (5, 4**7)])
def test_no_answer_is_larger_than_what_was_planned(dense_level, most_parts, opened, answers, monkeypatch):
    """The cells of the dense level and one for all rows, the parts that there is room for, or the cells asked for."""
    monkeypatch.setattr(quadtree, "DENSE_LEVEL", dense_level)
    monkeypatch.setattr(quadtree, "MOST_PARTS", most_parts)
    counter = opened("duckdb", in_towns(50_000))

    synopsis = released(Staq(inference="least-squares"), counter)

    assert max(answers[1:]) > 4**dense_level  # else nothing would be limited
    assert answers[0] <= 4**dense_level + 1
    assert max(answers[1:]) <= max(most_parts, synopsis.partition.cells)


@pytest.mark.parametrize("method", [Staq(first_level=2), PrivTree()], ids=["staq", "privtree"])
def test_queries_follow_from_released_values(method, monkeypatch):
    """No points, spread ones and stacked ones are asked about alike if what is released is the same."""
    monkeypatch.setattr(quadtree, "DENSE_LEVEL", 2)
    monkeypatch.setattr(quadtree, "MOST_PARTS", 4**5)
    spread = np.random.default_rng(0).random((300, 2))
    tables = [spread, np.full((60, 2), 0.6), spread[:0]]

    first, *others = (asked(method, points, 0, monkeypatch) for points in tables)

    assert len(first) > 1
    assert first == others[0] == others[1]
    assert first != asked(method, spread, 1, monkeypatch)  # other values, other queries


def asked(method, points, seed, monkeypatch):
    """The partitions of all queries of a release whose values come from a script."""
    partitions = []
    make = engine_counter.cell_keys

    def noting(engine, frame, partition):
        fields = {
            name: value for name, value in vars(partition).items() if name in ("level", "levels", "codes", "steps")
        }
        partitions.append((type(partition), repr({name: np.asarray(value).tolist() for name, value in fields.items()})))
        return make(engine, frame, partition)

    with monkeypatch.context() as patch, TABLES["polars"](table_of(points)) as table:
        patch.setattr(engine_counter, "cell_keys", noting)
        with open_counter(UNIT_SQUARE, open_points(table, crs=UNIT_SQUARE.crs)) as counter:
            method.release(counter, ScriptedBudget(seed))
    return partitions


def table_of(points):
    """Longitudes and latitudes of points."""
    return pa.table({"lon": points[:, 0], "lat": points[:, 1]})
