"""Which files hold points. Only names are looked at."""

import os
from pathlib import Path

from hushgrid.counting.snapshot import reading
from hushgrid.errors import InputError

PARQUET = (".parquet", ".geoparquet", ".pq")
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
HIDDEN = (".", "_")  # first letters of what writers of data leave beside it, such as _SUCCESS


def parquet_files(folder: Path) -> list[Path]:
    """Every Parquet file in a folder and in those below it, in the order of their names.

    Names that begin with a dot or an underscore are passed over, as Spark does. Any other file is an error, because it
    may be data that somebody believes to be published.
    """
    files = []
    with reading(folder, "Parquet"):
        for place, folders, names in os.walk(folder, onerror=_refuse):
            folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
            files += [Path(place, name) for name in names if not name.startswith(HIDDEN)]
    for file in files:
        if not file.name.lower().endswith(PARQUET):
            msg = f"{folder} is a folder that holds {file.relative_to(folder)}, which is no Parquet file "
            msg += f"({', '.join(PARQUET)}). Move it elsewhere, or give one file; CSV files are one table by "
            msg += "a pattern such as 'trips/*.csv', with --engine duckdb."
            raise InputError(msg)
    if not files:
        msg = f"{folder} is a folder without Parquet files ({', '.join(PARQUET)}). Give one that holds some, or a file."
        raise InputError(msg)
    return sorted(files)


def _refuse(error: OSError) -> None:
    raise error
