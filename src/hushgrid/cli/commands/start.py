"""``hushgrid start``: six questions, and the command that answers them."""

import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hushgrid.cli.parameters import example
from hushgrid.cli.text import note
from hushgrid.counting.columns import COLUMN
from hushgrid.errors import ArgumentError, HushgridError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.ledger import DEFAULT_LEDGER
from hushgrid.text import WIDTH

if TYPE_CHECKING:
    from hushgrid.counting.counter import OpenedPoints
    from hushgrid.planning.plan import Plan

Answer = TypeVar("Answer")

USUAL_EPSILON, USUAL_BOUND = "1", 10

WELCOME = (
    "Six questions, then the command that publishes your points. Nothing is read but the names of the columns, and "
    "nothing is spent, before you say yes at the end. Ctrl-C stops at any time."
)


@dataclass(kw_only=True)
class Replies:
    """What was answered so far.

    Parameters
    ----------
    points : str
        The file of points.
    area : str
        Bounds of the domain, or a file of areas.
    size : int, optional
        About how many points there are.
    user : str, optional
        The column that says whose record it is.
    most : int
        Records of a user that are kept.
    epsilon : str
        The privacy budget.
    output : str
        Where the release goes.
    read_by : dict
        How points are read, where the file does not tell: columns, reference system, signs.
    area_name : str, optional
        The property that names areas.
    dataset : str, optional
        The data set of the ledger that pays.
    """

    points: str = ""
    area: str = ""
    size: int | None = None
    user: str | None = None
    most: int = USUAL_BOUND
    epsilon: str = USUAL_EPSILON
    output: str = ""
    read_by: dict[str, str] = field(default_factory=dict)
    area_name: str | None = None
    dataset: str | None = None
    domain: Domain | None = field(default=None, repr=False)

    @property
    def words(self) -> list[str]:
        """The arguments of ``hushgrid publish`` that they make.

        Examples
        --------
        >>> square = Domain.parse("0,0,1,1")
        >>> shlex.join(Replies(points="trips.csv", area="0,0,1,1", domain=square, output="trips.dp.parquet").words)
        'trips.csv --domain 0,0,1,1 --epsilon 1 -o trips.dp.parquet'
        """
        place = ["--areas", self.area] if self.domain is None else ["--domain", self.area]
        place += [] if self.area_name is None else ["--area-name", self.area_name]
        read_by = [word for name, value in self.read_by.items() for word in (f"--{name}", value)]
        dataset = [] if self.dataset is None else ["--dataset", self.dataset]
        users = [] if self.user is None else ["--user-column", self.user, "--max-per-user", str(self.most)]
        size = [] if self.kept_about is None else ["--points-about", str(self.kept_about)]
        return [self.points, *read_by, *place, "--epsilon", self.epsilon, *users, *size, *dataset, "-o", self.output]

    def plan(self) -> str:
        """What to expect of the release, as far as the answers tell."""
        if self.domain is None:
            return "Each area gets a count of its own; 'hushgrid plan --areas' tells how far off these would be."
        if self.size is None:
            return "Without a rough number of points, nobody can say how far off the counts would be."
        from hushgrid.planning.words import sentence

        return sentence(self.planned())

    def planned(self) -> "Plan":
        """The plan of a release on cells, of a known number of points."""
        from hushgrid.planning.plan import plan

        assert self.domain is not None
        bound = 1 if self.user is None else self.most
        return plan(self.domain, points_about=self.kept_about or 1, epsilon=self.epsilon, max_per_user=bound)

    @property
    def kept_about(self) -> int | None:
        """About how many records are kept."""
        if self.size is None or self.user is None:
            return self.size
        from hushgrid.planning.users import ASSUMED

        return max(1, int(float(f"{self.size * ASSUMED.kept(self.most):.2g}")))


@click.command("start", epilog=example("start"))
def start_command() -> None:
    """Ask six questions, and publish by the answers.

    For the first time: it asks in plain words, shows after each answer what to expect, and ends with the command line,
    which it runs if you say yes.
    """
    from hushgrid.planning.check import NOTHING_READ

    note(f"{textwrap.fill(WELCOME, WIDTH)}\n")
    asked = Replies()
    try:
        for question in (_points, _area, _size, _user, _epsilon, _output, _dataset):
            question(asked)
    except click.Abort:
        if sys.stdin.isatty():
            raise  # Ctrl-C, or Ctrl-D
        note(f"\nThe answers ended here. {NOTHING_READ}")
        return
    note("\nThis is the command:\n")
    click.echo(shlex.join(["hushgrid", "publish", *asked.words]))
    note()
    _run([*asked.words, "--check"])
    if click.confirm("\nRun it? It spends the budget, once and for all", default=False, err=True):
        _run(asked.words)
    else:
        note(NOTHING_READ)


