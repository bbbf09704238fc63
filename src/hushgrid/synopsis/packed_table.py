"""Arrow tables as text in a Parquet footer: an IPC stream, compressed by zstd, in base64."""

import base64
import struct
from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from hushgrid.errors import SynopsisFileError

BYTES_PER_ROW = 64  # more than a row of any table kept here takes
BYTES_BESIDE_ROWS = 2**24  # for headers, padding, and the dictionary of rates


def pack(table: pa.Table) -> bytes:
    """A table as text."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as compressed, pa.ipc.new_stream(compressed, table.schema) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue())


def unpack(packed: bytes, *, schema: pa.Schema, rows: int, name: str) -> pa.Table:
    """The table a text holds.

    Parameters
    ----------
    packed : bytes
        What `pack` made, or somebody else.
    schema : pyarrow.Schema
        The columns it must have.
    rows : int
        How many rows it must have. Memory is bounded by this number, whatever the text expands to.
    name : str
        What to call it in errors.
    """
    try:
        stream = _decompress(packed, limit=rows * BYTES_PER_ROW + BYTES_BESIDE_ROWS)
        with pa.ipc.open_stream(stream) as reader:
            if not reader.schema.equals(schema):
                msg = f"the {name} in its footer does not have the columns {', '.join(schema.names)}."
                raise SynopsisFileError(msg)
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, IndexError, struct.error) as error:
        msg = f"the {name} in its footer cannot be decoded."
        raise SynopsisFileError(msg) from error
    if table.num_rows != rows:
        msg = f"the {name} in its footer has {table.num_rows:,} rows where {rows:,} are declared."
        raise SynopsisFileError(msg)
    return table.combine_chunks()


def _decompress(packed: bytes, *, limit: int) -> pa.Buffer:
    source = pa.BufferReader(base64.b64decode(packed, validate=True))
    stream = pa.CompressedInputStream(source, "zstd").read_buffer(limit + 1)
    if stream.size > limit:
        msg = "more data than its rows can hold"
        raise ValueError(msg)
    for message in pa.ipc.MessageReader.open_stream(stream):
        if _is_compressed(message.metadata.to_pybytes()):
            msg = "compressed twice"
            raise ValueError(msg)
    return stream


# Position of the record batch among the fields of a message's header (Arrow's Message.fbs), by type of header.
DICTIONARY_BATCH, RECORD_BATCH = 2, 3
PATHS_TO_BATCH: Mapping[int, tuple[int, ...]] = MappingProxyType({DICTIONARY_BATCH: (2, 1), RECORD_BATCH: (2,)})


def _is_compressed(message: bytes) -> bool:
    # Buffers inside a stream may be compressed once more, and would then expand past any limit on the stream. Arrow
    # decompresses before it can be asked, so the one field that says so is looked up in the message's flatbuffer.
    table = _follow(message, 0)
    header_type = _field(message, table, 1)
    path = PATHS_TO_BATCH.get(message[header_type]) if header_type else None
    for index in path or ():
        table = _follow(message, _field(message, table, index))
    return path is not None and _field(message, table, 3) != 0


def _follow(message: bytes, position: int) -> int:
    (offset,) = struct.unpack_from("<I", message, position)
    return position + int(offset)


def _field(message: bytes, table: int, index: int) -> int:
    """Position of a field of a flatbuffer table, or 0 where the field is absent."""
    (back,) = struct.unpack_from("<i", message, table)
    vtable = table - back
    (size,) = struct.unpack_from("<H", message, vtable)
    if 4 + 2 * index >= size:
        return 0
    (offset,) = struct.unpack_from("<H", message, vtable + 4 + 2 * index)
    return table + int(offset) if offset else 0
