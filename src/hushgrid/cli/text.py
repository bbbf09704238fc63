"""What commands print: notes, warnings, JSON and CSV."""

import csv
import json
from collections.abc import Iterable

import click


def note(text: str = "") -> None:
    """Print a note on stderr."""
    click.echo(text, err=True)


def warn(text: str) -> None:
    """Print a warning on stderr."""
    note(f"hushgrid: warning: {text}")


def as_json(value: object) -> str:
    """A value as JSON that every parser accepts."""
    return json.dumps(value, indent=2, allow_nan=False)


class _Lines:
    """A file for `csv.writer` that hands each line back."""

    def write(self, line: str) -> str:
        """The line itself."""
        return line


_WRITER = csv.writer(_Lines(), lineterminator="\n")


def csv_line(fields: Iterable[object]) -> str:
    r"""Write one line of CSV.

    Examples
    --------
    >>> csv_line(["Kent, Ohio", 12.5])
    '"Kent, Ohio",12.5\n'
    """
    line: str = _WRITER.writerow(fields)
    return line
