"""From a mistake on the command line to a command that would work."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

import click

from hushgrid.cli.command_line import CommandLine
from hushgrid.errors import HushgridError

BOUNDS = ("--domain", "--rect")
NUMBER = re.compile(r"[+-]?\d*\.?\d+,?")


def way_out(error: Exception, typed: CommandLine) -> CommandLine | None:
    """The command line with what the error complains of put right, where that is clear."""
    match error:
        case HushgridError(instead=instead) if instead:
            return typed.replacing(instead)
        case click.NoSuchOption(option_name=name, possibilities=[*possible]):
            return _renamed(typed, name, possible)
        case click.NoSuchCommand(command_name=name, possibilities=[*possible]):
            return _renamed(typed, name, possible)
        case click.MissingParameter():
            return _with_missing(typed, str(error.param_hint).strip("'"))
        case click.BadParameter(param=click.Parameter() as parameter):
            allowed = _allowed(parameter, typed.value(parameter) or "")
            return None if allowed is None else typed.with_value(parameter, allowed)
        case _:
            return None


def scattered_bounds(arguments: Sequence[str]) -> tuple[str, list[str]] | None:
    """What was said of bounds that were typed with blanks between them, and the arguments with commas.

    Examples
    --------
    >>> scattered_bounds(["plan", "--domain", "-74.26", "40.48", "-73.70", "40.92", "--epsilon", "1"])[1]
    ['plan', '--domain', '-74.26,40.48,-73.70,40.92', '--epsilon', '1']
    """
    for place, option in enumerate(arguments):
        bounds = arguments[place + 1 : place + 5]
        if option in BOUNDS and len(bounds) == 4 and all(map(NUMBER.fullmatch, bounds)):
            text = ",".join(bound.rstrip(",") for bound in bounds)
            said = (
                f"{option} takes four numbers W,S,E,N with commas and no blanks between them, got {' '.join(bounds)}."
            )
            return said, [*arguments[: place + 1], text, *arguments[place + 5 :]]
    return None


def _renamed(typed: CommandLine, name: str, possible: Sequence[str]) -> CommandLine | None:
    """The command line with a name that was likely meant, where there is one such."""
    likely = [longer for longer in possible if longer.startswith(name)] or possible
    return typed.with_token(name, likely[0]) if len(likely) == 1 else None


def _with_missing(typed: CommandLine, hint: str) -> CommandLine:
    """The command line with all that is required and was not given, as the help text calls it."""
    for parameter in typed.command.params:
        needed = parameter.required or hint in parameter.opts
        if needed and all(part.parameter is not parameter for part in typed.parts):
            typed = typed.with_value(parameter, parameter.make_metavar(click.Context(typed.command)))
    return typed


def _allowed(parameter: click.Parameter, given: str) -> str | None:
    """The value of the right kind that is nearest to the one given."""
    if isinstance(parameter.type, click.Choice):
        near = get_close_matches(given.lower(), parameter.type.choices, n=1)
        return near[0] if near else None
    if isinstance(parameter.type, click.types.IntParamType):
        try:
            number = float(given.replace(",", "").replace(" ", ""))
        except ValueError:
            return None
        return f"{number:.0f}" if number.is_integer() else None
    return None
