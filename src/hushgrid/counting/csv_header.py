"""The header line of a CSV file: its schema, and the only line that is ever looked at as such."""

import csv
from dataclasses import dataclass
from typing import IO

from hushgrid.counting.columns import find_columns, quotable_names
from hushgrid.counting.users import check_user_name
from hushgrid.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DELIMITERS = ",;\t|"
LONGEST_HEADER = 2**16  # bytes

FIRST_LINE = (
    "The first line of the file must name the columns, separated by a comma, semicolon, tab or |; a file without such "
    "a line needs one, as in lon,lat,time. The line is not shown here, because it may be a record."
)


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
        A file without a header begins with a record. So a message quotes of the first line only what was asked for and
        the usual names, and says the same whatever else is in it.
        """
        names = quotable_names(self.names, (lon, lat, user))
        longitude, latitude = find_columns(names, lon=lon, lat=lat, where=where, unlisted=FIRST_LINE)
        if user is not None:
            check_user_name(user, names, coordinates=(longitude, latitude), where=where, unlisted=FIRST_LINE)
        east, north = self.names.index(longitude), self.names.index(latitude)
        return (east, north) if user is None else (east, north, self.names.index(user))


def _fields(text: str, delimiter: str) -> list[str]:
    return [field.strip() for field in next(csv.reader([text], delimiter=delimiter))]
