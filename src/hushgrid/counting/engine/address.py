"""Points as a text names them, for an engine that is to read them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hushgrid.counting.engine.statement import is_query

EngineName = Literal["duckdb", "spark", "postgres"]


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where an engine finds points; nothing is opened before `table` is called.

    Parameters
    ----------
    text : str
        For DuckDB a path, a pattern of paths or a SELECT; for Spark a folder, a table or an address of its own; for
        PostgreSQL a URL with ``table=`` or ``select=``.
    engine : "duckdb", "spark" or "postgres"
    spark_conf : mapping
        Settings of the Spark session, if there is none yet.
    """

    text: str
    engine: EngineName
    spark_conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_query(self) -> bool:
        """Whether the text chooses rows, so that another text may choose others of the same data set."""
        return is_query(self.text) or (self.engine == "postgres" and "select=" in self.text)

    def table(self, *, lon: str | None = None, lat: str | None = None, user: str | None = None) -> Any:
        """The table, in the form of its engine; columns that are named help where a file has no schema."""
        if self.engine == "duckdb":
            from hushgrid.counting.engine.duckdb_address import duckdb_relation

            return duckdb_relation(self.text, lon=lon, lat=lat, user=user)
        if self.engine == "spark":
            from hushgrid.counting.engine.spark_address import spark_frame

            return spark_frame(self.text, self.spark_conf)
        from hushgrid.counting.engine.postgres_address import postgres_table

        return postgres_table(self.text)
