"""Points that DuckDB reads, by path or SELECT.

Text is not among it. To DuckDB a quote, a carriage return or a long line means something else than to hushgrid, and a
file must count the same whichever way it is given. So our own reader counts the CSV files of a path or pattern, and a
query names Parquet files; docs/decisions/0007 says more.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushgrid.counting.by_slice.slicing import check_slice_names
from hushgrid.counting.columns import NOT_NAMED, Dialect, find_columns, quotable_names, refuse_signs
from hushgrid.counting.counter import BeforeRows, OpenedPoints, nothing
from hushgrid.counting.csv import CsvFiles, CsvPoints
from hushgrid.counting.engine.address import is_here, is_query
from hushgrid.counting.engine.engine import Frame
from hushgrid.counting.engine.local import connect_duckdb, private_folder, spill_to
from hushgrid.counting.engine.points import EnginePoints
from hushgrid.counting.parquet import ParquetFiles
from hushgrid.counting.source import CSV, PARQUET, PointSource, parquet_files
from hushgrid.counting.users import check_user_name
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.domain import Domain
from hushgrid.slices.by import By

if TYPE_CHECKING:
    import duckdb


JSON_LINES = (".json", ".ndjson", ".jsonl")
PACKED = (".gz", ".zst")
DATABASES = (".duckdb", ".db")
TABLE = "?table="
QUERY = "the query"
UNLISTED = "Rename the columns in the query: SELECT ... AS lon, ... AS lat."
UNSELECTED = "Select it in the query, by that name."
READING_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}  # as DuckDB calls them
PATTERN_SIGNS = re.compile(r"([*?[])")


def duckdb_points(
    text: str,
    *,
    crs: str,
    lon: str | None = None,
    lat: str | None = None,
    user: str | None = None,
    by: By | None = None,
    dialect: Dialect = NOT_NAMED,
    before_rows: BeforeRows = nothing,
) -> OpenedPoints:
    """Open the points that a text names.

    Nothing but the schema is looked at.

    Parameters
    ----------
    text : str
        A path or pattern of Parquet or CSV files, a folder of Parquet files, ``trips.duckdb?table=trips``, or a query.
        What exists under that name goes before what the name could mean otherwise.
    crs, lon, lat, user, by, dialect
        As for `open_points`.
    before_rows : callable
        Called before DuckDB looks at a query or a view, which may find its columns in rows; of Parquet files it reads
        the footers.

    Privacy
    -------
    A message quotes the text, the columns asked for and the usual ones, and what DuckDB repeats of the text.
    """
    columns = {"lon": lon, "lat": lat, "user": user}
    connection = connect_duckdb()
    if _is_csv(text):
        return _csv_files(connection, text, crs=crs, by=by, dialect=dialect, **columns)
    refuse_signs(dialect, "what DuckDB reads")
    files: list[str] = []  # empty for a query or a table of a database, which may have other rows another time
    with _opening(text):
        if is_query(text):
            table = _query(connection, text, by=by, before_rows=before_rows, **columns)
        elif TABLE in text:
            path, name = text.split(TABLE, 1)
            connection.execute(f"ATTACH {_quoted(path)} AS points (READ_ONLY)")
            before_rows()
            table = connection.table(f"points.{name}")
        else:
            if not _is_folder(text):
                _check_parquet(text)
            files = _files(connection, text)
            if by is not None and files and "://" not in text:
                return ParquetFiles([Path(file) for file in sorted(files)], crs=crs, by=by, **columns)
            table = connection.read_parquet([PATTERN_SIGNS.sub(r"[\1]", file) for file in files] or text)
            _check_texts(text, table, [user, *(() if by is None else by.columns)])
    points = DuckDbPoints.of(table, lon=lon, lat=lat, user=user, by=by, files=files)
    points.connection = connection
    return points


class DuckDbPoints(EnginePoints):
    """Points of a connection of our own.

    It spills to a folder of ours.
    """

    connection: "duckdb.DuckDBPyConnection"

    @contextmanager
    def snapshot(self, domain: Domain) -> Iterator[Frame]:
        """Copy the points; close the connection at the end."""
        with self._spilling(), super().snapshot(domain) as frame:
            yield frame

    @contextmanager
    def copied(self) -> Iterator[PointSource]:
        """Copy the rows with their slices; close the connection at the end."""
        with self._spilling(), super().copied() as source:
            yield source

    @contextmanager
    def _spilling(self) -> Iterator[None]:
        with private_folder() as folder, self.connection:
            spill_to(self.connection, folder)
            yield


def _is_folder(text: str) -> bool:
    return is_here(text) and Path(text).is_dir()


def _is_csv(text: str) -> bool:
    """Whether a text is a path or pattern of CSV files."""
    is_path = TABLE not in text and not is_query(text) and not _is_folder(text)
    return is_path and text.lower().endswith(CSV)


def _csv_files(connection: "duckdb.DuckDBPyConnection", text: str, **options: Any) -> CsvFiles:
    """CSV files as one table, read by ourselves."""
    from hushgrid.counting.opening import open_points  # which imports this module to open addresses

    with _opening(text):
        files = [] if "://" in text else _files(connection, text)
    if not files:
        msg = f"{text} names no file on this machine, and CSV files must be here. Check the path or pattern."
        raise InputError(msg)
    opened = [open_points(Path(file), **options) for file in sorted(files)]
    return CsvFiles([file for file in opened if isinstance(file, CsvPoints)])


def _files(connection: "duckdb.DuckDBPyConnection", text: str) -> list[str]:
    """Files that a path or a pattern names.

    None where they cannot be listed.
    """
    if is_here(text):
        return [str(file) for file in parquet_files(Path(text))] if _is_folder(text) else [text]
    return [file for (file,) in connection.execute("SELECT file FROM glob(?)", [text]).fetchall()]


def _check_parquet(text: str) -> None:
    """Refuse a path that does not name Parquet files."""
    name = text.lower()
    if name.endswith(PARQUET):
        return
    if name.endswith(DATABASES):
        msg = f"{text} is a database. Name a table of it: {text}{TABLE}NAME."
    elif name.endswith(tuple(ending + packed for ending in JSON_LINES for packed in ("", *PACKED))):
        msg = f"{text} is JSON, which is not read: DuckDB stops at a long object, so that one record could stop a "
        msg += f"release. Write a Parquet file first: {_as_parquet(text)}"
    else:
        known = ", ".join([*PARQUET, *CSV, *DATABASES])
        msg = f"{text} has an unknown extension. Known are: {known}. Or give a SELECT."
    raise InputError(msg)


def _check_texts(text: str, table: Any, names: Sequence[str | None]) -> None:
    """Refuse user ids and slices that are text in Parquet.

    DuckDB stops at one that is not UTF-8.
    """
    texts = [name for name, kind in zip(table.columns, table.types, strict=True) if str(kind) == "VARCHAR"]
    for name in texts:
        if name in names:
            msg = f"column {name!r} of {text} is text, and DuckDB stops at a text that is not UTF-8, so that one "
            msg += "record could stop a release. Leave out --engine duckdb: hushgrid reads Parquet files and folders "
            msg += "itself."
            raise InputError(msg)


def _query(
    connection: "duckdb.DuckDBPyConnection",
    text: str,
    *,
    lon: str | None,
    lat: str | None,
    user: str | None,
    by: By | None,
    before_rows: BeforeRows,
) -> Any:
    """The result of a query, not yet computed."""
    _check_one_select(connection, text)
    for name in sorted(connection.get_table_names(text)):
        # Nothing else can have a dot or a slash in its name: the connection has no tables.
        if re.search(r"[./]", name) and not name.lower().partition("?")[0].endswith(PARQUET):
            msg = f"a query may name Parquet files, got {name!r}. A CSV file is published by its path, without a "
            msg += f"query. Write anything else as Parquet first: {_as_parquet(name)} A function such as "
            msg += "read_csv(...), with all its options given, is allowed, and what it makes of a record is up to you."
            raise InputError(msg)
    before_rows()
    table = connection.sql(text)
    names = () if by is None else by.columns
    known = quotable_names(table.columns, (lon, lat, user, *names))  # others may be of a CSV file without a header
    coordinates = find_columns(known, lon=lon, lat=lat, where=QUERY, unlisted=UNLISTED)
    if user is not None:
        check_user_name(user, known, coordinates=coordinates, where=QUERY, unlisted=UNLISTED)
    if by is not None:
        check_slice_names(by, known, coordinates=coordinates, user=user, where=QUERY, unlisted=UNSELECTED)
    return table


def _check_one_select(connection: "duckdb.DuckDBPyConnection", text: str) -> None:
    """Refuse anything but one statement that only reads.

    Down to the parts of a WITH, before any of it runs.
    """
    count = len(connection.extract_statements(text))
    parsed = json.loads(connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0])
    if count != 1 or parsed["error"] or not set(_nodes(parsed)) <= READING_NODES:
        msg = "a query must be one SELECT that writes nothing and says which columns it has (a PIVOT names them by "
        msg += f"IN), got {text!r}."
        raise ArgumentError(msg)


def _nodes(tree: Any) -> Iterator[str]:
    """Kinds of the parts of a parsed query."""
    if isinstance(tree, list):
        for item in tree:
            yield from _nodes(item)
    elif isinstance(tree, dict):
        kind = tree.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE"):
            yield kind
        for item in tree.values():
            yield from _nodes(item)


@contextmanager
def _opening(text: str) -> Iterator[None]:
    import duckdb

    try:
        yield
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        # These speak of the query and of names, never of rows; but names may be of a CSV file without a header.
        said = re.sub(r'"([^"]*)"', lambda name: name[0] if name[1] in text else '"..."', str(error).splitlines()[0])
        msg = f"DuckDB does not understand {text!r}: {said}"
        raise InputError(msg) from None
    except duckdb.Error as error:
        msg = f"DuckDB cannot read {text!r} ({type(error).__name__}). Check the path, and that the files are whole."
        raise InputError(msg) from None


def _as_parquet(text: str) -> str:
    return f"duckdb.sql(\"FROM '{text}'\").write_parquet('points.parquet') in Python."


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
