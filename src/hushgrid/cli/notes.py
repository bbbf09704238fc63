"""What a command says beside its result: on stderr, so that the result can be piped on."""

import click


def note(text: str = "") -> None:
    """Say something on stderr."""
    click.echo(text, err=True)


def warn(text: str) -> None:
    """Say something on stderr that the user should act on."""
    note(f"hushgrid: warning: {text}")
