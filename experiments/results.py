"""A file of results: JSON lines, one a trial, that are only ever added to, or Parquet with such lines beside it."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.trial import Row, significant

LONGEST_LINE = 2**16  # bytes
LINES, PARQUET = ".jsonl", ".parquet"
MAPPINGS = ("parameters",)  # fields that hold a mapping
NOISE_WAY, FIRST_WAY = "noise", 1  # a field, and what rows without it mean by that
ZSTD_LEVEL = 19  # the file is written once and cloned often


class Results:
    """Rows of trials, in the order they finished.

    A run that was killed may leave a half-written last line. It is ignored, and cut off by the next append.

    Parameters
    ----------
    path : Path
        The file; it need not exist. Parquet takes a tenth of the room, but cannot be added to: finished trials go to
        lines of the same name that end in ``.jsonl`` until `settle`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.with_suffix(LINES) if path.suffix == PARQUET else path

    def rows(self) -> list[Row]:
        """Rows of all trials; of those of one name, such as before and after a method was changed, the last ones.

        Once there are rows whose noise was seeded in a new way, those from before are passed over: noise that trials
        share must not be averaged with noise that they do not.
        """
        rows = [*self._kept(), *(row for line in self._whole_lines() for row in unpack(line))]
        newest = max((row.get(NOISE_WAY, FIRST_WAY) for row in rows), default=FIRST_WAY)
        current = (row for row in rows if row.get(NOISE_WAY, FIRST_WAY) == newest)
        return list({(row.get("name", row["key"]), row["queries"]): row for row in current}.values())

    def finished(self) -> set[str]:
        """Keys of the trials that need not be run again."""
        return {row["key"] for row in self.rows()}

    def append(self, rows: list[Row]) -> None:
        """Write the rows of one trial, as one line."""
        with self.lines.open("a+b") as file:
            near_end = max(0, file.seek(0, os.SEEK_END) - LONGEST_LINE)
            file.seek(near_end)
            file.truncate(near_end + file.read().rfind(b"\n") + 1)
            file.write(pack(rows).encode() + b"\n")

    def settle(self) -> None:
        """Move the lines into the Parquet file, if that is what the rows are kept in."""
        if self.lines == self.path or not self.lines.exists():
            return
        rows = self.rows()
        if rows:
            new = self.path.with_suffix(".new")
            table = to_table(rows)
            pq.write_table(table, new, compression="zstd", compression_level=ZSTD_LEVEL, **_encodings(table.schema))
            new.replace(self.path)
        self.lines.unlink()  # if this is not reached, rows are there twice and count once

    def _kept(self) -> list[Row]:
        if self.lines == self.path or not self.path.exists():
            return []
        return from_table(pq.ParquetFile(self.path, pre_buffer=False).read(use_threads=False))

    def _whole_lines(self) -> list[str]:
        if not self.lines.exists():
            return []
        lines = self.lines.read_text(encoding="utf-8").splitlines(keepends=True)
        return [line for line in lines if line.endswith("\n")]


def to_table(rows: list[Row]) -> pa.Table:
    """Rows as a table; mappings are JSON text, and what a row does not have is null.

    Examples
    --------
    >>> rows = [{"key": "a", "parameters": {"side": 3}}, {"key": "b", "levels": 2}]
    >>> from_table(to_table(rows)) == rows
    True
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def from_table(table: pa.Table) -> list[Row]:
    """Rows of a table."""
    columns = {name: _values(name, table[name]) for name in table.column_names}
    rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return [_present(row) for row in rows]


def _column(values: list[Any]) -> pa.Array:
    """A column; figures of few digits take half the room as single floats, which give the same digits back."""
    column = pa.array([json.dumps(value) if isinstance(value, dict) else value for value in values])
    if pa.types.is_float64(column.type):
        single = column.cast(pa.float32())
        return single if _digits(single) == values else column
    return column


def _values(name: str, column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_float32(column.type):
        return _digits(column)
    values = column.to_pylist()
    return [None if value is None else json.loads(value) for value in values] if name in MAPPINGS else values


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """Text as a dictionary, and single floats byte by byte: the first ones repeat, the last ones do not."""
    singles = [field.name for field in schema if pa.types.is_float32(field.type)]
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return {"use_dictionary": texts, "use_byte_stream_split": singles}


def _digits(singles: pa.Array | pa.ChunkedArray) -> list[float | None]:
    """The figures that single floats stand for."""
    return [None if value is None else significant(value) for value in singles.to_pylist()]


def pack(rows: list[Row]) -> str:
    """Rows as one line of JSON: what they agree on is written once, what differs is a list.

    What a row does not have is null.

    Examples
    --------
    >>> pack([{"key": "a", "queries": "q1", "error": 2.0}, {"key": "a", "queries": "q2", "error": 3.0, "p95": 9.0}])
    '{"key":"a","queries":["q1","q2"],"error":[2.0,3.0],"p95":[null,9.0]}'
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    packed = {
        name: values[0] if all(value == values[0] for value in values) else values for name, values in columns.items()
    }
    return json.dumps(packed, separators=(",", ":"))


def unpack(line: str) -> list[Row]:
    """Rows of a line.

    Examples
    --------
    >>> unpack('{"key":"a","queries":["q1","q2"],"error":2.0}')
    [{'key': 'a', 'queries': 'q1', 'error': 2.0}, {'key': 'a', 'queries': 'q2', 'error': 2.0}]
    """
    packed = json.loads(line)
    number = max((len(value) for value in packed.values() if isinstance(value, list)), default=1)
    columns = {name: value if isinstance(value, list) else [value] * number for name, value in packed.items()}
    rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return [_present(row) for row in rows]


def _present(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}
