"""Cells as CSV."""

import unicodedata
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from hushgrid.synopsis.synopsis import Synopsis

FORMULA = ("=", "+", "-", "@")  # how a cell of a spreadsheet begins that is no text (OWASP)
APOSTROPHE = "'"
MARKED = {"count": "simulated_count", "std_error": "simulated_std_error"}


def write_csv(synopsis: Synopsis, out: BinaryIO) -> None:
    """Bounds, count and standard error of every leaf, and the names of areas.

    No spreadsheet finds a formula in it: all but names are numbers, and a name that looks like one gets an apostrophe.
    So does a name that begins with one: whoever takes one away has the names of the release.
    A table has no place for a mark but the names of its columns: those of a simulation say so.
    """
    table = synopsis.cells()
    if "name" in table.column_names:
        texts = pa.array(map(as_text, table["name"].to_pylist()), pa.string())
        table = table.set_column(table.column_names.index("name"), "name", texts)
    if synopsis.simulation:
        table = table.rename_columns([MARKED.get(name, name) for name in table.column_names])
    out.write((",".join(table.column_names) + "\n").encode())
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=False))


def as_text(name: str) -> str:
    r"""A name that spreadsheets take for text: with an apostrophe before what they may take for a formula.

    They pass over white space at the start, and some take full-width signs for plain ones.

    Examples
    --------
    >>> as_text("Kreuzberg"), as_text("\n=1+1"), as_text("'t Gooi")
    ('Kreuzberg', "'\n=1+1", "''t Gooi")
    """
    start = unicodedata.normalize("NFKC", name).lstrip()
    is_risky = start.startswith((*FORMULA, APOSTROPHE)) or name.startswith(("\t", "\r", "\n"))
    return APOSTROPHE + name if is_risky else name
