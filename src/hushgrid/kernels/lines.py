"""Lines and fields of delimited text, one line at a time. Private side.

Nothing here can fail on a value, and nothing in one line changes how another is read: a quote never reaches across
the end of its line.
"""

import numpy as np
from numpy.typing import NDArray

from hushgrid.compiled import compiled

NEWLINE, RETURN, TAB, SPACE, QUOTE = (np.uint8(ord(character)) for character in '\n\r\t "')

Text = NDArray[np.uint8]


@compiled
def is_space(byte: np.uint8) -> bool:
    """Whether a byte is blank inside a line; the return of a CRLF ending is."""
    return bool((byte == SPACE) | (byte == TAB) | (byte == RETURN))


def line_stops(text: Text) -> NDArray[np.int64]:
    """Where every line ends: at its newline, or at the end of the text."""
    stops = np.flatnonzero(text == NEWLINE)
    return stops if text.size == 0 or text[-1] == NEWLINE else np.append(stops, text.size)


@compiled
def _is_row(text: Text, first: int, stop: int, longest: int) -> bool:
    """Whether a line is a row: it holds something, and is not longer than what is read at once."""
    if stop - first > longest:
        return False
    for i in range(first, stop):  # noqa: SIM110  # any() over a generator is not compiled
        if not is_space(text[i]):
            return True
    return False


@compiled
def count_rows(text: Text, stops: NDArray[np.int64], longest: int) -> int:
    """Number of lines that hold something, whether or not it can be read as a point."""
    rows, first = 0, 0
    for stop in stops:
        rows += int(_is_row(text, first, stop, longest))
        first = stop + 1
    return rows


@compiled
def _skip_to(text: Text, first: int, stop: int, wanted: np.uint8) -> int:
    while first < stop and text[first] != wanted:
        first += 1
    return first


@compiled
def _field(text: Text, first: int, stop: int, delimiter: np.uint8) -> tuple[int, int, int]:
    """First byte, last byte and end of the field that begins at `first`; quotes are left out of it."""
    if first == stop or text[first] != QUOTE:
        end = _skip_to(text, first, stop, delimiter)
        return first, end, end
    close = _skip_to(text, first + 1, stop, QUOTE)
    while close + 1 < stop and text[close + 1] == QUOTE:  # a doubled quote is part of the text
        close = _skip_to(text, close + 2, stop, QUOTE)
    if close == stop:
        return first, first, stop  # never closed: nothing that could be a number, up to the end of the line
    end = _skip_to(text, close, stop, delimiter)
    for i in range(close + 1, end):
        if not is_space(text[i]):
            return first, first, end  # text after the closing quote: nothing that could be a number
    return first + 1, close, end


@compiled
def find_fields(
    text: Text,
    stops: NDArray[np.int64],
    delimiter: int,
    fields: tuple[int, ...],
    longest: int,
    spans: NDArray[np.int64],
) -> int:
    """Write where the wanted fields of every row begin and end; an empty span where a row has no such field.

    Parameters
    ----------
    text, stops : array of uint8, array of int64, shape (lines,)
        Whole lines, and where they end.
    delimiter : int
        The byte between fields.
    fields : tuple of int
        Numbers of the wanted fields, from 0.
    longest : int
        Lines with more bytes are not rows.
    spans : array of int64, shape (fields, lines, 2)
        First and last byte, half-open, of each wanted field.

    Returns
    -------
    int
        Number of rows.
    """
    row, first, last = 0, 0, max(fields)
    for stop in stops:
        if _is_row(text, first, stop, longest):
            spans[:, row, :] = stop
            begin, number = first, 0
            while begin <= stop and number <= last:  # past the last field of a row, begin is stop + 1
                low, high, end = _field(text, begin, stop, np.uint8(delimiter))
                for k in range(len(fields)):
                    if fields[k] == number:
                        spans[k, row, 0], spans[k, row, 1] = low, high
                begin, number = end + 1, number + 1
            row += 1
        first = stop + 1
    return row
