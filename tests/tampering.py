"""Release files with something changed in them, by someone who knows the format."""

import base64
import json

import pyarrow as pa
import pyarrow.parquet as pq


def tamper(path, *, columns=None, edit=None, keys=None, schema=None):
    """Rewrite a release file.

    Parameters
    ----------
    columns : dict, optional
        Columns to replace.
    edit : function, optional
        Changes the JSON of the release in place.
    keys : dict, optional
        Keys of the footer to replace, or to remove where the value is None.
    schema : pyarrow.Schema, optional
        Other columns than the file has.
    """
    table = pq.read_table(path)
    schema = schema or table.schema.remove_metadata()
    footer = {key.decode(): value for key, value in pq.read_metadata(path).metadata.items()}
    if edit is not None:
        release = json.loads(footer["hushgrid"])
        edit(release)
        footer["hushgrid"] = json.dumps(release)
    footer = {key: value for key, value in {**footer, **(keys or {})}.items() if value is not None}
    arrays = {**{name: table[name].combine_chunks() for name in table.column_names}, **(columns or {})}
    changed = pa.table([pa.array(arrays[name], schema.field(name).type) for name in schema.names], schema=schema)
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(changed)
        writer.add_key_value_metadata(footer)


def packed(table, *, inside=None):
    """A table packed as in a footer, its buffers compressed once more where `inside` names a codec."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=inside)
    with (
        pa.CompressedOutputStream(sink, "zstd") as out,
        pa.ipc.new_stream(out, table.schema, options=options) as stream,
    ):
        stream.write_table(table)
    return base64.b64encode(sink.getvalue())
