"""Counting on any partition, from any source, cut anywhere."""

import csv

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting import memory
from hushgrid.counting.columns import Dialect
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.csv import CsvPoints
from hushgrid.counting.memory import ArrayPoints, TablePoints
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.plain import PlainCounter
from tests.strategies import partitions

DIGITS = Grid(domain=Domain(west=-100, south=-90, east=100, north=90), rows=9, columns=20)

LINES = st.one_of(
    st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")),
    st.text('0123456789.-+e,;" \r', max_size=20).map(str.encode),
    st.tuples(st.integers(-99, 99), st.integers(-99, 99)).map(lambda pair: b"%d,%d" % pair),
)


@st.composite
def partitions_and_points(draw, most=30):
    """A partition and points in, on and around its cells."""
    partition = draw(partitions())
    west, south, east, north = partition.bounds().T
    edges = [np.unique(np.concatenate(sides)) for sides in ((west, east), (south, north))]
    coordinates = [
        st.one_of(
            st.sampled_from(values.tolist()),
            st.sampled_from(values.tolist()).map(lambda edge: float(np.nextafter(edge, np.inf))),
            st.sampled_from(values.tolist()).map(lambda edge: float(np.nextafter(edge, -np.inf))),
            st.floats(values[0] - 1, values[-1] + 1),
            st.floats(),
        )
        for values in edges
    ]
    return partition, draw(st.lists(st.tuples(*coordinates), max_size=most))


@settings(max_examples=150, deadline=None)
@given(partitions_and_points())
def test_every_point_is_counted_where_a_plain_loop_counts_it(drawn):
    """Edges, neighbours of edges and any other double included."""
    partition, points = drawn

    counted = PointCounter(partition.domain, ArrayPoints.of_rows(points)).count(partition)

    np.testing.assert_array_equal(counted, PlainCounter(partition.domain, points).count(partition))


@settings(max_examples=50, deadline=None)
@given(partitions_and_points(), st.integers(1, 31), st.randoms(use_true_random=False))
def test_order_and_cuts_do_not_matter(drawn, part_rows, shuffle):
    """Rows in another order, in parts of another size, give the same counts and the same number of rows."""
    partition, points = drawn
    whole = PointCounter(partition.domain, ArrayPoints.of_rows(points))
    shuffled = shuffle.sample(points, len(points))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "PART_ROWS", part_rows)
        cut = PointCounter(partition.domain, ArrayPoints.of_rows(shuffled))
        np.testing.assert_array_equal(cut.count(partition), whole.count(partition))

    assert cut.rows() == whole.rows() == len(points)


@settings(max_examples=50, deadline=None)
@given(partitions_and_points(), st.integers(1, 400), st.integers(1, 400))
def test_text_and_tables_are_counted_as_arrays_are(tmp_path_factory, drawn, part_bytes, block_bytes):
    """Every double survives the way through CSV, in parts and blocks of any size, and through Arrow."""
    partition, points = drawn
    columns = np.array(points).reshape(-1, 2).T
    expected = PointCounter(partition.domain, ArrayPoints.of_rows(points)).count(partition)
    path = tmp_path_factory.mktemp("csv") / "points.csv"
    path.write_text("lon,lat\n" + "".join(f"{x!r},{y!r}\n" for x, y in points))
    table = pa.table({"lon": columns[0], "lat": columns[1]})

    sources = (
        CsvPoints(path, part_bytes=part_bytes, block_bytes=block_bytes),
        TablePoints.of_frame(table, crs=partition.domain.crs),
    )

    for source in sources:
        np.testing.assert_array_equal(PointCounter(partition.domain, source).count(partition), expected)


PLAIN = {"sep": ",", "decimal": ".", "quoting": csv.QUOTE_MINIMAL}
DIALECTS = st.tuples(st.sampled_from(",;\t|"), st.sampled_from(".,"), st.sampled_from([0, 1, 2])).filter(
    lambda signs: signs[0] != signs[1]
)
NAMES = st.text(alphabet=',;\t|." ab1', max_size=6)


@settings(max_examples=60, deadline=None)
@given(partitions_and_points(), st.lists(NAMES, min_size=30, max_size=30), DIALECTS, st.booleans())
def test_a_table_counts_the_same_in_every_dialect(tmp_path_factory, drawn, names, signs, is_named):
    """As pandas writes it, with names that are full of delimiters and quotes between the coordinates."""
    partition, points = drawn
    delimiter, decimal, quoting = signs
    columns = np.array(points).reshape(-1, 2).T
    table = pd.DataFrame({"lat": columns[1], "name": names[: len(points)], "lon": columns[0]})
    folder = tmp_path_factory.mktemp("csv")
    table.to_csv(folder / "plain.csv", index=False, **PLAIN)
    table.to_csv(folder / "other.csv", index=False, sep=delimiter, decimal=decimal, quoting=quoting)
    dialect = Dialect(delimiter=delimiter, decimal=decimal) if is_named else Dialect()

    plain, other = CsvPoints(folder / "plain.csv"), CsvPoints(folder / "other.csv", dialect=dialect)

    assert other.rows() == plain.rows() == len(points)
    np.testing.assert_array_equal(*(PointCounter(partition.domain, each).count(partition) for each in (other, plain)))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(LINES, max_size=5),
    LINES,
    st.integers(0, 5),
    st.integers(1, 64),
)
def test_one_more_line_of_any_bytes_moves_one_count_by_one_at_most(tmp_path_factory, lines, line, at, block_bytes):
    """The sensitivity of CSV is 1: in counts, in rows, and in what is raised, which is nothing."""
    path = tmp_path_factory.mktemp("csv") / "points.csv"
    answers = []
    for content in (lines, [*lines[:at], line, *lines[at:]]):
        path.write_bytes(b"\n".join([b"lon,lat", *content]))
        counting = PointCounter(DIGITS.domain, CsvPoints(path, block_bytes=block_bytes))
        answers.append((counting.count(DIGITS), counting.rows()))

    (counts, rows), (more_counts, more_rows) = answers
    assert 0 <= more_rows - rows <= 1
    assert (more_counts - counts).min() >= 0
    assert (more_counts - counts).sum() <= more_rows - rows
