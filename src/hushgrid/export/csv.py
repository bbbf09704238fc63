"""Cells as CSV."""

from typing import BinaryIO

import pyarrow.csv

from hushgrid.synopsis.synopsis import Synopsis

MARKED = {"count": "simulated_count", "std_error": "simulated_std_error"}


def write_csv(synopsis: Synopsis, out: BinaryIO) -> None:
    """Bounds, count and standard error of every leaf; only numbers, so that no spreadsheet finds a formula in it.

    A table has no place for a mark but the names of its columns: those of a simulation say so.
    """
    table = synopsis.cells()
    if synopsis.simulation:
        table = table.rename_columns([MARKED.get(name, name) for name in table.column_names])
    out.write((",".join(table.column_names) + "\n").encode())
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=False))
