"""What may be read: regular files only. A pipe may never end, and a device has no end."""

import stat
from difflib import get_close_matches
from pathlib import Path

MISSING, FOLDER, IRREGULAR = "does not exist", "is a folder", "is no regular file"
ALIKE = 0.7  # share of the letters of two names


def irregularity(path: Path) -> str | None:
    """Why a path is no file that can be read, or None if it is one; links are followed.

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


def near_file(path: Path) -> str | None:
    """The file that was likely meant by a path that does not exist: one beside it with nearly the same name."""
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
