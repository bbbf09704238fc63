"""A file of results: JSON lines, one a trial, that are only ever added to."""

import json
import os
from pathlib import Path

from experiments.trial import Row

LONGEST_LINE = 2**16  # bytes


class Results:
    """Rows of trials, in the order they finished.

    A run that was killed may leave a half-written last line. It is ignored, and cut off by the next append.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> list[Row]:
        """Rows of all trials; of those of one name, such as before and after a method was changed, the last ones."""
        rows = (row for line in self._whole_lines() for row in unpack(line))
        return list({(row.get("name", row["key"]), row["queries"]): row for row in rows}.values())

    def finished(self) -> set[str]:
        """Keys of the trials that need not be run again."""
        return {row["key"] for row in self.rows()}

    def append(self, rows: list[Row]) -> None:
        """Write the rows of one trial, as one line."""
        with self.path.open("a+b") as file:
            near_end = max(0, file.seek(0, os.SEEK_END) - LONGEST_LINE)
            file.seek(near_end)
            file.truncate(near_end + file.read().rfind(b"\n") + 1)
            file.write(pack(rows).encode() + b"\n")

    def _whole_lines(self) -> list[str]:
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        return [line for line in lines if line.endswith("\n")]


def pack(rows: list[Row]) -> str:
    """Rows as one line of JSON: what they agree on is written once, what differs is a list.

    Examples
    --------
    >>> pack([{"key": "a", "queries": "q1", "error": 2.0}, {"key": "a", "queries": "q2", "error": 3.0}])
    '{"key":"a","queries":["q1","q2"],"error":[2.0,3.0]}'
    """
    first, *others = rows
    packed = {
        name: value if all(row[name] == value for row in others) else [row[name] for row in rows]
        for name, value in first.items()
    }
    return json.dumps(packed, separators=(",", ":"))


def unpack(line: str) -> list[Row]:
    """Rows of a line.

    Examples
    --------
    >>> unpack('{"key":"a","queries":["q1","q2"],"error":2.0}')
    [{'key': 'a', 'queries': 'q1', 'error': 2.0}, {'key': 'a', 'queries': 'q2', 'error': 2.0}]
    """
    packed = json.loads(line)
    number = max((len(value) for value in packed.values() if isinstance(value, list)), default=1)
    columns = {name: value if isinstance(value, list) else [value] * number for name, value in packed.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
