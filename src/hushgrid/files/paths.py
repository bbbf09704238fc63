"""Safe paths: regular files, written whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from hushgrid.errors import ArgumentError


def check_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that cannot be written to."""
    if irregularity(path.parent) != FOLDER:
        msg = (
            f"the folder {path.parent} does not exist; create it first (mkdir -p {path.parent}), or give another path."
        )
        raise ArgumentError(msg)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        msg = f"the folder {path.parent} cannot be written to: permission denied. Give a path in another folder."
        raise ArgumentError(msg)
    complaint = irregularity(path)
    if complaint is not None and complaint != MISSING:
        msg = f"{path} {complaint}; give the path of a file."
        raise ArgumentError(msg)
    if not overwrite and os.path.lexists(path):
        raise _exists(path)


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file that appears at `path` when all went well.

    Until then it has a temporary name beside it. Without `overwrite`, a file that has come to exist meanwhile is left
    as it is. On failure nothing is left behind.
    """
    check_target(path, overwrite=overwrite)
    temporary = path.with_name(f".hushgrid-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if overwrite:
            temporary.replace(path)
        else:
            _replace_nothing(temporary, path)
        _sync_folder(path.parent)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror or error}."
        raise ArgumentError(msg) from error
    finally:
        temporary.unlink(missing_ok=True)


def _exists(path: Path) -> ArgumentError:
    return ArgumentError(f"{path} exists; pass overwrite=True (--overwrite) to replace it, or give another path.")


def _replace_nothing(temporary: Path, path: Path) -> None:
    # Both ways decide races. A link appears whole; where a file system has none, the name is created first, and a
    # process that is killed right then leaves an empty file.
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        _claim_and_replace(temporary, path)


def _claim_and_replace(temporary: Path, path: Path) -> None:
    path.open("xb").close()
    try:
        temporary.replace(path)
    except OSError:
        path.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    # A release has cost budget: its name, too, should survive a power cut. Windows cannot open folders.
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


MISSING, FOLDER, IRREGULAR = "does not exist", "is a folder", "is not a regular file"
ALIKE = 0.7  # share of the letters of two names


def irregularity(path: Path) -> str | None:
    """Why a path is not a regular file, or None.

    Links are followed.

    Examples
    --------
    >>> irregularity(Path("/"))
    'is a folder'
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return MISSING
    except (OSError, ValueError) as error:  # a name too long, a link to itself, a null character
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    if stat.S_ISDIR(mode):
        return FOLDER
    return None if stat.S_ISREG(mode) else IRREGULAR


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file or folder that is there."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one is missing, or cannot be looked at
        return False


def near_file(path: Path) -> str | None:
    """The file that a missing path likely meant.

    It lies in the same folder and has nearly the same name.
    """
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except (OSError, ValueError):
        return None
    # By what comes before the first dot; endings are alike by themselves.
    stems = get_close_matches(_stem(path.name), {_stem(name) for name in names}, n=1, cutoff=ALIKE)
    near = get_close_matches(path.name, [name for name in names if [_stem(name)] == stems], n=1, cutoff=0)
    return str(path.with_name(near[0])) if near else None


def _stem(name: str) -> str:
    return name.partition(".")[0]