def _run(words: list[str]) -> None:
    """Run ``hushgrid publish``; its errors end this command, too."""
    program = click.get_current_context().find_root().command
    program.main(["publish", *words], prog_name="hushgrid", standalone_mode=False)


def _ask(number: int, question: str, take: Callable[[str], Answer], *, default: str | None = None) -> Answer:
    """Ask a question until the answer will do, and say why it does not."""
    note(textwrap.fill(f"{number}. {question}", WIDTH, subsequent_indent="   "))
    return _answered(take, default=default)


def _answered(take: Callable[[str], Answer], *, default: str | None) -> Answer:
    """The first answer that will do."""
    while True:
        text = click.prompt("  ", default=default, show_default=bool(default), prompt_suffix=" ", err=True)
        try:
            return take(text.strip())
        except HushgridError as error:
            _say(str(error))


def _say(text: str) -> None:
    note(textwrap.fill(text, WIDTH, initial_indent="   ", subsequent_indent="   ") + "\n")


READ_BY = {"lon", "lat", "geometry", "crs", "delimiter", "decimal"}


def _points(asked: Replies) -> None:
    def take(text: str) -> str:
        path, asked.read_by = os.path.expanduser(text), {}  # noqa: PTH111  # that of Path fails for a stranger
        while True:
            try:
                _see(path, asked.read_by)
            except HushgridError as error:
                better = {name: str(value) for name, value in error.instead.items()}
                if not better or better.keys() - READ_BY or better.items() <= asked.read_by.items():
                    raise
                _say(error.complaint)
                asked.read_by |= _agreed(better)
            else:
                return path

    asked.points = _ask(1, "Which file holds your points? Parquet, GeoParquet or CSV, one record a row.", take)


def _agreed(better: Mapping[str, str]) -> dict[str, str]:
    """Ask how to read the points instead.

    The answer is yes to what is proposed, or names of columns where nothing is.
    """
    if COLUMN in better.values():
        return {name: click.prompt(f"   {name}: which column?", err=True).strip() for name in better}
    as_words = " and ".join(f"{name} {value!r}" for name, value in better.items())
    if click.confirm(f"   Take {as_words}?", default=True, err=True):
        return dict(better)
    msg = "Name another file then, or mend this one."
    raise ArgumentError(msg)


def _see(path: str, read_by: Mapping[str, str], user: str | None = None) -> None:
    """Open points by their schema, and say what was found."""
    from hushgrid.counting.columns import Dialect, schema_of
    from hushgrid.counting.opening import open_points

    columns: Any = {name: read_by.get(name) for name in ("lon", "lat", "geometry")}
    dialect = Dialect.of(delimiter=read_by.get("delimiter"), decimal=read_by.get("decimal"))
    crs = read_by.get("crs", LONGITUDE_LATITUDE)
    source: OpenedPoints = open_points(Path(path), crs=crs, user=user, dialect=dialect, **columns)
    schema = schema_of(source)
    if schema is not None:
        found = ", ".join(f"{column.meaning} {column.name!r}" for column in schema.columns)
        _say(f"{schema.form}; {found}")


def _area(asked: Replies) -> None:
    def take(text: str) -> str:
        if not text[:1].isalpha() and not Path(text).exists():
            asked.domain = Domain.parse(text)
            return text
        if not Path(text).exists():
            msg = f"{text} is neither four numbers W,S,E,N nor a file that is here."
            raise ArgumentError(msg)
        asked.domain = asked.area_name = None
        try:
            _read_areas(text, None)
        except HushgridError as error:
            if "area_name" not in error.instead:
                raise
            _say(error.complaint)
            asked.area_name = click.prompt("   Which of them?", err=True).strip()
            _read_areas(text, asked.area_name)
        return text

    question = (
        "Which area should the map cover? West, south, east, north in degrees, such as -74.26,40.48,-73.70,40.92, or a "
        "GeoJSON file of districts. Take it from a map, never from the points themselves."
    )
    asked.area = _ask(2, question, take)
    _say("A map of your own districts." if asked.domain is None else "A map that may be asked about any place.")


