"""Blocks of whole lines out of a stream of bytes, in bounded memory however long a line is."""

from collections.abc import Iterator
from typing import IO

NEWLINE = b"\n"
LONGEST_LINE = 2**20  # bytes; a longer line is dropped


def line_start(stream: IO[bytes], offset: int, until: int | None = None) -> int:
    """Where the first line begins that begins at `offset` or later; the end of the stream if there is none.

    Past `until` nobody looks any farther: the place is then in the middle of a line, at `until` or after it.
    """
    stream.seek(offset - 1)
    while (piece := stream.readline(LONGEST_LINE)) and not piece.endswith(NEWLINE):
        if until is not None and stream.tell() >= until:
            break
    return stream.tell()


def whole_lines(stream: IO[bytes], size: int | None, block_bytes: int) -> Iterator[bytes]:
    r"""The next `size` bytes of a stream, or all of it, cut at newlines into blocks of about `block_bytes`.

    Lines longer than `LONGEST_LINE` may be left out; shorter ones never are.

    Examples
    --------
    >>> import io
    >>> list(whole_lines(io.BytesIO(b"one\ntwo\nthree\nfour"), None, 9))
    [b'one\ntwo\n', b'three\n', b'four']
    """
    rest, too_long = b"", False
    for piece in _pieces(stream, size, block_bytes):
        lines, newline, tail = piece.rpartition(NEWLINE)
        if newline:
            text = rest + lines + newline
            yield text.partition(NEWLINE)[2] if too_long else text
            rest, too_long = tail, False
        else:
            rest += tail
        if len(rest) > LONGEST_LINE:
            rest, too_long = b"", True
    if not too_long:
        yield rest


def _pieces(stream: IO[bytes], size: int | None, block_bytes: int) -> Iterator[bytes]:
    while piece := stream.read(block_bytes if size is None else min(block_bytes, size)):
        yield piece
        size = None if size is None else size - len(piece)
