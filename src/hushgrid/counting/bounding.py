"""Chooses which records of each user are kept.

`KeyedRule` depends on a key and on each user's own records alone; `UserLevel` holds the arguments it is made from.

The priority of a record is SHA-256 of a text that any engine can write, ``key:column:row:occurrence:id``:

- the key, 32 bytes drawn once a release, in lower-case hexadecimal;
- column and row of the point on a lattice of the domain, decimal, by the one expression of `hushgrid.geometry.cells`;
  where areas are counted and not records, the number of its area, and 0;
- the running number, from 0, among the user's records in that cell of the lattice, in the order of longitude, then
  latitude: records it cannot tell apart are identical, and any of them is as good as another;
- the user's id (`hushgrid.counting.users`), last, so that no id can look like another part.

The records of the smallest priorities are kept. docs/decisions/0005-user-bounding.md has the reasons, and the SQL.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import run_in_slices
from hushgrid.counting.areas import AreaIndex
from hushgrid.counting.sha256 import hash_records
from hushgrid.counting.users import content_and_edges, interned
from hushgrid.errors import ArgumentError
from hushgrid.geometry import cells
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid

MissingUser = Literal["drop", "own"]

LATTICE_SIDE = 2**30  # columns and rows; a millimetre on a domain as wide as Spain
KEY_BYTES = 32
SMALLEST_SLICE = 2**14  # fewest records worth a thread


@dataclass(frozen=True, kw_only=True, eq=False)
class Kept:
    """Records that a rule keeps, and a capped total.

    Privacy
    -------
    All of it is exact. `true_capped_total` changes by at most the cap with all records of one user.
    """

    rows: Indices
    true_capped_total: int

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

    @property
    def distinct(self) -> bool:
        """Whether cells or areas are kept, and not records."""
        return self.distinct_areas or self.distinct_grid is not None

    @property
    def lattice_shape(self) -> tuple[int, int]:
        """Columns and rows of the lattice that tells the places of records apart."""
        grid = self.distinct_grid
        return (LATTICE_SIDE, LATTICE_SIDE) if grid is None else (grid.columns, grid.rows)

    def keep(self, users: pa.LargeBinaryArray | pa.DictionaryArray, longitudes: Floats, latitudes: Floats) -> Kept:
        """Choose what is kept of these records.

        They are all records of their users. One without an id is its own user.
        """
        encoded = interned(users)
        codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
        known = np.flatnonzero(codes >= 0)
        sizes = np.bincount(codes[known], minlength=len(encoded.dictionary))
        strangers = np.flatnonzero(codes < 0)
        true_capped_total = int(np.minimum(sizes, self.most_for_total).sum()) + strangers.size
        # Whoever has few records keeps them all, and needs no priorities.
        settled = np.zeros(known.size, bool) if self.distinct else sizes[codes[known]] <= self.most
        open_rows = known[~settled]
        chosen = self._choose(codes[open_rows], encoded.dictionary, longitudes[open_rows], latitudes[open_rows])
        kept = np.concatenate([strangers, known[settled], open_rows[chosen]])
        return Kept(rows=np.sort(kept), true_capped_total=true_capped_total)

    def _choose(self, codes: Indices, ids: pa.LargeBinaryArray, longitudes: Floats, latitudes: Floats) -> Indices:
        """Records with the smallest priorities of each user.

        A user is a number, whose id is in `ids`.
        """
        columns, rows = self._places(longitudes, latitudes)
        order, occurrences = _occurrences(codes, columns * LATTICE_SIDE + rows, longitudes, latitudes)
        if self.distinct:
            order, occurrences = order[occurrences == 0], occurrences[occurrences == 0]
        numbers = np.stack([columns[order], rows[order], occurrences], axis=1)
        order = order[_by_priority(codes[order], self._priorities(numbers, codes[order], ids))]
        return order[_running_numbers(codes[order]) < self.most]

    def _priorities(self, numbers: Indices, codes: Indices, ids: pa.LargeBinaryArray) -> NDArray[np.uint64]:
        """Hashes of records, shape (n, 4).

        A hash is four words.
        """
        head = np.frombuffer(self.key.hex().encode(), np.uint8)
        content, edges = content_and_edges(ids)
        digests = np.empty((len(codes), 4), np.uint64)

        def work(first: int, stop: int) -> None:
            hash_records(head, numbers[first:stop], content, edges, codes[first:stop], digests[first:stop])

        run_in_slices(work, len(codes), smallest=SMALLEST_SLICE)
        return digests

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


def _occurrences(codes: Indices, places: Indices, longitudes: Floats, latitudes: Floats) -> tuple[Indices, Indices]:
    """Number the records of a user in one place.

    Gives the order of records by user, place and coordinates, and their running numbers in that order.
    """
    order = np.lexsort((places, codes))
    occurrences = _running_numbers(codes[order], places[order])
    repeated = np.flatnonzero(occurrences)
    one, other = order[repeated], order[repeated - 1]
    if np.any((longitudes[one] != longitudes[other]) | (latitudes[one] != latitudes[other])):
        order = np.lexsort((latitudes, longitudes, places, codes))
    return order, occurrences


def _running_numbers(*columns: Indices) -> Indices:
    """Number the rows in each run of equals.

    Examples
    --------
    >>> _running_numbers(np.array([5, 5, 5, 7, 7]))
    array([0, 1, 2, 0, 1])
    """
    place = np.arange(len(columns[0]))
    begins = np.zeros(len(place), bool)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return place - np.maximum.accumulate(np.where(begins, place, 0))


def _by_priority(codes: Indices, priorities: NDArray[np.uint64]) -> Indices:
    """Order of records by user, then by priority."""
    order = np.lexsort((priorities[:, 0], codes))
    first, users = priorities[order, 0], codes[order]
    if np.any((first[1:] == first[:-1]) & (users[1:] == users[:-1])):  # 64 equal bits: hardly ever
        order = np.lexsort((*priorities.T[::-1], codes))
    return order


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
        """Check the arguments of `publish` about users.

        None where no users are named.

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
        self, domain: Domain, *, key: bytes, cells: Grid | AreaPartition | None = None, distinct: bool = False
    ) -> KeyedRule:
        """The rule that chooses records, or with `distinct` the cells of a public partition that they lie in."""
        rule = KeyedRule(
            key=key,
            domain=domain,
            most=self.max_per_user,
            most_for_total=self.max_for_total,
        )
        if isinstance(cells, AreaPartition):
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
