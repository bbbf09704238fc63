"""Points in CSV files of any size.

One line is one record, whatever it holds.

No CSV library reads the rows: to all of them a stray quote can swallow the lines after it, or is an error, and either
way one record would decide what becomes of others. Here a quote ends with its line at the latest.
"""

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.counting.by_slice.slicing import check_slice_names, slice_numbers
from hushgrid.counting.columns import (
    DELIMITERS,
    NOT_NAMED,
    Dialect,
    PointSchema,
    Signs,
    columns_by_meaning,
    find_columns,
    quotable_names,
)
from hushgrid.counting.csv_loops import QUOTE, count_rows, find_fields, line_stops, parse_numbers
from hushgrid.counting.source import Block, FilePart, Snapshot, files_state, reading
from hushgrid.counting.users import IDS, canonical_ids, check_user_name, copy_spans, trim_spans
from hushgrid.errors import InputError
from hushgrid.slices.by import By
from hushgrid.work import current_work

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_HEADER = 2**16  # bytes

FIRST_LINE = (
    "The first line of the file must name the columns, separated by a comma, semicolon, tab or |. If it does not, add "
    "such a line, as in lon,lat,time. The line is not shown here, because it may be a record."
)


@dataclass(frozen=True, kw_only=True)
class CsvHeader:
    r"""Column names, delimiter and size of a header.

    Examples
    --------
    >>> import io
    >>> CsvHeader.read(io.BytesIO(b'id;"lon";lat\n1;2;3\n'), where="trips.csv")
    CsvHeader(names=('id', 'lon', 'lat'), delimiter=';', size=13)
    """

    names: tuple[str, ...]
    delimiter: str
    size: int

    @classmethod
    def read(cls, stream: IO[bytes], *, where: str, delimiter: str | None = None) -> "CsvHeader":
        """Read the header at the start of a stream.

        Whatever divides it into most names is the delimiter, if none is given.
        """
        line = stream.readline(LONGEST_HEADER + 1)
        text = line.removeprefix(BYTE_ORDER_MARK).rstrip(b"\r\n").decode("utf-8", errors="replace")
        if len(line) > LONGEST_HEADER or "\r" in text or not text.strip():
            msg = f"{where} has no header line. Its first line must name the columns and end in LF or CRLF."
            raise InputError(msg)
        delimiter = delimiter or max(DELIMITERS, key=lambda character: len(_fields(text, character)))
        return cls(names=tuple(_fields(text, delimiter)), delimiter=delimiter, size=len(line))

    def find_fields(
        self, *, lon: str | None, lat: str | None, user: str | None = None, by: By | None = None, where: str
    ) -> tuple[int, ...]:
        """Numbers of the fields of coordinates, the user and slices, in this order.

        Privacy
        -------
        A file without a header begins with a record. So a message quotes of the first line only what was asked for and
        the usual names, and says the same whatever else is in it.
        """
        sliced = () if by is None else by.columns
        names = quotable_names(self.names, (lon, lat, user, *sliced))
        longitude, latitude = find_columns(names, lon=lon, lat=lat, where=where, unlisted=FIRST_LINE)
        if user is not None:
            check_user_name(user, names, coordinates=(longitude, latitude), where=where, unlisted=FIRST_LINE)
        if by is not None:
            pair = (longitude, latitude)
            check_slice_names(by, names, coordinates=pair, user=user, where=where, unlisted=FIRST_LINE)
        wanted = (longitude, latitude, *(() if user is None else (user,)), *sliced)
        return tuple(self.names.index(name) for name in wanted)


def _fields(text: str, delimiter: str) -> list[str]:
    return [field.strip() for field in next(csv.reader([text], delimiter=delimiter))]


NEWLINE = b"\n"
LONGEST_LINE = 2**20  # bytes; a longer line is dropped


def line_start(stream: IO[bytes], offset: int, until: int | None = None) -> int:
    """Where the next line begins, at `offset` or later.

    The end of the stream if there is none. Past `until` nobody looks any farther: the place is then in the middle of a
    line, at `until` or after it.
    """
    stream.seek(offset - 1)
    while (piece := stream.readline(LONGEST_LINE)) and not piece.endswith(NEWLINE):
        if until is not None and stream.tell() >= until:
            break
    return stream.tell()


def whole_lines(stream: IO[bytes], size: int | None, block_bytes: int) -> Iterator[bytes]:
    r"""Cut a stream at newlines into blocks.

    Reads the next `size` bytes, or all, in blocks of about `block_bytes`. Lines longer than `LONGEST_LINE` may be left
    out; shorter ones never are.

    Examples
    --------
    >>> import io
    >>> list(whole_lines(io.BytesIO(b"one\ntwo\nthree\nfour"), None, 9))
    [b'one\ntwo\n', b'three\n', b'four']
    """
    rest, too_long = b"", False
    for piece in _pieces(stream, size, block_bytes):
        lines, newline, tail = piece.rpartition(NEWLINE)
        if newline:
            text = rest + lines + newline
            yield text.partition(NEWLINE)[2] if too_long else text
            rest, too_long = tail, False
        else:
            rest += tail
        if len(rest) > LONGEST_LINE:
            rest, too_long = b"", True
    if not too_long:
        yield rest


