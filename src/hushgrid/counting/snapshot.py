"""The state of points: what tells them from others, between two passes of a release and between two runs of it.

A release reads one state of its points. Of files it is what the file system knows of them and, of Parquet, the footers;
of points in memory, a digest of all that is read of them. Every comparison in hushgrid goes by what is made here.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import IO, Self

import numpy as np
import pyarrow as pa

from hushgrid.counting.source import Block
from hushgrid.counting.users import content_and_edges
from hushgrid.errors import InputError

PARQUET_END = b"PAR1"
PIECE = 2**20  # bytes of a footer that are read at once


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What tells a file from another under the same name: its size, times, number on the disk and Parquet footer.

    The time of a change of content can be set back; that of a change of anything, `status_changed`, cannot.

    Privacy
    -------
    All of it may depend on the data. It is compared, never shown, and kept in a ledger only under seal.
    """

    path: Path
    size: int = field(repr=False)
    changed: int = field(repr=False)
    status_changed: int = field(repr=False)
    inode: int = field(repr=False)
    footer: str = field(repr=False)

    @classmethod
    def of(cls, path: Path) -> Self:
        """Snapshot of the file as it is now."""
        with reading(path, "regular"), path.open("rb") as file:
            footer = _footer_digest(file)
            status = os.fstat(file.fileno())
        return cls(
            path=path,
            size=status.st_size,
            changed=status.st_mtime_ns,
            status_changed=status.st_ctime_ns,
            inode=status.st_ino,
            footer=footer,
        )

    def check(self) -> None:
        """Refuse a file that has changed since."""
        if Snapshot.of(self.path) != self:
            msg = f"{self.path} changed while it was being published. Publish a copy that nothing writes to."
            raise InputError(msg)


def files_state(snapshots: Mapping[str, Snapshot]) -> bytes:
    """What a change of any file changes, and of the list of their names, in whatever order they come."""
    lines = [f"{name}\0{astuple(snapshot)[1:]}" for name, snapshot in sorted(snapshots.items())]
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).digest()


def rows_state(parts: Iterable[Iterable[Block]]) -> bytes:
    """What a change of any coordinate or id changes, or of the order of rows; how rows are cut into blocks does not."""
    digests = {name: hashlib.sha256() for name in ("longitudes", "latitudes", "lengths", "ids", "numbers")}
    for part in parts:
        for block in part:
            for name, content in _contents(block):
                digests[name].update(np.ascontiguousarray(content).view(np.uint8).data)
    return hashlib.sha256(b"".join(digest.digest() for digest in digests.values())).digest()


def _contents(block: Block) -> Iterator[tuple[str, np.ndarray]]:
    yield "longitudes", block.longitudes
    yield "latitudes", block.latitudes
    if block.users is not None:
        ids = block.users
        if isinstance(ids, pa.DictionaryArray):
            yield "numbers", ids.indices.cast(pa.int64()).fill_null(-1).to_numpy()
            ids = ids.dictionary
        content, edges = content_and_edges(ids)
        yield "lengths", np.diff(edges)
        yield "ids", content[edges[0] : edges[-1]]


def _footer_digest(file: IO[bytes]) -> str:
    """Digest of the footer of a Parquet file; of nothing if it is another."""
    digest = hashlib.sha256()
    end = file.seek(0, os.SEEK_END)
    if end >= 12:
        file.seek(end - 8)
        length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
        if magic == PARQUET_END:
            file.seek(max(0, end - 8 - length))
            while piece := file.read(PIECE):
                digest.update(piece)
    return digest.hexdigest()


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a reader raises into an error that names the file and quotes nothing of it."""
    try:
        yield
    except FileNotFoundError:
        msg = f"{path} does not exist. Check the path."
        raise InputError(msg) from None
    except PermissionError:
        msg = f"{path} cannot be read: permission denied. Check who may read the file."
        raise InputError(msg) from None
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError):
        msg = f"{path} cannot be read: it is damaged, or not a {kind} file. Write it anew, or give another."
        raise InputError(msg) from None
