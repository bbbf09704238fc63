"""Rows of a Parquet file, as many at once as fit in a fixed amount of memory.

A small file can say a great deal: one long value in a dictionary, and a number for each of a million rows that have it;
or pages of zeros, compressed ten thousand times. So long values stay in their dictionary, and the longer rows are, the
fewer of them are read at once. docs/decisions/0005-user-bounding.md says what is not covered.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hushgrid.errors import InputError

BATCH_ROWS = 2**17
BATCH_BYTES = 2**25  # of values that are decoded at once
BUFFER_BYTES = 2**16  # read ahead in a column; without a buffer, all of it in a row group is read at once


def bounded_batches(
    path: Path, metadata: pq.FileMetaData, group: int, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of a row group; a column whose dictionary holds long values comes as indices into it.

    Privacy
    -------
    Sizes decide how rows are read, and never which, nor what is said of them.
    """
    leaves = [leaf for leaf in range(metadata.num_columns) if _is_within(metadata.schema.column(leaf).path, columns)]
    texts = [metadata.schema.column(leaf) for leaf in leaves]
    texts = [text.path for text in texts if text.physical_type == "BYTE_ARRAY"]
    kept = [name for name in texts if _has_long_values(path, metadata, group, name)]
    rows = _rows_at_once(metadata, group, leaves)
    with _opened(path, metadata, kept) as file:
        yield from file.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=False)


@contextmanager
def enough_memory(path: Path) -> Iterator[None]:
    """Turn a lack of memory into an error that names the file and says nothing of its rows."""
    try:
        yield
    except MemoryError:
        msg = f"{path} needs more memory than there is: its pages or values are very long. Write it anew with small "
        msg += "pages, and only the columns of coordinates and users, or give the process more memory."
        raise InputError(msg) from None


def _opened(path: Path, metadata: pq.FileMetaData, kept: list[str]) -> pq.ParquetFile:
    return pq.ParquetFile(path, metadata=metadata, read_dictionary=kept, pre_buffer=False, buffer_size=BUFFER_BYTES)


def _is_within(leaf: str, columns: Sequence[str]) -> bool:
    return any(leaf == name or leaf.startswith(name + ".") for name in columns)


def _has_long_values(path: Path, metadata: pq.FileMetaData, group: int, name: str) -> bool:
    """Whether the dictionary of a column holds a value that a batch could not repeat in every row."""
    with _opened(path, metadata, [name]) as file:
        first = next(file.iter_batches(1, row_groups=[group], columns=[name], use_threads=False), None)
    if first is None or not isinstance(values := first.column(name), pa.DictionaryArray):
        return False
    longest = pc.max(pc.binary_length(values.dictionary)).as_py() or 0
    return bool(longest > BATCH_BYTES // BATCH_ROWS)


def _rows_at_once(metadata: pq.FileMetaData, group: int, leaves: Sequence[int]) -> int:
    """Rows whose values, by the mean size of a whole row or the declared width, fill a batch."""
    row_group = metadata.row_group(group)
    # The sizes of single columns would be closer, but Arrow aborts the process where a damaged footer has none.
    size = row_group.total_byte_size // max(1, row_group.num_rows)
    width = sum(max(0, metadata.schema.column(leaf).length or 0) for leaf in leaves)
    return int(np.clip(BATCH_BYTES // max(1, size, width), 1, BATCH_ROWS))