def _pieces(stream: IO[bytes], size: int | None, block_bytes: int) -> Iterator[bytes]:
    while piece := stream.read(block_bytes if size is None else min(block_bytes, size)):
        yield piece
        size = None if size is None else size - len(piece)


KIND = "CSV"
IN_WORDS = {".": "a decimal point", ",": "a decimal comma"}
COMPRESSED = ".gz"
PART_BYTES = 2**26
BLOCK_BYTES = 2**20


class CsvPoints:
    """A CSV file with a header, plain or gzipped.

    Parameters
    ----------
    path : Path
    lon, lat : str, optional
        Names of the columns; the usual ones are recognised.
    user : str, optional
        Name of the column of user ids. They are text, without blanks at its ends; an empty one is missing.
    by : By, optional
        Slices to read. Their columns are text in the same way.
    dialect : Dialect
        The signs that were named; the header tells the others.
    part_bytes, block_bytes : int
        How much one thread reads as a part, and how much of it at once.

    Privacy
    -------
    A line whose fields are missing or are not decimal numbers is dropped; every line that holds something is a row.
    Both look at that line alone.
    """

    kind: ClassVar = "csv"

    def __init__(
        self,
        path: Path,
        *,
        lon: str | None = None,
        lat: str | None = None,
        user: str | None = None,
        by: By | None = None,
        dialect: Dialect = NOT_NAMED,
        part_bytes: int = PART_BYTES,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        self._path = path
        self.snapshot = Snapshot.of(path)
        header = self._read_header(dialect.delimiter)
        try:
            fields = header.find_fields(lon=lon, lat=lat, user=user, by=by, where=str(path))
        except InputError:
            other = self._read_header()
            other.find_fields(lon=lon, lat=lat, user=user, by=by, where=str(path))
            raise _other_delimiter(path, other.delimiter) from None
        self._first = header.size
        self.signs = dialect.signs(header.delimiter, where=str(path))
        self._fields = CsvFields(fields, has_user=user is not None, by=by)
        self.schema = _schema([header.names[field] for field in fields], self.signs, has_user=user is not None)
        self._part_bytes = part_bytes
        self._block_bytes = block_bytes

    def _read_header(self, delimiter: str | None = None) -> CsvHeader:
        with reading(self._path, KIND), self._path.open("rb") as file:
            return CsvHeader.read(_content(self._path, file), where=str(self._path), delimiter=delimiter)

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self.snapshot.size

    def rows(self) -> int:
        """Number of lines that hold something, counted once."""
        return self._rows

    @cached_property
    def _rows(self) -> int:
        rows = 0
        for text, share in (block for part in self.parts() for block in part.texts()):
            content = np.frombuffer(text, np.uint8)
            rows += count_rows(content, line_stops(content), LONGEST_LINE)
            current_work().add("reading", share)
        return rows

    def parts(self) -> Sequence["CsvPart"]:
        """Ranges of bytes, each read on its own.

        A compressed file is one part, because it cannot be entered in the middle.
        """
        first, size = self._first, self.snapshot.size
        if self._path.suffix.lower() == COMPRESSED:
            ranges: list[tuple[int, int | None]] = [(first, None)]
        else:
            ranges = [(start, start + self._part_bytes) for start in range(first, size, self._part_bytes)]
        return [
            CsvPart(self._path, size, start, stop, self._block_bytes, self.signs, self._fields)
            for start, stop in ranges
        ]

    def check_unchanged(self) -> None:
        """Refuse a file that changed since it was opened."""
        self.snapshot.check()

    def state(self) -> bytes:
        """Digest that changes whenever the file does."""
        return files_state({"": self.snapshot})


@dataclass(frozen=True)
class CsvFields:
    """Numbers of the fields to read.

    They are those of coordinates, of the user if there is one, and of slices.
    """

    numbers: tuple[int, ...]
    has_user: bool
    by: By | None


@dataclass(frozen=True, repr=False)
class CsvPart:
    """Lines that begin in a range of bytes."""

    path: Path
    size: int
    first: int
    stop: int | None
    block_bytes: int
    signs: Signs
    fields: CsvFields

    def __iter__(self) -> Iterator[Block]:
        for text, share in self.texts():
            yield self._block(text, share)

    def texts(self) -> Iterator[tuple[bytes, float]]:
        """Blocks of whole lines, each with its share.

        The share is of the bytes of the file.
        """
        with reading(self.path, KIND), self.path.open("rb") as file:
            content = _content(self.path, file)
            # A line of many parts is searched once, not by every part again: its end belongs to none of them, and a
            # last line that reaches far past the part is too long to be a row.
            first = line_start(content, self.first, self.stop)
            if self.stop is not None and first >= self.stop:
                return
            size = None if self.stop is None else line_start(content, self.stop, self.stop + LONGEST_LINE + 1) - first
            content.seek(first)
            position = 0 if self.stop is None else first
            for text in whole_lines(content, size, self.block_bytes):
                before, position = position, file.tell()
                yield text, (position - before) / self.size

    def _block(self, text: bytes, share: float) -> Block:
        content = np.frombuffer(text, np.uint8)
        stops = line_stops(content)
        numbers, by = self.fields.numbers, self.fields.by
        spans = np.empty((len(numbers), stops.size, 2), np.int64)
        rows = find_fields(content, stops, ord(self.signs.delimiter), numbers, LONGEST_LINE, spans)
        users = canonical_ids(_texts(text, spans[2, :rows])) if self.fields.has_user else None
        longitudes, latitudes = (_numbers(text, spans[axis, :rows], self.signs.decimals) for axis in (0, 1))
        slices = None
        if by is not None:
            columns = [_texts(text, span[:rows]) for span in spans[-len(by.columns) :]]
            slices = slice_numbers(by, dict(zip(by.columns, columns, strict=True)))
        return Block.of(longitudes, latitudes, share, users, slices)


class CsvFiles:
    """Several CSV files as one table.

    Each has a header line of its own.
    """

    kind: ClassVar = "csv"

    def __init__(self, files: Sequence[CsvPoints]) -> None:
        self._files = files

    @property
    def schema(self) -> PointSchema:
        """Columns of the first file; the others are read like it."""
        return replace(self._files[0].schema, form="CSV files as one table")

    def rows(self) -> int:
        """Number of rows of all files."""
        return sum(file.rows() for file in self._files)

    def parts(self) -> Sequence[FilePart]:
        """Parts of all files."""
        size = max(1, sum(file.size for file in self._files))
        return [FilePart(part, file.size / size) for file in self._files for part in file.parts()]

    def check_unchanged(self) -> None:
        """Refuse files that changed since they were opened."""
        for file in self._files:
            file.check_unchanged()

    def state(self) -> bytes:
        """Digest that changes with any file or their list."""
        return files_state({str(file.snapshot.path): file.snapshot for file in self._files})


def _other_delimiter(path: Path, found: str) -> InputError:
    msg = f"{path} has {DELIMITERS[found]} between its columns. Leave out delimiter (--delimiter), or name that sign."
    return InputError(msg, instead={"delimiter": "tab" if found == "\t" else found})


def _schema(names: Sequence[str], signs: Signs, *, has_user: bool) -> PointSchema:
    """The columns that are read, in the order of `find_fields`, and the signs between and in them."""
    numbers = f"numbers with {' or '.join(IN_WORDS[sign] for sign in signs.decimals)}"
    first = 3 if has_user else 2  # of those of slices
    users, slices = (dict.fromkeys(some, "text") for some in (names[2:first], names[first:]))
    columns = columns_by_meaning(dict.fromkeys(names[:2], numbers), users, slices)
    return PointSchema(form=f"a CSV file with {DELIMITERS[signs.delimiter]} between columns", columns=columns)


def _numbers(text: bytes, spans: NDArray[np.int64], decimals: str = ".") -> NDArray[np.float64]:
    numbers = np.empty(len(spans), np.float64)
    hard = np.empty(len(spans), np.int64)
    count = parse_numbers(np.frombuffer(text, np.uint8), spans, (ord(decimals[0]), ord(decimals[-1])), numbers, hard)
    for row in hard[:count]:
        first, stop = spans[row]
        number = text[first:stop].replace(b",", b".")
        numbers[row] = float(number)  # a decimal number for certain; too large a one is infinite
    return numbers


def _texts(text: bytes, spans: NDArray[np.int64]) -> pa.LargeStringArray:
    """Fields as text, without blanks at its ends; two quotes inside quotes are one."""
    content = np.frombuffer(text, np.uint8)
    in_quotes = pa.array((spans[:, 0] > 0) & (content[spans[:, 0] - 1] == QUOTE))
    trim_spans(content, spans)
    edges = np.concatenate([[0], np.cumsum(spans[:, 1] - spans[:, 0])])
    copy = np.empty(edges[-1], np.uint8)
    copy_spans(content, spans, copy)
    # The bytes need not be UTF-8: nobody decodes them.
    texts = pa.LargeStringArray.from_buffers(len(spans), pa.py_buffer(edges), pa.py_buffer(copy)).view(IDS)
    return pc.if_else(in_quotes, pc.replace_substring(texts, '""', '"'), texts).view(pa.large_string())


def _content(path: Path, file: IO[bytes]) -> IO[bytes]:
    if path.suffix.lower() == COMPRESSED:
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    return file