def _read_areas(file: str, name: str | None) -> None:
    """Read areas as publishing would, to hear what is wrong with them now."""
    from hushgrid.cli.arguments import AreasAsked, read_areas

    read_areas(Path(file), AreasAsked(file=Path(file), name=name, levels=(), shares=None))


def _size(asked: Replies) -> None:
    from hushgrid.planning.plan import MOST_POINTS

    def take(text: str) -> int | None:
        digits = text.replace(",", "").replace(" ", "").replace("_", "")
        if not digits:
            return None
        is_number = digits.isdecimal() and len(digits) <= len(str(MOST_POINTS))
        if not is_number or not 1 <= int(digits) <= MOST_POINTS:
            msg = f"give a whole number such as 100000, or nothing; got {text!r}."
            raise ArgumentError(msg)
        return int(digits)

    question = "About how many records are there, as anyone may know? Do not count them. Enter for no idea."
    asked.size = _ask(3, question, take, default="")
    _say(asked.plan())


def _user(asked: Replies) -> None:
    def take(text: str) -> str | None:
        if not text:
            return None
        _see(asked.points, asked.read_by, user=text)
        return text

    question = (
        "Can one person have several records? Then name the column that says whose each record is: every person is "
        "protected with all their records. Enter if each record is a person of its own."
    )
    asked.user = _ask(4, question, take, default="")
    if asked.user is not None:
        asked.most = _bound(asked)
    _say(asked.plan())


def _bound(asked: Replies) -> int:
    from hushgrid.planning.users import ASSUMED

    usual = USUAL_BOUND
    if asked.size is not None and asked.domain is not None:
        usual = asked.planned().bounds.best.max_per_user
    note(
        textwrap.fill(
            "   How many records of one person should be kept at most? A larger number keeps more of the data and "
            f"takes more noise; {usual} weighs both, if nine in ten people have at most {ASSUMED.many:g} records.",
            WIDTH,
            subsequent_indent="   ",
        )
    )
    return int(click.prompt("  ", default=usual, type=click.IntRange(1, 10**6), prompt_suffix=" ", err=True))


def _epsilon(asked: Replies) -> None:
    def take(text: str) -> str:
        from hushgrid.privacy.exact import exact_epsilon

        exact_epsilon(text)
        return text

    question = (
        "How much may the release tell about any one person? Epsilon: .1 is very private, 1 is usual, 10 is little "
        "protection."
    )
    asked.epsilon = _ask(5, question, take, default=USUAL_EPSILON)
    _say(asked.plan())


def _output(asked: Replies) -> None:
    def take(text: str) -> str:
        from hushgrid.cli.files import check_release_output

        check_release_output(Path(text), overwrite=False)
        return text

    usual = f"{Path(asked.points).name.split('.')[0]}.dp.parquet"
    asked.output = _ask(6, "Where should the release be written?", take, default=usual)


NOBODY = "none"


def _dataset(asked: Replies) -> None:
    """Ask whose budget pays, where a ledger is here."""
    from hushgrid.ledger.ledger import open_ledger

    place = os.environ.get("HUSHGRID_LEDGER") or DEFAULT_LEDGER
    if "://" not in place and not Path(place).exists():
        return
    unit = "record" if asked.user is None else "user"
    with open_ledger(place) as ledger:
        book = ledger.book()
    fitting = [name for name, account in book.accounts.items() if account.unit == unit and account.per is None]

    def take(text: str) -> str | None:
        if text == NOBODY:
            return None
        account = book.account(text, place=place)
        if account.unit != unit:
            msg = f"the budget of {text!r} protects each {account.unit}, but the release would protect each {unit}."
            raise ArgumentError(msg)
        return text

    known = ", ".join(map(repr, book.accounts)) or "no data set yet"
    question = f"   A ledger keeps account here, {place}: of {known}. Which of them pays? Say {NOBODY} for no account."
    note(textwrap.fill(question, WIDTH, subsequent_indent="   "))
    asked.dataset = _answered(take, default=fitting[0] if len(fitting) == 1 else None)
