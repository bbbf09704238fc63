"""What is asked for when users are protected, and not single records: public arguments, checked before any reading."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.bounded import MissingUser
from hushgrid.counting.bounding import KeyedRule
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import Patchwork
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid

PRIVATE: Literal["private"] = "private"
CAP_PER_RECORD = (
    10  # of the records a user keeps, how many times as many a private total counts; K is public, so is this
)


@dataclass(frozen=True, kw_only=True)
class UserLevel:
    """How the records of each user are bounded, and what counts are scaled to.

    Parameters
    ----------
    max_per_user : int
        K: the records of one user that are kept at most.
    missing_user : "drop" or "own"
        Whether rows without an id are left out, or each is a user of its own.
    scale_to_total : int, "private" or None
        A total that counts are scaled to: declared public, or counted from the data and paid for.
    max_for_total : int
        B: the records of one user that a private total counts at most.
    """

    max_per_user: int
    missing_user: MissingUser = "drop"
    scale_to_total: int | Literal["private"] | None = None
    max_for_total: int

    @classmethod
    def of(
        cls,
        user: Any,
        *,
        max_per_user: int | None,
        missing_user: MissingUser,
        scale_to_total: int | Literal["private"] | None,
        max_for_total: int | None,
    ) -> Self | None:
        """The arguments of `publish` about users, or None where none are named.

        Examples
        --------
        >>> UserLevel.of("id", max_per_user=5, missing_user="drop", scale_to_total=None, max_for_total=None)
        UserLevel(max_per_user=5, missing_user='drop', scale_to_total=None, max_for_total=50)
        """
        if user is None:
            _refuse_without_user(
                max_per_user=max_per_user,
                missing_user=None if missing_user == "drop" else missing_user,
                scale_to_total=scale_to_total,
                max_for_total=max_for_total,
            )
            return None
        if max_per_user is None:
            msg = "user needs max_per_user: how many records of one user are kept at most. Choose it from public "
            msg += "knowledge, such as 10; a larger number keeps more records and adds more noise."
            raise ArgumentError(msg, instead={"max_per_user": 10})
        _check_at_least_one(max_per_user=max_per_user)
        if missing_user not in get_args(MissingUser):
            msg = f"missing_user must be 'drop' or 'own', got missing_user={missing_user!r}."
            raise ArgumentError(msg)
        if scale_to_total is not None and scale_to_total != PRIVATE:
            _check_at_least_one(scale_to_total=scale_to_total)
        if max_for_total is not None:
            if scale_to_total != PRIVATE:
                msg = "max_for_total bounds what one user adds to a private total. Ask for one: "
                msg += "scale_to_total='private'."
                raise ArgumentError(msg)
            _check_at_least_one(max_for_total=max_for_total)
        cap = CAP_PER_RECORD * max_per_user if max_for_total is None else max_for_total
        return cls(
            max_per_user=max_per_user, missing_user=missing_user, scale_to_total=scale_to_total, max_for_total=cap
        )

    def rule(
        self, domain: Domain, *, key: bytes, cells: Grid | Patchwork | None = None, distinct: bool = False
    ) -> KeyedRule:
        """The rule that chooses records, or with `distinct` the cells of a public partition that they lie in."""
        rule = KeyedRule(
            key=key,
            domain=domain,
            most=self.max_per_user,
            most_for_total=self.max_for_total,
        )
        if isinstance(cells, Patchwork):
            return replace(rule, areas=AreaIndex.of(cells), distinct_areas=distinct)
        return replace(rule, distinct_grid=cells) if distinct else rule


def _refuse_without_user(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            msg = f"{name} is about users, got {name}={value!r} without user. Name the column of user ids."
            raise ArgumentError(msg, instead={"user": "COLUMN"})


def _check_at_least_one(**given: object) -> None:
    for name, value in given.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < 2**53:
            or_private = " or 'private'" if name == "scale_to_total" else ""
            msg = f"{name} must be a whole number of at least 1{or_private}, got {name}={value!r}."
            raise ArgumentError(msg)
