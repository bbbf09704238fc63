"""A file as it was when it was opened, so that every pass of a release reads the same one."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pyarrow as pa

from hushgrid.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What tells a file from another under the same name: its size, time of change and number on the disk.

    Privacy
    -------
    The size and the time are compared, never shown.
    """

    path: Path
    size: int = field(repr=False)
    changed: int = field(repr=False)
    inode: int = field(repr=False)

    @classmethod
    def of(cls, path: Path) -> Self:
        """Snapshot of the file as it is now."""
        with reading(path, "regular"):
            status = path.stat()
        return cls(path=path, size=status.st_size, changed=status.st_mtime_ns, inode=status.st_ino)

    def check(self) -> None:
        """Refuse a file that has changed since."""
        if Snapshot.of(self.path) != self:
            msg = f"{self.path} changed while it was being published. Publish a copy that nothing writes to."
            raise InputError(msg)


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
