"""A recipe: the options of a command in a TOML file."""

import tomllib
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from hushgrid.errors import ArgumentError, InputError, quoted
from hushgrid.files.paths import MISSING, irregularity, near_file

LARGEST = 2**18  # bytes
PERIOD = "{period}"  # stands for the period in a text


class WithRecipe(click.Command):
    """A command whose options may be in a file, ``--config``.

    What is typed wins over what is in the file.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the file before the other options.

        The period that it needs may be typed after its name.
        """
        if not ctx.resilient_parsing:
            typed = self.make_parser(ctx).parse_args(list(args))[0]
            if isinstance(typed.get("config"), str):
                period = typed.get("period")
                recipe = read_recipe(Path(typed["config"]), self, period if isinstance(period, str) else None)
                ctx.default_map = {**(ctx.default_map or {}), **recipe}
        return super().parse_args(ctx, args)


def read_recipe(path: Path, command: click.Command, period: str | None) -> dict[str, Any]:
    """The options in a file, by the names of their parameters.

    Values are as they would be typed, so that they are checked in one place.

    Parameters
    ----------
    path : Path
        A TOML file, with the long names of options as its keys.
    command : Command
        Whose options they are.
    period : str, optional
        What stands for ``{period}`` in texts; else the file's own key ``period`` does.
    """
    values, options = _read(path), _options(command)
    own = values.get("period")
    chosen = str(own) if period is None and isinstance(own, str | int | date) else period
    found: dict[str, Any] = {}
    for key, value in values.items():
        option = options.get(key)
        if option is None:
            near = get_close_matches(key, options, n=1)
            msg = f"{path} has the key {quoted(key)}, which is not an option of this command."
            raise ArgumentError(f"{msg} Did you mean {near[0]!r}?" if near else f"{msg} See 'hushgrid publish --help'.")
        name = option.name or key
        if name in found:
            msg = f"{path} gives the option {key!r} twice, by two of its names. Give it once."
            raise ArgumentError(msg)
        try:
            found[name] = _typed(option, value, chosen)
        except ArgumentError as error:
            msg = f"{path}: the key {key!r} {error.complaint}"
            raise ArgumentError(msg, instead=error.instead) from None
    return found


def _options(command: click.Command) -> dict[str, click.Parameter]:
    """Parameters of a command by their long names."""
    found = {opt.removeprefix("--"): each for each in command.params for opt in each.opts if _is_long(each, opt)}
    return {name: each for name, each in found.items() if name != "config"}


def _is_long(parameter: click.Parameter, opt: str) -> bool:
    return isinstance(parameter, click.Argument) or opt.startswith("--")


def _typed(option: click.Parameter, value: object, period: str | None) -> Any:
    """A value as it would be typed."""
    is_flag = isinstance(option, click.Option) and option.is_flag
    if isinstance(value, bool):
        if is_flag:
            return value
        if value and isinstance(option, click.Option) and isinstance(option.flag_value, int):
            return str(option.flag_value)  # an option that may stand without its value
    if is_flag or isinstance(value, bool):
        msg = f"must {'be true or false' if is_flag else 'have a value, not true or false'}."
        raise ArgumentError(msg)
    texts = [_text(each, period) for each in (value if isinstance(value, list) else [value])]
    if option.multiple:
        return texts
    if isinstance(value, list) and any("," in text for text in texts):
        msg = "has a comma in one of its texts, which would make two of it. Leave it out, or name a file of values."
        raise ArgumentError(msg)
    return ",".join(texts)


def _text(value: object, period: str | None) -> str:
    match value:
        case str() if PERIOD in value and period is None:
            msg = f"has {PERIOD} in it, and no period was given."
            raise ArgumentError(msg, instead={"period": "2026-03"})
        case str():
            return value if period is None else value.replace(PERIOD, period)
        case bool():
            pass
        case int():
            return str(value)
        case date():
            return value.isoformat()
    msg = "must be a text, a number, true or false, or a list of texts and numbers."
    raise ArgumentError(msg)


def _read(path: Path) -> Mapping[str, object]:
    """The keys and values of a TOML file.

    Numbers with decimals stay text, and so exact.
    """
    complaint = irregularity(path)
    if complaint is not None:
        near = near_file(path) if complaint == MISSING else None
        msg = f"the recipe {path} {complaint}. Give a TOML file of options."
        raise InputError(msg, instead={"config": near} if near else None)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            msg = f"{path} is too large for a file of options."
            raise InputError(msg)
        return tomllib.loads(content.decode("utf-8-sig"), parse_float=str)
    except OSError as error:
        msg = f"the recipe {path} cannot be read: {error.strerror}."
        raise InputError(msg) from None
    except UnicodeDecodeError:
        msg = f"{path} is not text in UTF-8. Save it as a plain text file in that encoding."
        raise InputError(msg) from None
    except tomllib.TOMLDecodeError as error:
        msg = (
            f"{path} is not TOML: {error}. Each line is a key, = and a value, and texts and periods stand in quotation "
        )
        msg += 'marks, as in period = "2026-03".'
        raise InputError(msg) from None
