"""Texts that tell an engine where points are."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from glob import iglob
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hushgrid.counting.columns import NOT_NAMED, Dialect, refuse_signs
from hushgrid.counting.counter import BeforeRows, nothing
from hushgrid.files.paths import FOLDER, irregularity
from hushgrid.slices.by import By

if TYPE_CHECKING:
    from hushgrid.counting.counter import OpenedPoints


QUERY_WORDS = ("select", "with", "from")
QUOTED = re.compile(r"""(['"])(.*?)\1""")  # files that a SELECT names


def is_query(text: str) -> bool:
    """Whether a text is a query in SQL.

    A file of that name, such as ``from berlin.parquet``, goes before a query.

    Examples
    --------
    >>> is_query("SELECT lon, lat FROM trips"), is_query("selected.parquet")
    (True, False)
    """
    words = text.split(maxsplit=1)
    return len(words) == 2 and words[0].lower() in QUERY_WORDS and not is_here(text)


def is_here(text: str) -> bool:
    """Whether this machine has a file of this name.

    Or a folder.
    """
    return os.path.exists(text)  # noqa: PTH110  # a query may be longer than any path, which is an error to Path


EngineName = Literal["duckdb", "spark", "postgres"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Address:
    """Where an engine finds points.

    Nothing is opened before `open` is called.

    Parameters
    ----------
    text : str
        For DuckDB a path, a pattern of paths, a table of a database or a SELECT; for Spark a folder, a table or an
        address of its own; for PostgreSQL a URL with ``table=`` or ``select=``.
    engine : "duckdb", "spark" or "postgres"
    spark_conf : mapping
        Settings of the Spark session, if there is none yet.

    Privacy
    -------
    URLs and settings may hold passwords, and are not shown.

    Examples
    --------
    >>> Address(text="postgresql://me:secret@host/city?select=SELECT lon, lat FROM trips", engine="postgres")
    Address(engine='postgres')
    """

    text: str
    engine: EngineName
    spark_conf: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Address(engine={self.engine!r})"

    def __str__(self) -> str:
        return "the table of PostgreSQL" if self.engine == "postgres" else self.text

    @property
    def query(self) -> str | None:
        """The SELECT in the text, if any.

        Another SELECT may choose other rows of the same data set.
        """
        if self.engine != "postgres":
            return self.text if is_query(self.text) else None
        from hushgrid.counting.engine.postgres import parse_address

        return parse_address(self.text)[2]

    def open(
        self,
        *,
        crs: str,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
        by: By | None = None,
        dialect: Dialect = NOT_NAMED,
        before_rows: BeforeRows = nothing,
    ) -> "OpenedPoints":
        """Open the points by their schema alone.

        The arguments are those of `open_points`.
        """
        if self.engine != "duckdb":
            refuse_signs(dialect, "what an engine reads")
        if self.engine == "postgres":
            from hushgrid.counting.engine.postgres import postgres_points

            return postgres_points(self.text, crs=crs, lon=lon, lat=lat, geometry=geometry, user=user, by=by)
        from hushgrid.counting.engine.points import EnginePoints, check_columns

        check_columns(geometry)
        if self.engine == "duckdb":
            from hushgrid.counting.engine.duckdb import duckdb_points

            columns = {"lon": lon, "lat": lat, "user": user}
            return duckdb_points(self.text, crs=crs, by=by, dialect=dialect, before_rows=before_rows, **columns)
        from hushgrid.counting.engine.spark import spark_frame

        table = spark_frame(self.text, self.spark_conf, before_rows=before_rows)
        return EnginePoints.of(table, lon=lon, lat=lat, user=user, by=by)


def files_of(points: object) -> Iterator[Path]:
    """Files that points are read from, as far as a path or an address names them.

    What an address could mean is listed whether its engine reads it or not.
    """
    if isinstance(points, Address):
        for named in (points.text, *(quoted for _, quoted in QUOTED.findall(points.text))):
            for path in (named, *iglob(named, recursive=True)):  # noqa: PTH207  # a pattern may be absolute
                yield from files_of(path)
    elif isinstance(points, str | os.PathLike):
        held = Path(points)
        yield from held.rglob("*") if irregularity(held) == FOLDER else (held,)
