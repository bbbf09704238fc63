"""CSV files: headers, hostile lines, blocks cut anywhere."""

import csv
import gzip
import re

import numpy as np
import pytest

from hushgrid.counting import csv as csv_lines
from hushgrid.counting.columns import Dialect
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.csv import CsvPoints
from hushgrid.counting.memory import ArrayPoints
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.grid import Grid
from tests.unit.counting.tables import DOMAIN, csv_text, some_points

GRID = Grid(domain=DOMAIN, rows=5, columns=9)

GOOD = [b"1,2,a", b"3.5,-4,b", b"-10,15,c"]

NO_POINTS = {
    "stray quote first": b'"1,2,x',
    "stray quote in the latitude": b'1,"2,x',
    "only a quote": b'"',
    "three quotes": b'"""',
    "text after a quote": b'"1"2,3,x',
    "too few fields": b"1",
    "empty fields": b",,",
    "words": b"east,north,x",
    "nan": b"nan,nan,x",
    "infinity": b"inf,-inf,x",
    "underscores": b"1_0,2,x",
    "hexadecimal": b"0x1,2,x",
    "decimal commas": b'"1,5","2,5",x',
    "too large": b"1e308,2,x",
    "beyond every double": b"1e999,2,x",
    "far too many digits": b"9" * 5000 + b",2,x",
    "exponent alone": b"1e,2,x",
    "invalid UTF-8": b"\xff\xfe,\xc3\x28,\x80",
    "zero bytes": b"\x00,\x00,\x00",
    "zero byte in a number": b"1\x00,2,x",
    "a return in the middle": b"1\r2,3,x",
    "another delimiter": b"1;2;x",
    "Arabic digits": "٣,٤,x".encode(),
    "outside": b"170,80,x",
    "a header again": b"lon,lat,name",
    "a comment": b"# 1,2",
}

STILL_POINTS = {
    "stray quote after the coordinates": b'1,2,"x',
    "quoted comma after": b'1,2,"x, y"',
    "quoted numbers": b'"1","2",x',
    "spaces": b" 1 ,\t2 ,x",
    "signs and exponents": b"+1e0,.2E+1,x",
    "many fields": b"1,2" + b",x" * 1000,
    "no third field": b"1,2",
    "invalid UTF-8 after": b"1,2,\xff\xfe",
    "every digit": b"1.0000000000000000000000001,2,x",
}


def write(folder, lines, *, header=b"lon,lat,name", newline=b"\n", end=b"\n", name="points.csv"):
    path = folder / name
    path.write_bytes(newline.join([header, *lines]) + end)
    return path


def counter(path, **options):
    return PointCounter(DOMAIN, CsvPoints(path, **options))


def counts(path, **options):
    return counter(path, **options).count(GRID).tolist()


@pytest.mark.parametrize("position", [0, 1, 3], ids=["first", "between", "last"])
@pytest.mark.parametrize("line", NO_POINTS.values(), ids=NO_POINTS)
def test_a_line_that_is_no_point_costs_itself_and_nothing_else(line, position, tmp_path):
    """Counts are those of the file without the line; it is a row all the same."""
    expected = counts(write(tmp_path, GOOD))
    lines = [*GOOD[:position], line, *GOOD[position:]]

    counting = counter(write(tmp_path, lines))

    assert counting.count(GRID).tolist() == expected
    assert counting.rows() == len(lines)


