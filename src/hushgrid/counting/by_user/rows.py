"""Rows in memory, and whose they are; divided among partitions.

A partition has all rows of its users, so that each can be bounded on its own.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.counting.by_user.ids import Ids, unwritable
from hushgrid.counting.csv_loops import Text
from hushgrid.counting.source import Coordinates
from hushgrid.counting.users import IDS

ROWS = pa.schema({"user": pa.dictionary(pa.int32(), IDS), "longitude": pa.float64(), "latitude": pa.float64()})
SLICE = pa.field("slice", pa.int32())
ROWS_IN_SLICES = ROWS.append(SLICE)
NOWHERE = 255  # the partition of rows that are left out


@compiled
def find_records(
    longitudes: Coordinates,
    latitudes: Coordinates,
    bounds: tuple[float, float, float, float],
    numbers: NDArray[np.int32],
    is_user: NDArray[np.bool_],
    partitions: NDArray[np.uint8],
) -> None:
    """Write 0 for every row that counts, else `NOWHERE`.

    It lies in the bounds, and its id is one of a user.
    """
    west, south, east, north = bounds
    for i in range(numbers.size):
        x, y = np.float64(longitudes[i]), np.float64(latitudes[i])
        inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
        partitions[i] = 0 if inside and is_user[numbers[i]] else NOWHERE


@compiled
def find_partitions(
    numbers: NDArray[np.int32],
    edges: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    count: int,
    partitions: NDArray[np.uint8],
) -> None:
    """Write the partition of every row, by its user.

    Rows without an id may be anywhere, and are dealt out evenly.
    """
    for i in range(numbers.size):
        one = numbers[i]
        number = hashes[one] if edges[one + 1] > edges[one] else np.uint64(i)
        partitions[i] = number % np.uint64(count)


@compiled
def copy_by_partition(
    longitudes: Coordinates,
    latitudes: Coordinates,
    numbers: NDArray[np.int32],
    content: Text,
    edges: NDArray[np.int64],
    partitions: NDArray[np.uint8],
    count: int,
) -> tuple[NDArray[np.int32], Text, Indices, Floats, Floats, Indices, Indices]:
    """Copy rows, and the ids that they have, by partition.

    The first id of every partition is empty, for the rows without one.

    Returns
    -------
    numbers, content, edges, longitudes, latitudes : array
        As given; numbers are those of ids in their own partition.
    row_edges, id_edges : array of int64, shape (count + 1,)
        Where the rows and the ids of each partition begin, and where the last ones end.
    """
    places = np.zeros(edges.size - 1, np.int32)  # of ids in their partitions; 0 for those that are in none
    row_edges, id_edges = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    next_bytes = np.zeros(count + 1, np.int64)
    id_edges[1:] = 1
    for i in range(partitions.size):
        one, after = numbers[i], partitions[i] + 1
        if partitions[i] != NOWHERE:
            row_edges[after] += 1
            if places[one] == 0 and edges[one + 1] > edges[one]:
                places[one] = id_edges[after]
                id_edges[after] += 1
                next_bytes[after] += edges[one + 1] - edges[one]
    for k in range(count):
        row_edges[k + 1] += row_edges[k]
        id_edges[k + 1] += id_edges[k]
        next_bytes[k + 1] += next_bytes[k]
    rows, ids = row_edges[count], id_edges[count]
    new_longitudes, new_latitudes = np.empty(rows, np.float64), np.empty(rows, np.float64)
    new_numbers, new_edges = np.empty(rows, np.int32), np.empty(ids + 1, np.int64)
    new_content = np.empty(next_bytes[count], np.uint8)
    new_edges[id_edges] = next_bytes
    next_rows, next_ids = row_edges.copy(), id_edges + 1
    for i in range(partitions.size):
        one, k = numbers[i], partitions[i]
        if k != NOWHERE:
            row = next_rows[k]
            next_rows[k] += 1
            # Adding zero turns a negative zero, which equals zero and has other bits, into zero.
            new_longitudes[row] = np.float64(0) + longitudes[i]
            new_latitudes[row] = np.float64(0) + latitudes[i]
            new_numbers[row] = places[one]
            if id_edges[k] + places[one] == next_ids[k]:  # the first row that has it
                place = next_bytes[k]
                new_edges[next_ids[k]] = place
                for byte in range(edges[one], edges[one + 1]):
                    new_content[place] = content[byte]
                    place += 1
                next_bytes[k] = place
                next_ids[k] += 1
    return new_numbers, new_content, new_edges, new_longitudes, new_latitudes, row_edges, id_edges


class UserRows(NamedTuple):
    """Rows in memory, and whose they are.

    Privacy
    -------
    Holds ids and coordinates as they are in the data.
    """

    ids: Ids
    longitudes: Floats
    latitudes: Floats
    slices: NDArray[np.int32] | None = None  # where the release is in slices

    @classmethod
    def joined(cls, several: Sequence["UserRows"]) -> Self:
        """All rows of several, one after the other."""
        slices = [rows.slices for rows in several if rows.slices is not None]
        longitudes = np.concatenate([np.empty(0), *(rows.longitudes for rows in several)])
        latitudes = np.concatenate([np.empty(0), *(rows.latitudes for rows in several)])
        all_slices = np.concatenate(slices) if slices else None
        return cls(Ids.joined([rows.ids for rows in several]), longitudes, latitudes, all_slices)

    @classmethod
    def of_batch(cls, batch: pa.RecordBatch) -> Self:
        """Rows as they were written to a file."""
        slices = batch.column(SLICE.name).to_numpy() if SLICE.name in batch.schema.names else None
        return cls(Ids.of(batch.column(0)), batch.column(1).to_numpy(), batch.column(2).to_numpy(), slices)

    def __repr__(self) -> str:
        return "UserRows(...)"

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        slices = 0 if self.slices is None else self.slices.nbytes
        return slices + sum(array.nbytes for array in (*self.ids, self.longitudes, self.latitudes))

    def batch(self) -> pa.RecordBatch:
        """Rows as they are written to a file."""
        columns = [self.ids.array(), self.longitudes, self.latitudes]
        if self.slices is None:
            return pa.record_batch(columns, schema=ROWS)
        return pa.record_batch([*columns, self.slices], schema=ROWS_IN_SLICES)

    def by_user(self, count: int, *, salt: int) -> list["UserRows"]:
        """Rows of each of so many partitions, by a hash of the user."""
        partitions = np.empty(self.longitudes.size, np.uint8)
        hashes = self.ids.hashes(salt)
        find_partitions(unwritable(self.ids.numbers), unwritable(self.ids.edges), hashes, count, partitions)
        return rows_by_partition(self.ids, self.longitudes, self.latitudes, self.slices, partitions, count)


def rows_by_partition(
    ids: Ids,
    longitudes: Coordinates,
    latitudes: Coordinates,
    slices: NDArray[np.int32] | None,
    partitions: NDArray[np.uint8],
    count: int,
) -> list[UserRows]:
    """Rows of each partition; those that are nowhere are left out."""
    numbers, content, edges, xs, ys, row_edges, id_edges = copy_by_partition(
        unwritable(longitudes),
        unwritable(latitudes),
        unwritable(ids.numbers),
        unwritable(ids.content),
        unwritable(ids.edges),
        partitions,
        count,
    )
    if slices is not None:
        slices = slices[np.argsort(partitions, kind="stable")]  # rows keep their order; those that are nowhere are last
    parts = []
    for k in range(count):
        rows, own = slice(row_edges[k], row_edges[k + 1]), slice(id_edges[k], id_edges[k + 1] + 1)
        own_slices = None if slices is None else slices[rows]
        parts.append(UserRows(Ids(numbers[rows], content, edges[own]), xs[rows], ys[rows], own_slices))
    return parts
