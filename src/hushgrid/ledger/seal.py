"""The state of points, written down so that only their steward can hold it against data.

A run that goes on with another must see whether its points are the same, so that their state is in the journal. As it
is it would be an oracle: whoever knows all records but one could try every place for that one until the digest agrees.
So the ledger has it under a key that is not in the ledger, but in a file of whoever runs the release.
"""

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from hushgrid.errors import LedgerError

KEY_BYTES = 32
OF_KEY, OF_STATE = b"key", b"state"


def key_file() -> Path:
    """Where the key is: in the folder that the system keeps for the state of programs of this user."""
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    folder = given if given.is_absolute() else Path.home() / ".local" / "state"
    return folder / "hushgrid" / "resume.key"


def seal(state: bytes) -> bytes | None:
    """A state under the key, which is made if there is none; None where no key can be kept.

    Privacy
    -------
    To whoever has no key it is random: HMAC-SHA-256 over a nonce of 32 bytes and the state. The nonce is dropped from
    the ledger when the entry ends. What is left, a hash of all this in the chain, is of no use even with the key.
    """
    key = _key(create=True)
    if key is None:
        return None
    nonce = secrets.token_bytes(KEY_BYTES)
    return nonce + _code(key, nonce, OF_KEY) + _code(key, nonce, OF_STATE + state)


def is_of(sealed: bytes, state: bytes) -> bool:
    """Whether a sealed state is this one; an error where the key is not the one it was sealed with."""
    key = _key(create=False)
    nonce, of_key, of_state = (sealed[first : first + KEY_BYTES] for first in range(0, 3 * KEY_BYTES, KEY_BYTES))
    if key is None or not hmac.compare_digest(of_key, _code(key, nonce, OF_KEY)):
        msg = (
            f"the key to what the ledger keeps of its points is not in {key_file()}: the entry was begun by another "
            "user, on another machine, or before that file was lost. Resume it where it was begun, or ask for a "
            "release of its own."
        )
        raise LedgerError(msg)
    return hmac.compare_digest(of_state, _code(key, nonce, OF_STATE + state))


def _code(key: bytes, nonce: bytes, content: bytes) -> bytes:
    return hmac.digest(key, nonce + content, "sha256")


def _key(*, create: bool) -> bytes | None:
    try:
        path = key_file()
        if create and not path.exists():
            _make(path)
        key = path.read_bytes()
    except (OSError, RuntimeError):  # a disk without room for it, a user without a home
        return None
    return key if len(key) == KEY_BYTES else None


def _make(path: Path) -> None:
    """Make the file, whole and readable by its owner alone, unless another process was quicker."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent) as draft:
        draft.write(secrets.token_bytes(KEY_BYTES))
        draft.flush()
        os.fsync(draft.fileno())
        with suppress(FileExistsError):
            os.link(draft.name, path)
