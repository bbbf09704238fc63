"""From a mistake to a command that works."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Self

import click

from hushgrid.cli.arguments import H3
from hushgrid.cli.parameters import whole_number
from hushgrid.errors import HushgridError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain, exact_text, number_of

OPTIONS = {  # where names in Python differ
    "user": "--user-column",
    "start": "--from",
    "end": "--to",
    "format": "--time-format",
    "unit": "--time-unit",
}
ARGUMENTS = {"path": "file"}
SECRET = ("://", "--spark-conf")  # a password may be in it
BOUNDS = ("--domain", "--rect")
POLYGONS = (".geojson", ".json", ".gpkg", ".shp")
NUMBER = re.compile(r"[+-]?\d*\.?\d+,?")


@dataclass(frozen=True)
class Typed:
    """A command, its names and its arguments.

    Examples
    --------
    >>> from hushgrid.cli import main
    >>> typed = Typed.of(main, ["query", "trips.dp.parquet", "--confidence=95", "--rect", "0,0,1,1"])
    >>> typed.replacing({"confidence": 0.95}).words
    ['query', 'trips.dp.parquet', '--confidence', '0.95', '--rect', '0,0,1,1']
    """

    command: click.Command
    names: tuple[str, ...]
    arguments: tuple[str, ...]

    @classmethod
    def of(cls, program: click.Command, words: Sequence[str]) -> Self:
        """What was typed after the name of the program."""
        command, place = program, 0
        while isinstance(command, click.Group) and place < len(words) and words[place] in command.commands:
            command, place = command.commands[words[place]], place + 1
        return cls(command, tuple(words[:place]), tuple(words[place:]))

    @property
    def words(self) -> list[str]:
        """All that was typed."""
        return [*self.names, *self.arguments]

    def given(self, parameter: click.Parameter) -> str | None:
        """The text that click reads for a parameter."""
        parser = self.command.make_parser(click.Context(self.command, ignore_unknown_options=True))
        try:
            values: dict[str, Any] = parser.parse_args(list(self.arguments))[0]
        except click.UsageError:
            return None
        value = values.get(parameter.name or "")
        value = value[0] if isinstance(value, list) else value
        return value if isinstance(value, str) else None

    def parameter(self, name: str) -> click.Parameter | None:
        """The option or argument of a Python name."""
        wanted = (OPTIONS.get(name, f"--{name.replace('_', '-')}"), ARGUMENTS.get(name, name))
        return next((each for each in self.command.params if not set(wanted).isdisjoint(each.opts)), None)

    def replacing(self, instead: Mapping[str, object]) -> "Typed | None":
        """The same with other values, if it takes them."""
        typed = self
        for name, value in self._with_crs(instead).items():
            parameter = self.parameter(name)
            if parameter is None or parameter.nargs != 1:
                return None
            typed = typed.with_value(parameter, exact_text(value.bounds) if isinstance(value, Domain) else str(value))
        return typed

    def _with_crs(self, instead: Mapping[str, object]) -> dict[str, object]:
        """The same values, with the system of a domain if it changes."""
        option = self.parameter("domain_crs")
        typed = (None if option is None else self.given(option)) or LONGITUDE_LATITUDE
        domain = instead.get("domain")
        if isinstance(domain, Domain) and domain.crs != typed:
            return {**instead, "domain_crs": domain.crs}
        return dict(instead)

    def with_value(self, parameter: click.Parameter, value: str) -> "Typed":
        """The same with another value for one parameter.

        It stands where the old one stood, or at the end.
        """
        words = list(self.arguments)
        if isinstance(parameter, click.Option):
            for place, word in enumerate(words):
                name, sign, _ = word.partition("=")
                if name in parameter.opts:
                    return replace(self, arguments=(*words[:place], name, value, *words[place + (1 if sign else 2) :]))
            return replace(self, arguments=(*words, parameter.opts[-1], value))
        old = self.given(parameter)
        place = words.index(old) if old in words else len(words)
        return replace(self, arguments=(*words[:place], value, *words[place + 1 :]))


def holds_secret(words: Sequence[str]) -> bool:
    """Whether a password may be in the words."""
    return any(secret in word for word in words for secret in SECRET)


def way_out(error: Exception, program: click.Command, words: Sequence[str]) -> list[str] | None:
    """The words put right, where that is clear."""
    typed = Typed.of(program, words)
    better: Typed | None = None
    match error:
        case HushgridError(instead=instead) if instead:
            better = typed.replacing(instead)
        case click.NoSuchOption(option_name=name, possibilities=[*possible]):
            return _renamed(words, name, possible)
        case click.NoSuchCommand(command_name=name, possibilities=[*possible]):
            return _renamed(words, name, possible)
        case click.MissingParameter():
            better = _with_missing(typed, str(error.param_hint).strip("'"), error.param)
        case click.BadParameter(param=click.Parameter() as parameter):
            given = typed.given(parameter) or ""
            allowed = _allowed(parameter, given)
            better = None if allowed in (None, given) else typed.with_value(parameter, allowed)
        case click.UsageError() if "unexpected extra argument" in error.message:
            better = _with_polygons(typed)
    return None if better is None else better.words


def scattered_bounds(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """What to say of bounds typed with blanks, and the remedy.

    Examples
    --------
    >>> scattered_bounds(["plan", "--domain", "-74.26", "40.48", "-73.70", "40.92", "--epsilon", "1"])[1]
    ['plan', '--domain', '-74.26,40.48,-73.70,40.92', '--epsilon', '1']
    """
    for place, option in enumerate(words):
        bounds = words[place + 1 : place + 5]
        if option in BOUNDS and len(bounds) == 4 and all(map(NUMBER.fullmatch, bounds)):
            text = ",".join(bound.rstrip(",") for bound in bounds)
            said = f"{option} takes four numbers W,S,E,N with commas and no blanks between them, got "
            said += f"{' '.join(bounds)}."
            return said, [*words[: place + 1], text, *words[place + 5 :]]
    return None


def _renamed(words: Sequence[str], name: str, possible: Sequence[str]) -> list[str] | None:
    """The words with the name that was likely meant."""
    likely = [longer for longer in possible if longer.startswith(name)] or possible
    if len(likely) != 1:
        return None
    return [likely[0] + word.removeprefix(name) if word.partition("=")[0] == name else word for word in words]


def _with_missing(typed: Typed, hint: str, missing: click.Parameter | None) -> Typed:
    """Add what is required and missing, the domain included.

    A recipe may have given the other options that are required. Areas have a domain of their own, but H3 cells do not.
    """
    config, areas = typed.parameter("config"), typed.parameter("areas")
    alone = config is not None and typed.given(config) is not None
    around_areas = areas is not None and not (typed.given(areas) or H3).startswith(H3)
    for parameter in typed.command.params:
        required = parameter.required or ("--domain" in parameter.opts and not around_areas)
        wanted = hint in parameter.opts or parameter is missing or (required and not alone)
        if wanted and typed.given(parameter) is None:
            blank = parameter.make_metavar(click.Context(typed.command)).partition("|")[0]  # HTML of HTML|-
            if isinstance(parameter.type, click.Choice):
                blank = "|".join(parameter.type.choices)
            typed = typed.with_value(parameter, blank)
    return typed


def _with_polygons(typed: Typed) -> Typed | None:
    """A file of polygons behind the option that takes one, where it stands as an argument."""
    option, files = typed.parameter("polygons"), [word for word in typed.arguments if word.endswith(POLYGONS)]
    if option is None or len(files) != 1 or typed.given(option) is not None:
        return None
    rest = tuple(word for word in typed.arguments if word not in files)
    return replace(typed, arguments=rest).with_value(option, files[0])


def _allowed(parameter: click.Parameter, given: str) -> str | None:
    """The allowed value nearest to the one given."""
    if isinstance(parameter.type, click.Choice):
        choices = list(parameter.type.choices)
        begun = [choice for choice in choices if given and choice.startswith(given.lower())]
        return next(iter([*begun, *get_close_matches(given.lower(), choices, n=1)]), None)
    if isinstance(parameter.type, click.types.IntParamType):
        return whole_number(given)
    if isinstance(parameter.type, click.types.FloatParamType):
        text, per_cent, _ = given.replace(",", ".").partition("%")
        number = number_of(text) / (100 if per_cent else 1)
        return f"{number:g}" if math.isfinite(number) else None
    return None
