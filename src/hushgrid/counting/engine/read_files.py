"""The files that an engine reads, by which a later run sees that points are no longer the same."""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname


def known_files(table: Any) -> list[str]:
    """Addresses of the files that a table is read from, as far as it knows; Spark's data frames alone do.

    Examples
    --------
    >>> import polars
    >>> known_files(polars.LazyFrame({"lon": [0.5]}))
    []
    """
    with suppress(Exception):  # of a cluster that keeps them to itself, too
        return list(table.inputFiles())
    return []


def files_state(files: Iterable[str]) -> bytes:
    """What a change of the list changes, and of a file on this machine; it tells nothing of what is in them.

    Parameters
    ----------
    files : texts
        Paths and addresses, in any order. Spark and the like never write twice under one address.

    Examples
    --------
    >>> files_state(["s3a://city/a", "s3a://city/b"]) == files_state(["s3a://city/b", "s3a://city/a"])
    True
    >>> files_state(["s3a://city/a"]) == files_state(["s3a://city/c"])
    False
    """
    lines = [f"{file}\0{_last_change(file)}" for file in sorted(files)]
    return hashlib.sha256("\n".join(lines).encode()).digest()


def _last_change(file: str) -> str:
    path = Path(url2pathname(urlsplit(file).path) if file.startswith("file:") else file)
    try:
        status = path.stat()
    except OSError:  # elsewhere
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"
