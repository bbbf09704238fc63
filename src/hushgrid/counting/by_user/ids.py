"""Tells users apart by their ids.

Ids are compared in full. The hash divides work and decides nothing.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.compiled import compiled
from hushgrid.counting.csv_loops import Text
from hushgrid.counting.users import IDS, content_and_edges

FNV_OFFSET, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # Fowler, Noll, Vo: FNV-1a, 64 bits
FOLD = np.uint64(32)
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: neighbouring hashes get distant slots
SLOT_SALT = 2**32  # for a hash that no division among files has used
MOST_STEPS = 16  # from slot to slot, for each id: with a fair hash it takes less than two


@compiled
def hash_ids(content: Text, edges: NDArray[np.int64], salt: int, hashes: NDArray[np.uint64]) -> None:
    """Write a hash of every id.

    Another salt makes another hash.

    Parameters
    ----------
    content, edges : array of uint8, array of int64, shape (ids + 1,)
        The bytes of all ids, and where each begins and the last one ends.
    salt : int
    hashes : array of uint64, shape (ids,)
    """
    for i in range(hashes.size):
        value = (FNV_OFFSET ^ np.uint64(salt)) * FNV_PRIME
        for k in range(edges[i], edges[i + 1]):
            value = (value ^ np.uint64(content[k])) * FNV_PRIME
        hashes[i] = value ^ (value >> FOLD)  # the low bits of FNV alone do not depend on high bits of the text


@compiled
def tell_apart(
    content: Text,
    edges: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    numbers: NDArray[np.int32],
    user_content: Text,
    user_edges: NDArray[np.int64],
    most_steps: int,
) -> int:
    """Number users by their ids, compared in full.

    Parameters
    ----------
    content, edges : array of uint8, array of int64, shape (ids + 1,)
        The bytes of all ids, and where each begins and the last one ends.
    hashes : array of uint64, shape (ids,)
    numbers : array of int32, shape (ids,)
        Written: the user of each id, in the order that they come in; -1 where it is empty.
    user_content, user_edges : array
        Written: the id of each user, as in `content` and `edges`.
    most_steps : int
        Steps from slot to slot before this is given up.

    Returns
    -------
    int
        The number of users; -1 where it was given up.
    """
    users, steps = 0, 0
    user_hashes = np.empty(hashes.size, np.uint64)
    bits = 8
    slots = np.full(2**bits, -1, np.int32)  # a hash table, which grows with the users
    user_edges[0] = 0
    for i in range(hashes.size):
        numbers[i] = -1
        first, length = edges[i], edges[i + 1] - edges[i]
        slot = (hashes[i] * SPREAD) >> np.uint64(64 - bits)
        while length > 0 and numbers[i] < 0:
            user = slots[slot]
            if user < 0:
                user = slots[slot] = users
                user_hashes[user] = hashes[i]
                place = user_edges[user]
                for k in range(length):
                    user_content[place + k] = content[first + k]
                user_edges[user + 1] = place + length
                users += 1
            place = user_edges[user]
            if user_hashes[user] == hashes[i] and user_edges[user + 1] - place == length:
                k = 0
                while k < length and user_content[place + k] == content[first + k]:
                    k += 1
                if k == length:
                    numbers[i] = user
            slot = (slot + np.uint64(1)) & np.uint64(slots.size - 1)
            steps += 1
            if steps > most_steps:
                return -1
        if 2 * users > slots.size:
            bits += 1
            slots = _slots(user_hashes[:users], bits)
    return users


@compiled
def _slots(hashes: NDArray[np.uint64], bits: int) -> NDArray[np.int32]:
    """A table of as many slots, with the place of each hash in one."""
    slots = np.full(2**bits, -1, np.int32)
    for i in range(hashes.size):
        slot = (hashes[i] * SPREAD) >> np.uint64(64 - bits)
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & np.uint64(slots.size - 1)
        slots[slot] = i
    return slots


def unwritable(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, not to be written to.

    Arrays from Arrow are so; if all are, numba compiles a loop once for all.
    """
    view = array.view()
    view.flags.writeable = False
    return view


