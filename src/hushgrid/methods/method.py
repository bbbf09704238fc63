"""What a method is: parameters, and one verb."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import CELL_LIMIT, GUIDELINE_CELL_LIMIT, Grid
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.claim import MethodRecord
from hushgrid.synopsis.synopsis import Synopsis


class Method(Protocol):
    """A way to publish points.

    A frozen dataclass whose fields are its parameters. No base class is asked for.
    """

    name: ClassVar[str]

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish what the counter counts, under the budget."""


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Parameters to try a method with, by name.

    Parameters
    ----------
    small : mapping
        Those of a release of few cells, which an audit makes thousands of times.
    large : mapping
        Those of a release that takes thousands of draws.
    """

    small: Mapping[str, Any]
    large: Mapping[str, Any]


class ListedMethod(Method, Protocol):
    """A method that `METHODS` lists."""

    title: ClassVar[str]  # what figures call it
    gist: ClassVar[str]  # what it does, in a line that a steward understands
    examples: ClassVar[Examples]


PublicPartition = Grid | AreaPartition


@runtime_checkable
class OnPublicCells(Protocol):
    """A method whose cells may be public."""

    def public_partition(self, domain: Domain) -> PublicPartition | None:
        """The cells it measures one by one, if public.

        They are public if its parameters and the domain alone decide them. Distinct users are counted on them: which
        cells a user counts in is decided before the first count. So it must count on no others, finer or coarser.
        """


def public_partition(method: Method, domain: Domain) -> PublicPartition | None:
    """The public cells of a method, if any."""
    return method.public_partition(domain) if isinstance(method, OnPublicCells) else None


def record(method: Method, *notes: str) -> MethodRecord:
    """The method as a release states it.

    Parameters that are too long to be shown are left out.
    """
    shown = [parameter.name for parameter in fields(method) if parameter.repr]  # type: ignore[arg-type]  # a dataclass
    plain = (bool, int, float, str, type(None))
    values = {name: getattr(method, name) for name in shown}
    parameters = {name: value if isinstance(value, plain) else str(value) for name, value in values.items()}
    return MethodRecord(name=method.name, asked=method.name, parameters=parameters, notes=notes)


def most_cells(method: type[Method] | Method | None) -> int:
    """Most cells of a method's partition, if no request limits it.

    That is if it is sized from released values; a size that is given is another matter.
    """
    limit: int = getattr(method, "most_cells", GUIDELINE_CELL_LIMIT)
    return limit


def check_side(value: int | None, *, name: str) -> None:
    """Refuse a side that is not a whole number that fits.

    None stands for the guideline.
    """
    if value is None:
        return
    if not is_whole(value) or value < 1:
        msg = f"{name} must be a whole number of at least 1, got {name}={value!r}."
        raise ArgumentError(msg)
    if value**2 > CELL_LIMIT:
        msg = f"Grid of {value} by {value} cells is over the limit of {CELL_LIMIT:,}. Pass a smaller {name}."
        raise ArgumentError(msg)


def check_whole(value: int, *, name: str, low: int, high: int) -> None:
    """Refuse all but whole numbers from `low` to `high`."""
    if not is_whole(value) or not low <= value <= high:
        msg = f"{name} must be a whole number from {low} to {high:,}, got {name}={value!r}."
        raise ArgumentError(msg)


def is_whole(value: object) -> bool:
    """Whether a value is an int, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_positive(value: float, *, name: str) -> None:
    """Refuse all but finite numbers above zero."""
    if not 0 < value < float("inf"):
        msg = f"{name} must be a finite number > 0, got {name}={value!r}."
        raise ArgumentError(msg)
