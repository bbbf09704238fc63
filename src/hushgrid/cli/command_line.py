"""A command line as it was typed, and the same with other values in it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import click

from hushgrid.cli.input_file import STANDARD_INPUT
from hushgrid.cli.parameters import exact_text
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain

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
        for name, value in {**self._kept_systems(instead), **instead}.items():
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

    def _kept_systems(self, instead: Mapping[str, object]) -> dict[str, object]:
        """The system of the domain, which --crs names too unless --grid-crs does."""
        grid_crs = self.parameter("grid_crs")
        if "crs" not in instead or grid_crs is None or self.value(grid_crs) is not None:
            return {}
        crs = self.parameter("crs")
        return {"grid_crs": (self.value(crs) if crs else None) or LONGITUDE_LATITUDE}


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
