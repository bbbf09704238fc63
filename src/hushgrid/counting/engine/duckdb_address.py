"""Anything that DuckDB reads, by a path, a pattern of paths or a SELECT.

Files of text are read so that no record can change how another is read, as everywhere in hushgrid: one line is one
record, quotes mean nothing beyond it, every column is text, and coordinates are what reads as a number.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hushgrid.counting.columns import find_columns
from hushgrid.counting.engine.statement import is_query
from hushgrid.errors import ArgumentError, InputError, MissingExtraError

if TYPE_CHECKING:
    import duckdb

PARQUET = (".parquet", ".geoparquet", ".pq")
SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t"}
JSON_LINES = (".json", ".ndjson", ".jsonl")
DATABASES = (".duckdb", ".db")
TABLE = "?table="
PACKED = (".gz", ".zst")
# Everything that DuckDB would otherwise guess from rows.
AS_LINES = (
    "auto_detect = false, header = false, quote = '', escape = '', comment = '', strict_mode = false, "
    "ignore_errors = true"
)


def duckdb_relation(text: str, *, lon: str | None = None, lat: str | None = None, user: str | None = None) -> Any:
    """The relation that a text names.

    Parameters
    ----------
    text : str
        A path or pattern of Parquet, CSV or JSON lines, ``trips.duckdb?table=trips``, or a query.
    lon, lat, user : str, optional
        Names of the columns; JSON has no header, and needs them.

    Privacy
    -------
    Columns of CSV files come from their header, never from rows. A message quotes the query or the path only.
    """
    connection = _connect()
    with _opening(text):
        if is_query(text):
            return _Query(connection, text).relation(lon, lat)
        if TABLE in text:
            path, table = text.split(TABLE, 1)
            connection.execute(f"ATTACH {_quoted(path)} AS points (READ_ONLY)")
            return connection.table(f"points.{table}")
        kind = _extension(text)
        if kind in PARQUET:
            return connection.read_parquet(text)
        if kind in SEPARATORS:
            return _numbers(_lines(connection, text), lon, lat)
        if kind in JSON_LINES:
            return _numbers(_objects(connection, text, lon, lat, user), lon, lat)
    if kind in DATABASES:
        msg = f"{text} is a database. Name a table of it: {text}{TABLE}NAME."
        raise InputError(msg)
    known = ", ".join([*PARQUET, *SEPARATORS, *JSON_LINES, *DATABASES])
    msg = f"{text} has an extension that is not known to be one of DuckDB's. Known are: {known}; or give a SELECT."
    raise InputError(msg)


def duckdb_files(text: str) -> list[str]:
    """Paths of the files that a text names; a query may read more, by functions such as ``read_parquet``."""
    connection = _connect()
    with _opening(text):
        names = connection.get_table_names(text) if is_query(text) else {text.split(TABLE, 1)[0]}
        found = [connection.execute("SELECT file FROM glob(?)", [name]).fetchall() for name in sorted(names)]
    return [file for files in found for (file,) in files]


class _Query:
    """One SELECT, whose CSV files are read line by line."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection", text: str) -> None:
        self._connection = connection
        self._text = text

    def relation(self, lon: str | None, lat: str | None) -> Any:
        statements = self._connection.extract_statements(self._text)
        if len(statements) != 1:
            msg = "points are given by one SELECT, got several statements."
            raise ArgumentError(msg)
        has_lines = False
        for name in self._connection.get_table_names(self._text):
            if _extension(name) in SEPARATORS:
                # A table of this name goes before DuckDB's own reader, which would guess types from rows.
                _lines(self._connection, name).create_view(name)
                has_lines = True
        relation = self._connection.sql(self._text)
        return _numbers(relation, lon, lat) if has_lines else relation


def _lines(connection: "duckdb.DuckDBPyConnection", path: str) -> Any:
    """Columns of text, named by the first line of the first file; in other files the first line is passed over."""
    separator, place = _quoted(SEPARATORS[_extension(path)]), _quoted(path)
    lines = connection.sql(f"FROM read_csv({place}, columns = {{'line': 'VARCHAR'}}, delim = '\x1f', {AS_LINES})")
    header = "".join(line for (line,) in lines.limit(1).fetchall() if line)
    names = [name.strip(' "\r\ufeff') for name in header.split(SEPARATORS[_extension(path)])]
    declared = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in names)
    options = f"columns = {{{declared}}}, delim = {separator}, skip = 1, {AS_LINES}"
    texts = ", ".join(f"""trim({_name(name)}, ' "') AS {_name(name)}""" for name in names)
    return connection.sql(f"SELECT {texts} FROM read_csv({place}, {options})")  # noqa: S608  # all are quoted


def _objects(
    connection: "duckdb.DuckDBPyConnection", path: str, lon: str | None, lat: str | None, user: str | None
) -> Any:
    if lon is None or lat is None:
        msg = f"{path} has no header to find columns in. Name the fields: lon=, lat= (--lon, --lat)."
        raise ArgumentError(msg)
    fields = ", ".join(f"json ->> {_quoted(name)} AS {_name(name)}" for name in (lon, lat, user) if name is not None)
    lines = f"read_ndjson_objects({_quoted(path)}, ignore_errors = true)"
    return connection.sql(f"SELECT {fields} FROM {lines}")  # noqa: S608  # all are quoted


def _numbers(relation: Any, lon: str | None, lat: str | None) -> Any:
    """The relation with those coordinates that are text as the numbers that the texts are, or null."""
    chosen = find_columns(relation.columns, lon=lon, lat=lat, where="the query")
    texts = {
        name
        for name, kind in zip(relation.columns, relation.types, strict=True)
        if name in chosen and str(kind) == "VARCHAR"
    }
    columns: Sequence[str] = [
        f"TRY_CAST({_name(name)} AS DOUBLE) AS {_name(name)}" if name in texts else _name(name)
        for name in relation.columns
    ]
    return relation.select(", ".join(columns))


def _connect() -> "duckdb.DuckDBPyConnection":
    try:
        import duckdb
    except ImportError as error:
        msg = 'DuckDB is not installed: pip install "hushgrid[duckdb]".'
        raise MissingExtraError(msg) from error
    return duckdb.connect()


@contextmanager
def _opening(text: str) -> Iterator[None]:
    import duckdb

    try:
        yield
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        # These speak of the query and of names, never of rows.
        msg = f"DuckDB does not understand {text!r}: {str(error).splitlines()[0]}"
        raise InputError(msg) from None
    except duckdb.Error as error:
        msg = f"DuckDB cannot read {text!r} ({type(error).__name__}). Check the path, and that the files are whole."
        raise InputError(msg) from None


def _extension(path: str) -> str:
    """The extension of a path in lower case, that of what is packed if it is.

    Examples
    --------
    >>> _extension("x/*.CSV.gz"), _extension("trips")
    ('.csv', '')
    """
    name = path.lower().rsplit("/", 1)[-1]
    for ending in PACKED:
        name = name.removesuffix(ending)
    _, dot, extension = name.rpartition(".")
    return dot + extension if dot else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
