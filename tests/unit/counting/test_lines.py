"""Rows and fields of delimited text."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.counting.csv_loops import count_rows, find_fields, line_stops

LONGEST = 1000


def fields(text, *, wanted=(0, 1), delimiter=","):
    """The two wanted fields of every row."""
    content = np.frombuffer(text, np.uint8)
    stops = line_stops(content)
    spans = np.empty((2, stops.size, 2), np.int64)
    rows = find_fields(content, stops, ord(delimiter), wanted, LONGEST, spans)
    assert rows == count_rows(content, stops, LONGEST)
    return [tuple(text[slice(*spans[k, row])] for k in range(2)) for row in range(rows)]


CASES = {
    "plain": (b"1,2\n3,4\n", [(b"1", b"2"), (b"3", b"4")]),
    "no newline at the end": (b"1,2\n3,4", [(b"1", b"2"), (b"3", b"4")]),
    "nothing": (b"", []),
    "blank lines": (b"\n \n\r\n\t\n1,2\n\n", [(b"1", b"2")]),
    "too few fields": (b"1\n3,4\n", [(b"1", b""), (b"3", b"4")]),
    "empty fields": (b",\n,2\n", [(b"", b""), (b"", b"2")]),
    "more fields": (b"1,2,3,4\n", [(b"1", b"2")]),
    "return before the newline": (b"1,2\r\n", [(b"1", b"2\r")]),
    "quoted": (b'"1","2"\n', [(b"1", b"2")]),
    "quoted delimiter": (b'"a,b",2\n', [(b"a,b", b"2")]),
    "doubled quotes": (b'"a""b,",2\n', [(b'a""b,', b"2")]),
    "doubled quotes alone": (b'"""",2\n', [(b'""', b"2")]),
    "empty quotes": (b'"",2\n', [(b"", b"2")]),
    "space after the closing quote": (b'"1" ,"2" \r\n', [(b"1", b"2")]),
    "text after the closing quote": (b'"1"x,2\n', [(b"", b"2")]),
    "quote never closed": (b'"1,2\n3,4\n', [(b"", b""), (b"3", b"4")]),
    "second quote never closed": (b'1,"2\n3,4\n', [(b"1", b""), (b"3", b"4")]),
    "quote inside a field": (b'5" pipe,2\n', [(b'5" pipe', b"2")]),
    "quote at the very end": (b'1,"', [(b"1", b"")]),
    "bytes that are no text": (b"\xff\xfe,\x00\n", [(b"\xff\xfe", b"\x00")]),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_fields_are_found(text, expected):
    """Each line gives its own two fields, whatever the lines around it hold."""
    assert fields(text) == expected


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("wanted", [(0, 2), (2, 0), (1, 2), (3, 1)])
def test_any_two_fields_in_any_order(delimiter, wanted):
    """The first of the pair is the first asked for, wherever it stands."""
    text = delimiter.join("abcd").encode()

    assert fields(text, wanted=wanted, delimiter=delimiter) == [tuple(text[2 * k : 2 * k + 1] for k in wanted)]


def test_a_line_that_is_too_long_is_no_row():
    """One byte more than the longest is too long; the longest is not."""
    fits = b"1," + b"2" * (LONGEST - 2)

    assert fields(fits + b"\n" + fits + b"2\n3,4\n") == [(b"1", fits[2:]), (b"3", b"4")]


@settings(deadline=None)
@given(st.lists(st.lists(st.text("ab ,\"';é", max_size=5), min_size=2, max_size=4), max_size=5))
def test_what_python_writes_is_read_back(rows):
    """On rows quoted by the csv module the fields are those that were written."""
    lines = []
    for row in rows:
        writer = csv.writer(collected := _Lines(), quoting=csv.QUOTE_ALL)
        writer.writerow(row)
        lines.append(collected.text)

    found = fields("".join(lines).encode())

    assert [tuple(f.decode().replace('""', '"') for f in pair) for pair in found] == [tuple(row[:2]) for row in rows]


class _Lines:
    text = ""

    def write(self, text):
        self.text += text


@settings(deadline=None)
@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=6))
def test_a_line_is_read_the_same_alone_and_among_others(lines):
    """Nothing in one line changes how another is read."""
    together = fields(b"\n".join(lines))

    assert together == [row for line in lines for row in fields(line)]
