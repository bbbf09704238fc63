"""Turns user ids of any type into bytes.

Ids are compared and hashed by these bytes. The hash divides work and decides nothing: ids are compared in full.

An integer is its decimal text, a text its UTF-8, a binary or UUID its bytes in lower-case hexadecimal: what an engine
that speaks SQL can write, too. Null and empty ids are none. The type is that of the declared column, so that no value
can change how another is read; a list or a column of Python objects declares none, and is read value by value.

An id that many rows share may stand once, in a dictionary, with a number for each row. It is never written out per row:
a small file can give a million rows an id of many megabytes.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.compiled import compiled
from hushgrid.counting.columns import is_text, listing, nearest_name, plain_type
from hushgrid.counting.csv_loops import Text, is_space
from hushgrid.errors import ArgumentError, InputError


@compiled
def trim_spans(text: Text, spans: NDArray[np.int64]) -> None:
    """Cut the blanks at the ends of every span.

    A span is its first and last byte, half-open.
    """
    for row in range(spans.shape[0]):
        first, stop = spans[row, 0], spans[row, 1]
        while first < stop and is_space(text[first]):
            first += 1
        while first < stop and is_space(text[stop - 1]):
            stop -= 1
        spans[row, 0], spans[row, 1] = first, stop


@compiled
def copy_spans(text: Text, spans: NDArray[np.int64], content: Text) -> None:
    """Copy the bytes of all spans, in order."""
    place = 0
    for row in range(spans.shape[0]):
        for k in range(spans[row, 0], spans[row, 1]):
            content[place] = text[k]
            place += 1


IDS = pa.large_binary()
LONGEST_ID = 2**10  # characters, which every engine can count; a row with a longer id is not a record
HEX_PAIRS = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)


@dataclass(frozen=True)
class UserColumn:
    """The column that holds the user ids."""

    name: str

    def ids(self, batch: pa.RecordBatch) -> pa.LargeBinaryArray | pa.DictionaryArray:
        """Canonical ids of a batch, null where missing."""
        return canonical_ids(batch.column(self.name))


def user_column(schema: pa.Schema, name: str, *, coordinates: Sequence[str], where: str) -> UserColumn:
    """The column of ids, by the schema alone."""
    check_user_name(name, schema.names, coordinates=coordinates, where=where)
    kind = schema.field(name).type
    if not _is_id(plain_type(kind)):
        raise no_ids(name, kind, where)
    return UserColumn(name)


def check_user_name(
    name: str, names: Sequence[str], *, coordinates: Sequence[str], where: str, unlisted: str | None = None
) -> None:
    """Refuse a name that cannot be the user column.

    It must be there once, and not hold coordinates. `unlisted` is as for `find_columns`.
    """
    if name in coordinates:
        msg = f"user names {name!r}, which is a column of coordinates. Name the column that tells whose record it is."
        raise ArgumentError(msg)
    if name not in names:
        near = nearest_name(name, [known for known in names if known not in coordinates])
        msg = f"{where} has no column {name!r} of user ids. {listing(names) if unlisted is None else unlisted}"
        raise InputError(msg, instead={"user": near} if near else None)
    if list(names).count(name) > 1:
        msg = f"{where} has more than one column {name!r}. Rename all but one."
        raise InputError(msg)


def no_ids(name: str, kind: object, where: str) -> InputError:
    """Error for a column not declared as ids."""
    msg = f"column {name!r} of {where} has type {kind}; user ids are integers, text, UUIDs or binary. "
    msg += "Convert the column where the data is written; pandas keeps integers with gaps as 'Int64'."
    return InputError(msg)


def canonical_ids(column: pa.Array) -> pa.LargeBinaryArray | pa.DictionaryArray:
    r"""Canonical bytes of an Arrow column of ids.

    Those of a dictionary stay in one.

    Examples
    --------
    >>> canonical_ids(pa.array([7, None, -12], pa.int32())).to_pylist()
    [b'7', None, b'-12']
    >>> canonical_ids(pa.array([b"\x00\xff", b""])).to_pylist()
    [b'00ff', None]
    """
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        used = without_unused(column)
        return pa.DictionaryArray.from_arrays(used.indices, canonical_ids(used.dictionary))
    if pa.types.is_integer(column.type):
        return column.cast(pa.large_string()).cast(IDS)
    ids = column.cast(IDS)
    ids = pc.if_else(pc.equal(pc.binary_length(ids), 0), pa.scalar(None, IDS), ids)
    return ids if is_text(column.type) else _hexadecimal(ids)


def ids_of_values(values: Iterable[Any]) -> pa.LargeBinaryArray:
    """Canonical bytes of Python values.

    Each by its own type; what is not an id is null.

    Examples
    --------
    >>> ids_of_values([7, "seven", None, 7.0, ""]).to_pylist()
    [b'7', b'seven', None, None, None]
    """
    return pa.array([_canonical(value) for value in values], IDS)


def id_texts(values: Iterable[Any]) -> pa.LargeStringArray:
    """Canonical bytes as text, which stays as it is when it becomes canonical once more."""
    return ids_of_values(values).cast(pa.large_string(), safe=False)


def ids_of_array(values: NDArray[np.generic] | Sequence[Any]) -> pa.LargeBinaryArray:
    """Canonical bytes of ids given beside points."""
    if not isinstance(values, np.ndarray):
        return ids_of_values(values)
    if values.ndim != 1 or values.dtype.kind not in "iuUSO":
        msg = f"user must be a 1-D array of integers, text or objects; got {values.ndim} dimension(s) of "
        msg += f"dtype {values.dtype}."
        raise ArgumentError(msg)
    if values.dtype.kind in "iu" and not isinstance(values, np.ma.MaskedArray):
        return canonical_ids(pa.array(values))
    return ids_of_values(values.tolist())  # a masked value becomes None


def without_unused(ids: pa.DictionaryArray) -> pa.DictionaryArray:
    """Drop ids that no row has."""
    places = ids.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(places.indices, ids.dictionary.take(places.dictionary))


def content_and_edges(ids: pa.LargeBinaryArray) -> tuple[NDArray[np.uint8], Indices]:
    """Bytes of all ids, and where each begins.

    One more entry says where the last one ends. A null is empty.
    """
    filled = ids.fill_null(b"")
    _, offsets, content = filled.buffers()
    edges = np.frombuffer(offsets, np.int64)[filled.offset : filled.offset + len(filled) + 1]
    return np.frombuffer(content or b"", np.uint8), edges


def _canonical(value: Any) -> bytes | None:
    match value:
        case bool():
            return None
        case str():
            return value.encode(errors="surrogatepass") or None
        case int() | np.integer():
            try:
                return b"%d" % int(value)
            except (TypeError, ValueError):  # a span of time of numpy that is missing; thousands of digits
                return None
        case bytes():
            return value.hex().encode() or None
        case uuid.UUID():
            return value.hex.encode()
        case _:
            return None


def _hexadecimal(ids: pa.LargeBinaryArray) -> pa.LargeBinaryArray:
    """Write every byte as two digits; nulls stay."""
    content, edges = content_and_edges(ids)
    pairs = HEX_PAIRS[content[edges[0] : edges[-1]]]
    buffers = [None, pa.py_buffer(2 * (edges - edges[0])), pa.py_buffer(pairs)]
    written = pa.LargeBinaryArray.from_buffers(IDS, len(ids), buffers)
    return pc.if_else(ids.is_null(), pa.scalar(None, IDS), written)


def _is_id(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or is_text(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
    )
