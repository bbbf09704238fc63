"""The rule that keeps at most so many records a user, record by record, with nothing but hashlib."""

import hashlib
import math
from collections import defaultdict

SIDE = 2**30


def place(coordinate, low, high, side=SIDE):
    """Column or row of a coordinate on the lattice."""
    return min(max(math.floor((coordinate - low) * (side / (high - low))), 0), side - 1)


def priority(key, column, row, occurrence, user, *, number=None):
    """SHA-256 of the documented text; `user` is the canonical id, `number` that of a slice."""
    start = key.hex() if number is None else f"{key.hex()}:{number}"
    return hashlib.sha256(f"{start}:{column}:{row}:{occurrence}:".encode() + user).digest()


def kept_in_slices(records, *, key, domain, most):
    """Kept records in slices, sorted; `records` are a canonical id, the number of a slice or -1, and a point."""
    west, south, east, north = domain.bounds
    by_user, result = defaultdict(list), []
    for user, number, (x, y) in records:
        if number >= 0 and user is not None and west <= x <= east and south <= y <= north:
            by_user[user].append((number, place(x, west, east), place(y, south, north), x, y))
    for user, own in by_user.items():
        ranked, seen = [], defaultdict(int)
        for number, column, row, x, y in sorted(own):
            occurrence = seen[number, column, row]
            seen[number, column, row] += 1
            ranked.append((priority(key, column, row, occurrence, user, number=number), (number, x, y)))
        result += [record for _, record in sorted(ranked)[:most]]
    return sorted(result)


def kept(records, *, key, domain, most, missing="drop", columns=SIDE, rows=SIDE, distinct=False):
    """Points that are kept, sorted; `records` are pairs of a canonical id, or None, and a point."""
    west, south, east, north = domain.bounds
    by_user, result = defaultdict(list), []
    for user, (longitude, latitude) in records:
        if not (west <= longitude <= east and south <= latitude <= north):
            continue
        if user is None:
            result += [(longitude, latitude)] if missing == "own" else []
        else:
            by_user[user].append((longitude, latitude))
    for user, points in by_user.items():
        cells = defaultdict(list)
        for point in sorted(points):
            cells[place(point[0], west, east, columns), place(point[1], south, north, rows)].append(point)
        ranked = [
            (priority(key, *cell, occurrence, user), point)
            for cell, members in cells.items()
            for occurrence, point in enumerate(members[:1] if distinct else members)
        ]
        result += [point for _, point in sorted(ranked)[:most]]
    return sorted(result)
