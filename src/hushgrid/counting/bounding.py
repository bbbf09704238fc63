"""Chooses which records of each user are kept.

`KeyedRule` depends on a key and on each user's own records alone; `UserLevel` holds the arguments it is made from.

The priority of a record is SHA-256 of a text that any engine can write, ``key:column:row:occurrence:id``:

- the key, 32 bytes drawn once a release, in lower-case hexadecimal;
- column and row of the point on a lattice of the domain, decimal, by the one expression of `hushgrid.geometry.cells`;
  where areas are counted and not records, the number of its area, and 0;
- the running number, from 0, among the user's records in that cell of the lattice, in the order of longitude, then
  latitude: records it cannot tell apart are identical, and any of them is as good as another;
- the user's id (`hushgrid.counting.users`), last, so that no id can look like another part.

In a release of slices, the number of the record's slice stands before its column, and occurrences are counted in each
slice by itself: records in different slices are different records, wherever they lie.

The records of the smallest priorities are kept. docs/decisions/0005-user-bounding.md has the reasons, and the SQL.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.by_user.ids import Ids, Users, unwritable
from hushgrid.counting.by_user.sha256 import Words, hash_records
from hushgrid.counting.by_user.tallies import TrueTallies, UserTally
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid

MissingUser = Literal["drop", "own"]
Estimate = Literal["kept-records", "all-records"]

LATTICE_SIDE = 2**30  # columns and rows; a millimetre on a domain as wide as Spain
KEY_BYTES = 32

Numbers = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Kept:
    """Records that a rule keeps, a capped total, and tallies if asked for.

    Privacy
    -------
    All of it is exact. `true_capped_total` changes by at most the cap with all records of one user; for the tallies,
    see `TrueTallies`.
    """

    rows: Indices
    true_capped_total: int
    true_tallies: TrueTallies | None = None

    def __repr__(self) -> str:
        return "Kept(...)"


@dataclass(frozen=True, kw_only=True)
class KeyedRule:
    """Keeps at most K records of each user.

    They are chosen uniformly among the user's own.

    Parameters
    ----------
    key : bytes
        32 uniform bytes, drawn once for the whole release; whoever knows it knows which records were kept.
    domain : Domain
        All points lie in it.
    most : int
        K, the records a user may keep. Public.
    most_for_total : int
        B, the records of a user that `Kept.true_capped_total` counts at most. Public.
    distinct_grid : Grid, optional
        Keep cells and not records: at most `most` cells of this grid, one record in each.
    areas : AreaIndex, optional
        Areas that are counted on: what lies in none of them is not a record.
    distinct_areas : bool
        Keep areas and not records: at most `most` of them, one record in each.
    tally : UserTally, optional
        Sums over all records of all users to make besides.

    Privacy
    -------
    What is kept of one user does not depend on anyone else's records, so that adding or removing a user adds or
    removes at most `most` records, and it is the same in every pass and in any order of rows. The priorities of
    different records are independent to whoever does not have the key: all subsets of `most` records are equally
    likely.
    """

    key: bytes = field(repr=False)
    domain: Domain
    most: int
    most_for_total: int = 1
    distinct_grid: Grid | None = None
    areas: AreaIndex | None = None
    distinct_areas: bool = False
    tally: UserTally | None = None

    @property
    def distinct(self) -> bool:
        """Whether cells or areas are kept, and not records."""
        return self.distinct_areas or self.distinct_grid is not None

    @property
    def lattice_shape(self) -> tuple[int, int]:
        """Columns and rows of the lattice that tells the places of records apart."""
        grid = self.distinct_grid
        return (LATTICE_SIDE, LATTICE_SIDE) if grid is None else (grid.columns, grid.rows)

    def keep(self, ids: Ids, longitudes: Floats, latitudes: Floats, slices: Numbers | None = None) -> Kept:
        """Choose what is kept of these records.

        They are all records of their users, in all slices together. One without an id is its own user.
        """
        users = Users.of(ids)
        owners = users.numbers[ids.numbers]
        strangers, sizes = np.split(np.bincount(owners + 1, minlength=users.edges.size), [1])
        true_capped_total = int(np.minimum(sizes, self.most_for_total).sum()) + int(strangers.sum())
        # Whoever has few records keeps them all, and needs no priorities.
        is_open = np.append(np.full(sizes.size, self.distinct) | (sizes > self.most), False)[owners]
        rows, kept = np.flatnonzero(is_open), ~is_open
        own = None if slices is None else slices[rows]
        kept[rows[self._choose(owners[rows], users, longitudes[rows], latitudes[rows], own)]] = True
        true_tallies = None
        if self.tally is not None:
            distinct_sizes, places = np.unique(np.append(sizes, 1), return_inverse=True)  # a stranger has one record
            regions = self.tally.regions_at(longitudes, latitudes)
            true_tallies = self.tally.count(regions, places[owners], distinct_sizes)
        return Kept(rows=np.flatnonzero(kept), true_capped_total=true_capped_total, true_tallies=true_tallies)

    def _choose(
        self, owners: Numbers, users: Users, longitudes: Floats, latitudes: Floats, slices: Numbers | None
    ) -> Indices:
        """Records with the smallest priorities of each user.

        `owners` are the numbers of users.
        """
        columns, rows = self._places(longitudes, latitudes)
        groups = owners if slices is None else _pairs(owners, slices)
        occurrences = _occurrences(groups, columns * LATTICE_SIDE + rows, longitudes, latitudes)
        candidates = np.flatnonzero(occurrences == 0) if self.distinct else np.arange(owners.size)
        parts: list[NDArray[np.integer]] = [columns, rows, occurrences]
        if slices is not None:
            parts.insert(0, slices)
        records = np.stack(parts, dtype=np.uint32, casting="unsafe")[:, candidates]
        owners, chosen = owners[candidates], np.zeros(candidates.size, bool)
        take_first(self._order(records, owners, users), owners, self.most, chosen)
        return candidates[chosen]

    def _order(self, records: Words, owners: Numbers, users: Users) -> Indices:
        """Order of records by priority."""
        first_words = self._priorities(records, owners, users, words=1)[:, 0]
        order = np.argsort(first_words)
        if np.any(first_words[order[1:]] == first_words[order[:-1]]):  # 64 equal bits: hardly ever
            order = np.lexsort(self._priorities(records, owners, users, words=4).T[::-1])
        return order

    def _priorities(self, records: Words, owners: Numbers, users: Users, *, words: int) -> NDArray[np.uint64]:
        """Hashes of records, or their first words.

        A hash is four words of 64 bits.
        """
        priorities = np.empty((owners.size, words), np.uint64)
        head = np.frombuffer(self.key.hex().encode(), np.uint8)
        hash_records(head, records, unwritable(users.content), unwritable(users.edges), owners, priorities)
        return priorities

    def _places(self, longitudes: Floats, latitudes: Floats) -> tuple[Indices, Indices]:
        """Places of records: on the lattice, or in areas."""
        if self.distinct_areas:
            assert self.areas is not None
            numbers = self.areas.numbers(longitudes, latitudes)
            return numbers, np.zeros_like(numbers)
        west, south, east, north = self.domain.bounds
        columns, rows = self.lattice_shape
        return (
            cells.cell(longitudes, west, cells.scale(west, east, columns), columns),
            cells.cell(latitudes, south, cells.scale(south, north, rows), rows),
        )


def _pairs(owners: Numbers, slices: Numbers) -> Numbers:
    """Numbers of pairs of an owner and a slice."""
    pairs = owners.astype(np.int64) * (int(slices.max(initial=0)) + 1) + slices
    _, numbers = np.unique(pairs, return_inverse=True)
    return np.asarray(numbers, np.int32)


def _occurrences(owners: Numbers, places: Indices, longitudes: Floats, latitudes: Floats) -> Indices:
    """Running numbers of records among those of a user in one place.

    By longitude, then latitude.
    """
    occurrences = np.empty(places.size, np.int64)
    if number_records(np.argsort(places), owners, places, longitudes, latitudes, occurrences):
        order = np.lexsort((latitudes, longitudes, places))
        number_records(order, owners, places, longitudes, latitudes, occurrences)
    return occurrences


@compiled
def number_records(
    order: Indices, owners: Numbers, places: Indices, longitudes: Floats, latitudes: Floats, occurrences: Indices
) -> bool:
    """Number the records of each user in each place, from 0.

    `order` is one by place. Returns whether it also matters what the order is inside a place: some records there have
    one owner and differ.
    """
    last = np.full(owners.max() + 1 if owners.size else 0, -1, np.int64)  # the record of each user that came before
    differ = False
    for i in order:
        before = last[owners[i]]
        occurrences[i] = 0
        if before >= 0 and places[before] == places[i]:
            occurrences[i] = occurrences[before] + 1
            differ |= longitudes[before] != longitudes[i] or latitudes[before] != latitudes[i]
        last[owners[i]] = i
    return differ


@compiled
def take_first(order: Indices, owners: Numbers, most: int, chosen: NDArray[np.bool_]) -> None:
    """Choose the first records of each user, in an order."""
    taken = np.zeros(owners.max() + 1 if owners.size else 0, np.int64)
    for i in order:
        if taken[owners[i]] < most:
            taken[owners[i]] += 1
            chosen[i] = True


PRIVATE: Literal["private"] = "private"
CAP_PER_RECORD = 10  # a private total counts up to 10 K records of each user; K is public, and so is this


@dataclass(frozen=True, kw_only=True)
class UserLevel:
    """How the records of each user are bounded.

    Parameters
    ----------
    max_per_user : int
        K: the records of one user that are kept at most.
    missing_user : "drop" or "own"
        Whether rows without an id are left out, or each is a user of its own.
    scale_to_total : int, "private" or None
        A total that counts are scaled to: declared public, or counted from the data and paid for.
    max_for_total : int or None
        B: the records of one user that a private total counts at most. None where noisy values choose it.
    kept_share : bool
        Whether a private total is paid for to say which share of the records was kept, where nothing else says it.
    all_records : bool
        Whether all records are estimated, and not only those that are kept.
    """

    max_per_user: int
    missing_user: MissingUser = "drop"
    scale_to_total: int | Literal["private"] | None = None
    max_for_total: int | None
    kept_share: bool = False
    all_records: bool = False

    @classmethod
    def of(
        cls,
        user: Any,
        *,
        max_per_user: int | None,
        missing_user: MissingUser,
        scale_to_total: int | Literal["private"] | None,
        max_for_total: int | None,
        kept_share: bool = False,
        estimate: Estimate = "kept-records",
    ) -> Self | None:
        """Check the arguments of `publish` about users.

        None where no users are named.

        Examples
        --------
        >>> UserLevel.of("id", max_per_user=5, missing_user="drop", scale_to_total=None, max_for_total=None)
        UserLevel(max_per_user=5, missing_user='drop', scale_to_total=None, max_for_total=50, kept_share=False,
        all_records=False)
        """
        all_records = wants_all_records(estimate)
        if user is None:
            _refuse_without_user(
                max_per_user=max_per_user,
                missing_user=None if missing_user == "drop" else missing_user,
                scale_to_total=scale_to_total,
                max_for_total=max_for_total,
                estimate=estimate if all_records else None,
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
            if scale_to_total != PRIVATE and not kept_share and not all_records:
                msg = "max_for_total bounds what one user adds to a private total. Ask for one: "
                msg += "scale_to_total='private', or kept_share=True."
                raise ArgumentError(msg)
            _check_at_least_one(max_for_total=max_for_total)
            if max_for_total < max_per_user:
                msg = f"max_for_total={max_for_total} would count fewer records of a user than max_per_user="
                usual = "noisy values choose it" if all_records else f"it is {CAP_PER_RECORD * max_per_user}"
                msg += f"{max_per_user} keeps. Give a larger one, or leave it out: then {usual}."
                raise ArgumentError(msg)
        elif not all_records:
            max_for_total = CAP_PER_RECORD * max_per_user
        return cls(
            max_per_user=max_per_user,
            missing_user=missing_user,
            scale_to_total=scale_to_total,
            max_for_total=max_for_total,
            kept_share=kept_share and scale_to_total is None and not all_records,
            all_records=all_records,
        )

    def tally(self, domain: Domain) -> UserTally | None:
        """The sums over all records that an estimate of them needs."""
        return UserTally.of(domain, most=self.max_per_user, cap=self.max_for_total) if self.all_records else None

    def rule(
        self, domain: Domain, *, key: bytes, cells: Grid | AreaPartition | None = None, distinct: bool = False
    ) -> KeyedRule:
        """The rule that chooses records.

        With `distinct` it chooses the cells of a public partition that they lie in.
        """
        rule = KeyedRule(
            key=key,
            domain=domain,
            most=self.max_per_user,
            most_for_total=self.max_for_total or 1,
            tally=self.tally(domain),
        )
        if isinstance(cells, AreaPartition):
            return replace(rule, areas=AreaIndex.of(cells), distinct_areas=distinct)
        return replace(rule, distinct_grid=cells) if distinct else rule


def wants_all_records(estimate: Estimate) -> bool:
    """Whether all records are to be estimated, or kept ones counted."""
    if estimate not in get_args(Estimate):
        msg = f"estimate must be 'kept-records' or 'all-records', got estimate={estimate!r}."
        raise ArgumentError(msg)
    return estimate == "all-records"


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
