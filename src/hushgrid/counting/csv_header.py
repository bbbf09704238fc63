"""The header line of a CSV file: its schema, and the only line that is ever looked at as such."""

import csv
import re
from dataclasses import dataclass
from typing import IO

from hushgrid.counting.columns import find_columns
from hushgrid.counting.users import check_user_name
from hushgrid.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DELIMITERS = ",;\t|"
LONGEST_HEADER = 2**16  # bytes

_LIKE_A_NUMBER = re.compile(r"[+-]?\.?\d")  # or a date


@dataclass(frozen=True, kw_only=True)
class CsvHeader:
    r"""Names of the columns, what stands between fields, and where the first row begins.

    Examples
    --------
    >>> import io
    >>> CsvHeader.read(io.BytesIO(b'id;"lon";lat\n1;2;3\n'), where="trips.csv")
    CsvHeader(names=('id', 'lon', 'lat'), delimiter=';', size=13)
    """

    names: tuple[str, ...]
    delimiter: str
    size: int

    @classmethod
    def read(cls, stream: IO[bytes], *, where: str) -> "CsvHeader":
        """Header of a stream that stands at its beginning."""
        line = stream.readline(LONGEST_HEADER + 1)
        text = line.removeprefix(BYTE_ORDER_MARK).rstrip(b"\r\n").decode("utf-8", errors="replace")
        if len(line) > LONGEST_HEADER or "\r" in text or not text.strip():
            msg = f"{where} has no header line. Its first line must name the columns and end in LF or CRLF."
            raise InputError(msg)
        delimiter = max(DELIMITERS, key=lambda character: len(_fields(text, character)))
        return cls(names=tuple(_fields(text, delimiter)), delimiter=delimiter, size=len(line))

    def find_fields(
        self, *, lon: str | None, lat: str | None, user: str | None = None, where: str
    ) -> tuple[int, int] | tuple[int, int, int]:
        """Numbers of the fields of longitude and latitude, and of the users' ids where these are asked for.

        Privacy
        -------
        A name that begins like a number is likely a value: the first line is then a record, and no message may quote
        it. Column names are not refused for that, only not listed.
        """
        try:
            longitude, latitude = find_columns(self.names, lon=lon, lat=lat, where=where)
            if user is not None:
                check_user_name(user, self.names, coordinates=(longitude, latitude), where=where)
        except InputError:
            if any(_LIKE_A_NUMBER.match(name) for name in self.names):
                msg = f"{where} seems to have no header line. Its first line must name the columns, as in lon,lat,time."
                raise InputError(msg) from None
            if len(self.names) == 1:
                msg = f"{where} has one column. Its fields must be separated by a comma, semicolon, tab or |."
                raise InputError(msg) from None
            raise
        east, north = self.names.index(longitude), self.names.index(latitude)
        return (east, north) if user is None else (east, north, self.names.index(user))


def _fields(text: str, delimiter: str) -> list[str]:
    return [field.strip() for field in next(csv.reader([text], delimiter=delimiter))]
