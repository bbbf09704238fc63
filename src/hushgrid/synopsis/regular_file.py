"""What may be read: regular files only. A pipe may never end, and a device has no end."""

import stat
from pathlib import Path

MISSING, FOLDER, IRREGULAR = "does not exist", "is a folder", "is no regular file"


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