@pytest.mark.parametrize("line", STILL_POINTS.values(), ids=STILL_POINTS)
def test_a_line_with_two_numbers_is_a_point(line, tmp_path):
    """Whatever else it holds, it is counted as the point 1, 2, and its neighbours as before."""
    expected = counts(write(tmp_path, [GOOD[0], b"1,2,plain", *GOOD[1:]]))

    assert counts(write(tmp_path, [GOOD[0], line, *GOOD[1:]])) == expected


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n \n"], ids=["no end", "LF", "CRLF", "blank lines"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_line_endings_and_marks_do_not_matter(newline, end, mark, tmp_path):
    """CRLF, a missing last newline, blank lines and a byte order mark give the same rows."""
    expected = counts(write(tmp_path, GOOD))

    counting = counter(write(tmp_path, GOOD, header=mark + b"lon,lat,name", newline=newline, end=end))

    assert counting.count(GRID).tolist() == expected
    assert counting.rows() == len(GOOD)


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A file of every kind of line, blank ones too, with the counts and rows read at once."""
    lines = [*GOOD, *NO_POINTS.values(), b"", *STILL_POINTS.values(), b"  ", *GOOD]
    short = [line for line in lines if len(line) < 100]
    path = write(tmp_path_factory.mktemp("nasty"), short, end=b"")
    whole = counter(path)
    return path, whole.count(GRID).tolist(), whole.rows()


def test_blocks_may_be_cut_anywhere(nasty):
    """At every size of block, and so at every offset of a cut, the counts are those of the whole."""
    path, expected, rows = nasty

    for block_bytes in range(1, path.stat().st_size + 2):
        cut = counter(path, block_bytes=block_bytes)
        assert cut.count(GRID).tolist() == expected, block_bytes
        assert cut.rows() == rows, block_bytes


def test_parts_may_begin_anywhere(nasty, monkeypatch):
    """At every size of part, each line is read by exactly one."""
    path, expected, rows = nasty
    monkeypatch.setenv("HUSHGRID_THREADS", "2")

    for part_bytes in [*range(1, 60), 97, 1000]:
        cut = counter(path, part_bytes=part_bytes, block_bytes=64)
        assert cut.count(GRID).tolist() == expected, part_bytes
        assert cut.rows() == rows, part_bytes


@pytest.mark.parametrize("length", [49, 50, 51, 52, 200])
@pytest.mark.parametrize("block_bytes", [1, 7, 50, 51, 64, 1000])
def test_whether_a_line_is_too_long_depends_on_that_line_alone(length, block_bytes, tmp_path, monkeypatch):
    """Lines of more than the limit are no rows, wherever blocks and parts are cut."""
    monkeypatch.setattr("hushgrid.counting.csv.LONGEST_LINE", 50)
    line = b"1,2," + b"x" * (length - 4)
    kept = length <= 50
    expected = counts(write(tmp_path, [*GOOD, b"1,2"] if kept else GOOD))
    path = write(tmp_path, [*GOOD[:2], line, *GOOD[2:]])

    for part_bytes in (1, 40, 1000):
        counting = counter(path, block_bytes=block_bytes, part_bytes=part_bytes)
        assert counting.count(GRID).tolist() == expected
        assert counting.rows() == len(GOOD) + kept


def test_long_lines_are_never_in_memory(tmp_path):
    """No block is larger than the longest line and one piece that was read."""
    path = write(tmp_path, [b"1,2,x", b"y" * (5 * csv_lines.LONGEST_LINE), b"3,4,x"])

    with path.open("rb") as stream:
        blocks = list(csv_lines.whole_lines(stream, None, 2**16))

    assert max(map(len, blocks)) <= csv_lines.LONGEST_LINE + 2**16
    assert b"".join(blocks).split() == [b"lon,lat,name", b"1,2,x", b"3,4,x"]


HEADERS = {
    "usual names": b"lon,lat,name",
    "quoted": b'"lon","lat","name"',
    "spaces and capitals": b" LON , Lat ,name",
    "comma in a quoted name": b'Longitude,LATITUDE,"name, full"',
    "not UTF-8": b"lon,lat,n\xe4me",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_headers_are_understood(header, tmp_path):
    """The two columns are found by name."""
    expected = counts(write(tmp_path, GOOD))

    assert counts(write(tmp_path, GOOD, header=header)) == expected


@pytest.mark.parametrize("delimiter", [b",", b";", b"\t", b"|"], ids=["comma", "semicolon", "tab", "bar"])
def test_the_delimiter_comes_from_the_header(delimiter, tmp_path):
    """Whichever of the four divides the header divides the rows."""
    expected = counts(write(tmp_path, GOOD))
    lines = [line.replace(b",", delimiter) for line in GOOD]

    path = write(tmp_path, lines, header=delimiter.join([b"lon", b"lat", b"name"]))

    assert counts(path) == expected


SIGNS = {
    "commas and points": (",", "."),
    "semicolons and commas": (";", ","),
    "semicolons and points": (";", "."),
    "tabs and commas": ("\t", ","),
    "bars and commas": ("|", ","),
}


@pytest.mark.parametrize("is_named", [True, False], ids=["delimiter named", "delimiter from the header"])
@pytest.mark.parametrize(("delimiter", "decimal"), SIGNS.values(), ids=SIGNS)
def test_signs_that_are_named_are_read(delimiter, decimal, is_named, tmp_path):
    """As Python's csv module writes them, text with delimiters and numbers in quotes among it."""
    points = some_points(50)
    path = tmp_path / "points.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL if is_named else csv.QUOTE_MINIMAL)
        writer.writerow(["name", "lon", "lat"])
        writer.writerows([f"a{delimiter}b", *(repr(x).replace(".", decimal) for x in row)] for row in points.tolist())

    named = Dialect(delimiter=delimiter if is_named else None, decimal=decimal)

    assert counts(path, dialect=named) == PointCounter(DOMAIN, ArrayPoints(points)).count(GRID).tolist()


