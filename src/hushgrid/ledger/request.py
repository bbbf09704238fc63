"""A request: the public arguments that identify a release."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from hushgrid.errors import ArgumentError
from hushgrid.files.strict_json import LONGEST_RATIONAL, Scalar, parse_rational
from hushgrid.geometry.domain import Domain
from hushgrid.periods import PeriodRule
from hushgrid.synopsis.claim import Unit


@dataclass(frozen=True, kw_only=True)
class Request:
    """A release as it is asked for.

    Parameters
    ----------
    dataset : str
        The name of the data set in the ledger.
    unit : "record" or "user"
        What is protected.
    epsilon : Fraction
        The budget for one unit.
    domain : Domain
        The public rectangle, with its reference system.
    method : str
        Name of the method.
    parameters : mapping
        Its parameters, and all other public settings that shape the release, such as where the size comes from.
    columns : tuple of str
        The coordinate columns.
    user_column : str, optional
        The column of user ids.
    max_per_user : int, optional
        Records kept of one user.
    public_size : int, optional
        The declared number of points.
    period : PeriodRule, optional
        The period that pays, and whose records alone are read.

    Privacy
    -------
    No byte, size or time of the data is part of a request: its key can be kept and shown.

    Examples
    --------
    >>> domain = Domain(west=0, south=0, east=1, north=1)
    >>> one = Request(dataset="trips", unit="record", epsilon=Fraction(1, 2), domain=domain, method="ag")
    >>> other = Request(dataset="trips", unit="record", epsilon=Fraction("0.5"), domain=domain, method="ag")
    >>> one.key == other.key, len(one.key)
    (True, 64)
    """

    dataset: str
    unit: Unit
    epsilon: Fraction
    domain: Domain
    method: str
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    user_column: str | None = None
    max_per_user: int | None = None
    public_size: int | None = None
    period: PeriodRule | None = None

    def __post_init__(self) -> None:
        check_amount(self.epsilon, name="epsilon")

    @property
    def text(self) -> str:
        """The whole request as canonical JSON."""
        return canonical(
            {
                **self._period,
                "dataset": self.dataset,
                "unit": self.unit,
                "epsilon": str(self.epsilon),
                # Adding zero makes the two zeros of floating point one.
                "bounds": [bound + 0.0 for bound in self.domain.bounds],
                "crs": self.domain.crs,
                "method": self.method,
                "parameters": dict(self.parameters),
                "columns": list(self.columns),
                "user_column": self.user_column,
                "max_per_user": self.max_per_user,
                "row_filter": None,  # never set, but part of every key in a ledger
                "public_size": self.public_size,
            }
        )

    @property
    def _period(self) -> dict[str, object]:
        # Left out where there is none, so that keys are those of ledgers from before there were periods.
        rule = self.period
        if rule is None:
            return {}
        return {"period": {"name": rule.period.name, "time": rule.time, "timezone": rule.timezone}}

    @property
    def key(self) -> str:
        """SHA-256 of the request.

        Two requests are the same when their keys are.
        """
        return request_key(self.text)


def whose_budget(dataset: str, period: str | None) -> str:
    """What a budget is of, in words.

    Examples
    --------
    >>> whose_budget("trips", None), whose_budget("trips", "2026-03")
    ("the data set 'trips'", "2026-03 of 'trips'")
    """
    return f"the data set {dataset!r}" if period is None else f"{period} of {dataset!r}"


def request_key(text: str) -> str:
    """Compute the key of a request from its text."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(value: Mapping[str, object]) -> str:
    r"""JSON with sorted keys, no spaces, ASCII only.

    Examples
    --------
    >>> print(canonical({"unit": "user", "dataset": "trajets à vélo"}))
    {"dataset":"trajets \u00e0 v\u00e9lo","unit":"user"}
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def check_amount(amount: Fraction, *, name: str) -> None:
    """Refuse a budget that is not positive or too long."""
    if parse_rational(str(amount)) is None:
        msg = f"{name} must be a rational above zero of at most {LONGEST_RATIONAL} characters."
        raise ArgumentError(msg)
