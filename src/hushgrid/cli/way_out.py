"""From a mistake on the command line to a command that would work."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Self

import click

from hushgrid.cli.files import STANDARD_INPUT
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import Domain, exact_text

# What Python calls otherwise than the command line.
OPTIONS = {"user": "--user-column"}
ARGUMENTS = {"path": "file"}
SECRET = ("://", "--spark-conf")  # a password may be in it


@dataclass(frozen=True)
class Part:
    """One option with its value, or one argument; `parameter` is None where the command knows no such thing."""

    parameter: click.Parameter | None
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class CommandLine:
    """The names of the command, and what follows them.

    Examples
    --------
    >>> from hushgrid.cli import main
    >>> typed = CommandLine.of(main, ["query", "trips.dp.parquet", "--confidence=95", "--rect", "0,0,1,1"])
    >>> print(typed.replacing({"confidence": 0.95}))
    hushgrid query trips.dp.parquet --confidence 0.95 --rect 0,0,1,1
    """

    command: click.Command
    names: tuple[str, ...]
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, program: click.Command, arguments: Sequence[str]) -> Self:
        """The parts of a command line that begins after the name of the program."""
        command, names, rest = program, [], list(arguments)
        while isinstance(command, click.Group) and rest and rest[0] in command.commands:
            names.append(rest.pop(0))
            command = command.commands[names[-1]]
        return cls(command, tuple(names), tuple(_parts(command, rest)))

    def __str__(self) -> str:
        return shlex.join(["hushgrid", *self.names, *(token for part in self.parts for token in part.tokens)])

    @property
    def holds_secrets(self) -> bool:
        """Whether it should not be repeated where others may read it."""
        return any(secret in token for part in self.parts for token in part.tokens for secret in SECRET)

    def value(self, parameter: click.Parameter) -> str | None:
        """The text that was given for an option, the first if there are several."""
        for part in self.parts:
            if part.parameter is parameter:
                return part.tokens[-1].partition("=")[2] if len(part.tokens) == 1 else part.tokens[-1]
        return None

    def parameter(self, name: str) -> click.Parameter | None:
        """The option or argument that Python calls by a name."""
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        argument = ARGUMENTS.get(name, name)
        for parameter in self.command.params:
            if option in parameter.opts or (isinstance(parameter, click.Argument) and parameter.name == argument):
                return parameter
        return None

    def replacing(self, instead: Mapping[str, object]) -> "CommandLine | None":
        """The command line with other values, in the places of those they replace; None if it cannot take them."""
        line: CommandLine | None = self
        for name, value in instead.items():
            parameter = self.parameter(name)
            if line is None or parameter is None or parameter.nargs != 1:
                return None
            line = line.with_value(parameter, value)
        return line

    def with_value(self, parameter: click.Parameter, value: object) -> "CommandLine":
        """The command line with one value for an option or an argument."""
        places = [place for place, part in enumerate(self.parts) if part.parameter is parameter]
        option: tuple[str, ...] = ()
        if isinstance(parameter, click.Option):
            option = (self.parts[places[0]].tokens[0].partition("=")[0] if places else parameter.opts[-1],)
        parts = [part for part in self.parts if part.parameter is not parameter]
        parts.insert(places[0] if places else len(parts), Part(parameter, (*option, _text(value))))
        return CommandLine(self.command, self.names, tuple(parts))

    def with_token(self, old: str, new: str) -> "CommandLine":
        """The command line with one token for another, also before an equals sign."""

        def renamed(token: str) -> str:
            name, sign, value = token.partition("=")
            return f"{new}{sign}{value}" if name == old else token

        parts = (Part(part.parameter, tuple(map(renamed, part.tokens))) for part in self.parts)
        return CommandLine(self.command, self.names, tuple(parts))


def _parts(command: click.Command, tokens: list[str]) -> Iterable[Part]:
    options = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    rest = list(tokens)
    while rest:
        token = rest.pop(0)
        name, sign, _ = token.partition("=")
        option = options.get(name) if token.startswith("-") else None
        if isinstance(option, click.Option):
            takes_next = bool(rest) and not (option.is_flag or option.count or sign or rest[0] in options)
            yield Part(option, (token, rest.pop(0)) if takes_next else (token,))
        else:
            is_argument = not token.startswith("-") or token == STANDARD_INPUT
            yield Part(arguments.pop(0) if is_argument and arguments else None, (token,))


def _text(value: object) -> str:
    if isinstance(value, Domain):
        return exact_text(value.bounds)
    return str(value)


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