@pytest.mark.parametrize("delimiter", [b";", b"\t", b"|"], ids=["semicolon", "tab", "bar"])
def test_each_number_tells_its_own_sign_between_other_delimiters(delimiter, tmp_path):
    """Unless it is named; thousands and decimals in one number are never one."""
    lines = [
        line.replace(b";", delimiter) for line in (b"1,5;2,5", b"1.5;2.5", b"1.5;2,5", b"1,000.5;2.5", b"1,5;2.0,5")
    ]
    path = write(tmp_path, lines, header=b"lon" + delimiter + b"lat")
    plain = write(tmp_path, [b"1.5,2.5"] * 3, header=b"lon,lat", name="plain.csv")

    assert counts(path) == counts(plain)
    assert sum(counts(path, dialect=Dialect(decimal=","))) == 1
    assert sum(counts(path, dialect=Dialect(decimal="."))) == 1


def test_a_record_with_semicolons_is_not_spoken_of(tmp_path):
    """Where the columns are not found, the message is that of any other first line."""
    said = set()
    for record in (b"Erika;13,4;52,5", b"Erika,13.4,52.5", b"Erika"):
        with pytest.raises(InputError, match="because it may be a record") as caught:
            CsvPoints(write(tmp_path, GOOD, header=record), dialect=Dialect(delimiter="|"))
        said.add(str(caught.value))

    assert len(said) == 1


def test_numbers_with_commas_do_not_fit_between_commas(tmp_path):
    """The header says that a comma ends a column."""
    with pytest.raises(InputError, match="the number 52,5 would be two"):
        CsvPoints(write(tmp_path, GOOD), dialect=Dialect(decimal=","))


def test_a_delimiter_that_the_header_lacks_is_refused(tmp_path):
    """The one that it has is named, where it leads to the columns."""
    with pytest.raises(InputError, match="has tabs between its columns") as caught:
        CsvPoints(write(tmp_path, GOOD, header=b"lon\tlat"), dialect=Dialect(delimiter=";"))

    assert caught.value.instead == {"delimiter": "tab"}


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        ({"delimiter": ":"}, "delimiter must be ',', ';', '|' or 'tab', got delimiter=':'"),
        ({"delimiter": 3}, "delimiter must be"),
        ({"decimal": "SIGN"}, "decimal must be '.' or ',', got decimal='SIGN'"),
        ({"decimal": ",", "delimiter": ","}, "are both ','"),
    ],
)
def test_signs_that_cannot_be_are_refused(signs, words):
    """By the arguments alone."""
    with pytest.raises(ArgumentError, match=re.escape(words)):
        Dialect.of(**signs)


@pytest.mark.parametrize("name", ["tab", "TAB", "\\t", "\t"])
def test_a_tab_has_names(name):
    """A shell passes on a tab itself only to those who know how."""
    assert Dialect.of(delimiter=name).delimiter == "\t"


def test_given_names_are_used(tmp_path):
    """Columns named by the caller win over the usual ones."""
    path = write(tmp_path, [b"1,2,3,4"], header=b"lon,lat,east,north")

    point = np.flatnonzero(counter(path, lon="east", lat="north").count(GRID))

    assert point == np.flatnonzero(counter(write(tmp_path, [b"3,4"], header=b"x,y")).count(GRID))


