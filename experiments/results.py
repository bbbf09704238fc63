"""A file of result rows: JSON lines that are only ever added to."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from experiments.trial import QUERIES, Row

LONGEST_LINE = 2**16  # bytes


class Results:
    """Rows of trials, in the order they finished.

    A run that was killed may leave a half-written last line, and some of the rows of a trial. The line is ignored, and
    cut off by the next append; a trial counts as finished once its last row is there.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> list[Row]:
        """Rows of the file; of a trial that was run again after a crash, those written last."""
        latest: dict[tuple[str, str], Row] = {}
        for line in self._whole_lines():
            row = json.loads(line)
            latest[row["key"], row["queries"]] = row
        return list(latest.values())

    def finished(self) -> set[str]:
        """Keys of the trials that need not be run again."""
        return {row["key"] for row in self.rows() if row["queries"] == QUERIES[-1]}

    def append(self, rows: Iterable[Row]) -> None:
        """Write the rows of one trial, all at once."""
        text = "".join(json.dumps(row) + "\n" for row in rows)
        with self.path.open("a+b") as file:
            near_end = max(0, file.seek(0, os.SEEK_END) - LONGEST_LINE)
            file.seek(near_end)
            file.truncate(near_end + file.read().rfind(b"\n") + 1)
            file.write(text.encode())

    def _whole_lines(self) -> list[bytes]:
        if not self.path.exists():
            return []
        return [line for line in self.path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
