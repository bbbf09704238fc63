"""One CSV file has the same counts through every route, those of a reader written a second time from the rules."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hushgrid.counting.columns import Dialect
from hushgrid.counting.counter import open_counter
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.errors import InputError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid

DOMAIN = Domain(west=-160, south=-80, east=160, north=80)
GRID = Grid(domain=DOMAIN, rows=160, columns=320)  # cells of one degree
LONGEST_LINE = 2**20
NUMBER = re.compile(rb"[ \t\r]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\r]*")
FIELD = re.compile(rb'"((?:[^"]|"")*)"[ \t\r]*(?=SEP|$)|("[^"]*(?:""[^"]*)*"[^SEP]*|[^"SEP][^SEP]*|)(?=SEP|$)|(.*)')

HEADER = b"id,place,lon,lat\n"
GOOD = [b'%d,"Main St, No. %d",%d.5,%d' % (number, number, number % 150, number % 80) for number in range(40)]

LINES = {
    "a separator in quotes": b'7,"a, b, c",1,2',
    "doubled quotes": b'7,"a ""b"", c",1,2',
    "a quote that is never closed": b'7,"a,1,2',
    "a quote before the number": b'7,a,"1,2',
    "a quote in the middle": b'7,a,1"1,2',
    "text after a closing quote": b'7,a,"1"x,2',
    "quoted numbers": b'7,a,"1","2"',
    "a lone return": b"7,a,1,2\r8,b,3,4\r9,c,5,6",
    "returns alone": b"\r\r\r",
    "CRLF": b"7,a,1,2\r",
    "a zero byte": b"7,a\x00,1,2",
    "a zero byte in a number": b"7,a,1\x00,2",
    "a byte order mark": b"\xef\xbb\xbf7,a,1,2",
    "a mark in a number": b"7,a,\xef\xbb\xbf1,2",
    "not UTF-8": b"7,\xff\xfe\xc3\x28,1,2",
    "tabs around numbers": b"7,a,\t1\t,\t2\t",
    "spaces around numbers": b"7, a , 1 , 2 ",
    "hard spaces": "7,a,\u00a01,2".encode(),
    "a blank line": b"",
    "a line of blanks": b" \t ",
    "a plus": b"7,a,+1,+2",
    "exponents": b"7,a,1e2,1E-2",
    "an exponent too large": b"7,a,1e400,2",
    "no digit before the point": b"7,a,.5,-.5",
    "no digit after the point": b"7,a,1.,2.",
    "a point alone": b"7,a,.,2",
    "hexadecimal": b"7,a,0x10,2",
    "a hexadecimal float": b"7,a,0x1p3,2",
    "infinity": b"7,a,inf,2",
    "not a number": b"7,a,nan,2",
    "underscores": b"7,a,1_0,2",
    "thousands": b"7,a,1'000,2",
    "full-width digits": "7,a,\uff11,\uff12".encode(),
    "decimal commas": b'7,a,"1,5","2,5"',
    "a type suffix": b"7,a,1f,2d",
    "two megabytes in a field": b"7," + b"x" * (2 * 2**20) + b",1,2",
    "half a megabyte in a field": b"7," + b"x" * 2**19 + b",1,2",
    "33 megabytes": b"7,a," + b"9" * (33 * 2**20) + b",2",
    "too few fields": b"7,a,1",
    "too many fields": b"7,a,1,2,3,4,5",
    "no fields": b",,,",
    "a comment": b"#7,a,1,2",
    "a backslash": b'7,"a\\",1,2',
    "a unit separator": b"7,a\x1f,1,2",
    "a line separator": "7,a\u2028b\x0b\x0c\x85,1,2".encode(),
    "the header again": HEADER.strip(),
    "another delimiter": b"7;a;1;2",
}

HEADERS = {
    "plain": b"id,place,lon,lat\n",
    "quoted": b'"id","place, or not","lon","lat"\n',
    "CRLF": b"id,place,lon,lat\r\n",
    "a mark": b"\xef\xbb\xbfid,place,lon,lat\n",
    "another case, blanks": b" id , place , LON , Lat \n",
    "not UTF-8": b"id,pl\xe4ce,lon,lat\n",
}


def reference(content: bytes, delimiter: bytes = b",", decimal: bytes = b".") -> tuple[int, np.ndarray]:
    """Rows and counts by docs/decisions/0003 alone: lines, then fields, then decimal numbers."""
    field = re.compile(FIELD.pattern.replace(b"SEP", re.escape(delimiter)), re.DOTALL)
    number = re.compile(NUMBER.pattern.replace(rb"\.", re.escape(decimal)))
    rows, true_counts = 0, np.zeros((160, 320), np.int64)
    for line in content.split(b"\n")[1:]:
        if len(line) > LONGEST_LINE or not line.strip(b" \t\r"):
            continue
        rows += 1
        fields, place = [], 0
        while place <= len(line):
            match = field.match(line, place)
            fields.append(match[1] if match[1] is not None else match[2])
            place = match.end() + 1
        wanted = (text for text in fields[2:4] if text is not None and number.fullmatch(text))
        numbers = [float(text.replace(decimal, b".")) for text in wanted]
        if len(numbers) == 2 and abs(numbers[0]) <= 160 and abs(numbers[1]) <= 80:
            true_counts[min(int(numbers[1] + 80), 159), min(int(numbers[0] + 160), 319)] += 1
    return rows, true_counts.ravel()


def counted(points: Path | Address) -> tuple[int, np.ndarray]:
    """Rows and counts through the front door."""
    with open_counter(DOMAIN, open_points(points, crs=DOMAIN.crs, dialect=Dialect(decimal="."))) as counter:
        return counter.rows(), counter.count(GRID)


def by_duckdb(text: str) -> tuple[int, np.ndarray]:
    """Count a CSV file with ``--engine duckdb``."""
    return counted(Address(text=text, engine="duckdb"))


def packed(path: Path) -> Path:
    """A file packed by gzip, beside it."""
    other = path.with_name(f"{path.name}.gz")
    other.write_bytes(gzip.compress(path.read_bytes(), 1))
    return other


ROUTES: dict[str, Callable[[Path], tuple[int, np.ndarray]]] = {
    "natively": counted,
    "natively, packed": lambda path: counted(packed(path)),
    "DuckDB": lambda path: by_duckdb(str(path)),
    "DuckDB, packed": lambda path: by_duckdb(str(packed(path))),
    "DuckDB, by a pattern": lambda path: by_duckdb(f"{path.parent}/[{path.name[0]}]*.{path.suffix[1:]}"),
}


def assert_alike(path: Path, expected: tuple[int, np.ndarray], routes: list[str]) -> None:
    """Rows and counts are the expected ones by every route."""
    for route in routes:
        rows, counts = ROUTES[route](path)
        assert rows == expected[0], route
        np.testing.assert_array_equal(counts, expected[1], route)


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_awkward_lines_count_the_same_through_every_route(line, tmp_path):
    """First, in the middle and last, without a newline at the end."""
    path = tmp_path / "points.csv"
    content = HEADER + b"\n".join([line, *GOOD[:20], line, *GOOD[20:], line])
    path.write_bytes(content)

    assert_alike(path, reference(content), list(ROUTES))


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize(("ending", "delimiter"), [("csv", b","), ("tsv", b"\t"), ("txt", b";"), ("csv", b"|")])
def test_headers_and_separators_count_the_same_through_every_route(header, ending, delimiter, tmp_path):
    """The header says what stands between fields, whatever the file is called."""
    path = tmp_path / f"points.{ending}"
    plain = header.replace(b"place, or not", b"place") + b"\n".join(line.replace(b", N", b" N") for line in GOOD)
    path.write_bytes(plain.replace(b",", delimiter))

    assert_alike(path, reference(plain), list(ROUTES))


def test_quoted_separators_of_many_rows_are_understood(tmp_path):
    """DuckDB with quotes off found 35 points in such a file."""
    path = tmp_path / "points.csv"
    rows = "\n".join(f'{i},"Main St, No. {i}",{i % 150}.5,{i % 80}' for i in range(100_000))
    path.write_bytes(HEADER + rows.encode())

    rows, counts = by_duckdb(str(path))

    assert rows == counts.sum() == 100_000
    assert_alike(path, (rows, counts), ["natively", "DuckDB, packed"])


AWKWARD = b'",;\t\n\n\n\r .+-0123456789eExnaif\x00\xef\xbb\xbf\xff#\\\x1f\x85|_'
PIECES = st.one_of(
    st.lists(st.sampled_from([AWKWARD[i : i + 1] for i in range(len(AWKWARD))]), max_size=30).map(b"".join),
    st.sampled_from([*(line for line in LINES.values() if len(line) < 100), *GOOD[:3], b"7,a,1,2", b"\n", b'"', b"\r"]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(PIECES, max_size=20))
def test_random_bytes_count_the_same_through_every_route(pieces, tmp_path):
    """Any bytes below the header count the same natively and through DuckDB."""
    path = tmp_path / "points.csv"
    content = HEADER + b"".join(pieces)
    path.write_bytes(content)

    assert_alike(path, reference(content), ["natively", "DuckDB"])


@pytest.mark.parametrize(("delimiter", "decimal"), [(b";", b","), (b"\t", b","), (b"|", b",")])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(PIECES, max_size=20))
def test_random_bytes_count_by_the_signs_named(pieces, delimiter, decimal, tmp_path):
    """As the second reader has it, natively and through DuckDB."""
    path = tmp_path / "points.csv"
    swapped = bytes.maketrans(b",." + delimiter, delimiter + decimal + b".")
    content = HEADER.translate(swapped) + b"".join(pieces).translate(swapped)
    path.write_bytes(content)
    signs = Dialect(delimiter=delimiter.decode(), decimal=decimal.decode())

    for points in (path, Address(text=str(path), engine="duckdb")):
        with open_counter(DOMAIN, open_points(points, crs=DOMAIN.crs, dialect=signs)) as counter:
            rows, counts = counter.rows(), counter.count(GRID)
        expected = reference(content, delimiter, decimal)
        assert rows == expected[0]
        np.testing.assert_array_equal(counts, expected[1])


def test_files_of_a_pattern_have_headers_of_their_own(tmp_path):
    """Columns are found in each, so that the table is the sum of its files."""
    files = {
        "a.csv": HEADER + b"\n".join(GOOD),
        "b.csv": b'"LAT";"Lon"\r\n7;1\r\n7;x\r\n',
        "c.csv": b"lon\tlat\n\n3\t4",
        "d.csv": b"x,y\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    rows, counts = by_duckdb(f"{tmp_path}/*.csv")

    alone = [counted(tmp_path / name) for name in files]
    assert rows == sum(each for each, _ in alone) == 43
    np.testing.assert_array_equal(counts, sum(each for _, each in alone))


QUERIES = [
    "SELECT lon, lat FROM '{}'",
    "FROM '{}'",
    "WITH t AS (FROM '{}') SELECT lon, lat FROM t",
    "FROM query('FROM \"{}\"')",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "name", ["points.csv", "points.CSV.gz", "points.tsv", "points.csv.zst", "points.ndjson", "*.json"]
)
def test_a_query_does_not_read_text_in_another_dialect(query, name, tmp_path, monkeypatch):
    """It is refused by name, before any line is looked at."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_bytes(HEADER + b"\n".join(GOOD))

    with pytest.raises(InputError, match="a query may name Parquet files, got") as caught:
        open_points(Address(text=query.format(name), engine="duckdb"), crs=DOMAIN.crs)

    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", ["points.ndjson", "points.jsonl.gz", "points.json", "points.csv.zst", "*.csv.zst"])
def test_text_that_is_not_read_line_by_line_is_refused(name, tmp_path, monkeypatch):
    """A long JSON object is an error to DuckDB, which one record could cause."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name.replace("*", "a")).write_bytes(b"{}\n")

    with pytest.raises(InputError, match=r"is JSON, which is not read|has an unknown extension"):
        open_points(Address(text=name, engine="duckdb"), crs=DOMAIN.crs)