class Ids(NamedTuple):
    """Ids, and the number of one for each row.

    An id may stand there more than once. An empty one is none.

    Privacy
    -------
    Holds ids as they are in the data.
    """

    numbers: NDArray[np.int32]
    content: Text
    edges: Indices  # where each id begins in `content`, and where the last one ends

    @classmethod
    def of(cls, users: pa.LargeBinaryArray | pa.DictionaryArray) -> Self:
        """Take the ids of a column, nulls as empty.

        Examples
        --------
        >>> Ids.of(pa.array([b"ann", None], IDS)).edges
        array([0, 3, 3])
        """
        if not isinstance(users, pa.DictionaryArray):
            return cls(np.arange(len(users), dtype=np.int32), *content_and_edges(users))
        content, edges = content_and_edges(users.dictionary)
        numbers = users.indices.cast(pa.int32())
        if numbers.null_count:
            numbers = numbers.fill_null(len(users.dictionary))  # one more, which is empty
            edges = np.append(edges, edges[-1])
        return cls(numbers.to_numpy(), content, edges)

    @classmethod
    def joined(cls, several: Sequence["Ids"]) -> Self:
        """All rows of several, one after the other."""
        numbers, contents, edges, first, place = [], [], [np.zeros(1, np.int64)], 0, 0
        for ids in several:
            numbers.append(ids.numbers + np.int32(first))
            contents.append(ids.content[ids.edges[0] : ids.edges[-1]])
            edges.append(ids.edges[1:] + (place - ids.edges[0]))
            first, place = first + ids.edges.size - 1, place + contents[-1].size
        empty = np.empty(0, np.int32), np.empty(0, np.uint8)
        return cls(np.concatenate([empty[0], *numbers]), np.concatenate([empty[1], *contents]), np.concatenate(edges))

    def __repr__(self) -> str:
        return "Ids(...)"

    def hashes(self, salt: int) -> NDArray[np.uint64]:
        """A hash of every id."""
        hashes = np.empty(self.edges.size - 1, np.uint64)
        hash_ids(unwritable(self.content), unwritable(self.edges), salt, hashes)
        return hashes

    def not_longer_than(self, longest: int, *, empty: bool) -> NDArray[np.bool_]:
        """Whether each id has at most that many characters.

        For one that is empty, the answer is `empty`.
        """
        lengths = characters = np.diff(self.edges)
        if lengths.size and lengths.max() > longest:  # bytes, of which a character has up to four
            characters = pc.utf8_length(self.array().dictionary.view(pa.large_string())).to_numpy()
        return np.where(lengths == 0, empty, characters <= longest)

    def array(self) -> pa.DictionaryArray:
        """The ids as a column of Arrow."""
        buffers = [None, pa.py_buffer(self.edges), pa.py_buffer(self.content)]
        ids = pa.LargeBinaryArray.from_buffers(IDS, self.edges.size - 1, buffers)
        return pa.DictionaryArray.from_arrays(pa.array(self.numbers), ids)


class Users(NamedTuple):
    """Users told apart."""

    numbers: NDArray[np.int32]  # the user of every id; -1 where it is none
    content: Text
    edges: Indices  # where the id of each user begins in `content`, and where the last one ends

    @classmethod
    def of(cls, ids: Ids) -> Self:
        """Tell users apart, by their ids in full.

        Examples
        --------
        >>> Users.of(Ids.of(pa.array([b"ann", None, b"bob", b"ann"], IDS))).numbers
        array([ 0, -1,  1,  0], dtype=int32)
        """
        size = ids.edges.size - 1
        numbers, content, edges = (
            np.empty(size, np.int32),
            np.empty(ids.content.size, np.uint8),
            np.empty(size + 1, np.int64),
        )
        given = unwritable(ids.content), unwritable(ids.edges), ids.hashes(SLOT_SALT)
        users = tell_apart(*given, numbers, content, edges, MOST_STEPS * size)
        if users >= 0:
            return cls(numbers, content, edges[: users + 1])
        # Somebody made ids whose hashes clash. Arrow has another hash.
        values = ids.array().dictionary
        found = pc.if_else(pc.equal(pc.binary_length(values), 0), pa.scalar(None, IDS), values).dictionary_encode()
        return cls(found.indices.fill_null(-1).to_numpy(), *content_and_edges(found.dictionary))

    def __repr__(self) -> str:
        return "Users(...)"
