"""Cells as CSV."""

from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from hushgrid.synopsis.synopsis import Synopsis

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell of a spreadsheet begins that is no text (OWASP)
MARKED = {"count": "simulated_count", "std_error": "simulated_std_error"}


def write_csv(synopsis: Synopsis, out: BinaryIO) -> None:
    """Bounds, count and standard error of every leaf, and the names of areas.

    No spreadsheet finds a formula in it: all but names are numbers, and a name that looks like one gets an apostrophe.
    A table has no place for a mark but the names of its columns: those of a simulation say so.
    """
    table = synopsis.cells()
    if "name" in table.column_names:
        texts = [f"'{name}" if name.startswith(FORMULA) else name for name in table["name"].to_pylist()]
        table = table.set_column(0, "name", pa.array(texts, pa.string()))
    if synopsis.simulation:
        table = table.rename_columns([MARKED.get(name, name) for name in table.column_names])
    out.write((",".join(table.column_names) + "\n").encode())
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=False))
