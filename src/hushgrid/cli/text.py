"""What commands print: notes, warnings and JSON."""

import json

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