NO_HEADERS = {
    "nothing": b"",
    "a mark alone": b"\xef\xbb\xbf",
    "blank": b"  \nlon,lat\n1,2\n",
    "one endless line": b"x" * 100_000,
    "lines that end in CR alone": b"lon,lat\r1.2345,2.3456\r",
}


@pytest.mark.parametrize("content", NO_HEADERS.values(), ids=NO_HEADERS)
def test_a_file_without_a_header_is_an_error(content, tmp_path):
    """A file whose first line names nothing has no schema to go by."""
    path = tmp_path / "points.csv"
    path.write_bytes(content)

    with pytest.raises(InputError, match="has no header line"):
        CsvPoints(path)


RECORDS = {
    "numbers": b"Erika,13.4050,52.5200",
    "a date": b"Erika,2024-05-01,x",
    "words alone": b"Erika,Mustermann,home",
    "one word": b"Erika",
    "many words": b",".join([b"Erika"] * 60),
    "other separators": b"Erika:Mustermann",
    "a name much like those asked for": b"pickup_lan,pickup_lon,rider",
    "what may be a pair": b"Erika_lon,Erika_lat",
    "one usual name": b"lon,Erika",
    "text that is not UTF-8": b"Erika,\xff\xfe",
}
ASKED = {
    "not named": {},
    "named": {"lon": "pickup_long", "lat": "pickup_lat"},
    "with users": {"lon": "east", "lat": "Erik", "user": "ride"},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_record_in_place_of_the_header_decides_no_message(asked, tmp_path):
    """Whatever the first line holds, message and way out are those of any other line without the columns."""
    said = set()
    for record in RECORDS.values():
        path = tmp_path / "points.csv"
        path.write_bytes(record + b"\n1,2,3\n")
        with pytest.raises(InputError, match="because it may be a record") as caught:
            CsvPoints(path, **asked)
        said.add((str(caught.value), str(caught.value.instead)))

    assert len(said) == 1
    assert "Erika" not in str(said)


@pytest.mark.parametrize("header", [b"Erika,LON,lat", b"lon,lat,x,y,Erika"], ids=["another case", "two pairs"])
def test_a_message_quotes_usual_names_and_those_asked_for(header, tmp_path):
    """They are no secret: the way out is still shown."""
    asked = {"lon": "lon", "lat": "lat"} if b"LON" in header else {}

    with pytest.raises(InputError) as caught:
        CsvPoints(write(tmp_path, GOOD, header=header), **asked)

    assert caught.value.instead == ({"lon": "LON", "lat": "lat"} if asked else {"lon": "lon", "lat": "lat"})
    assert "Erika" not in str(caught.value)


def test_a_missing_column_of_users_quotes_no_other(tmp_path):
    """The message does not propose a column that is called much alike."""
    with pytest.raises(InputError, match="has no column 'Erik' of user ids") as caught:
        CsvPoints(write(tmp_path, GOOD, header=b"lon,lat,Erika"), user="Erik")

    assert "Erika" not in f"{caught.value} {caught.value.instead}"


def test_a_column_named_by_a_number_is_fine_beside_coordinates(tmp_path):
    """Years as column names do not matter where the coordinates are found."""
    expected = counts(write(tmp_path, GOOD))

    assert counts(write(tmp_path, GOOD, header=b"lon,lat,2024")) == expected


def test_compressed_files_are_read_alike(tmp_path):
    """A gzip file gives the counts and rows of the plain one, in blocks cut anywhere."""
    text = csv_text(some_points()).encode()
    (tmp_path / "points.csv").write_bytes(text)
    (tmp_path / "points.csv.gz").write_bytes(gzip.compress(text))
    plain, compressed = counter(tmp_path / "points.csv"), counter(tmp_path / "points.csv.gz", block_bytes=100)

    np.testing.assert_array_equal(compressed.count(GRID), plain.count(GRID))
    assert compressed.rows() == plain.rows()


@pytest.mark.parametrize("damage", [slice(0, 500), slice(5, None)], ids=["cut short", "not gzip"])
def test_a_damaged_compressed_file_is_an_error_that_quotes_nothing(damage, tmp_path):
    """The message names the file alone."""
    path = tmp_path / "points.csv.gz"
    path.write_bytes(gzip.compress(csv_text(some_points()).encode())[damage])

    with pytest.raises(InputError, match="damaged, or not a CSV file"):
        counter(path).count(GRID)
