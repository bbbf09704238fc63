"""How often the edges of polygons cross or come near each other, counted before anybody compares them all."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_CROSSINGS = 5_000  # a repair takes seconds at this number, and grows with its square
PAIRS_AT_ONCE = 2**22
NEIGHBOURS = 64  # of an edge on average: far more than outlines have that somebody drew


def is_tangled(polygon: Any) -> bool:
    """Whether segments of a polygon's rings meet so often that a repair would not end, or not fit in memory.

    Examples
    --------
    >>> from shapely import Polygon
    >>> is_tangled(Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]))
    False
    """
    import shapely

    places, ring = shapely.get_coordinates(shapely.get_rings(shapely.get_parts(polygon)), return_index=True)
    joined = ring[1:] == ring[:-1]
    segments = shapely.linestrings(np.stack([places[:-1][joined], places[1:][joined]], axis=1))
    tree, step = shapely.STRtree(segments), max(1, min(len(segments), PAIRS_AT_ONCE // max(1, len(segments))))
    meetings = 0
    for first in range(0, len(segments), step):
        some = segments[first : first + step]
        # Each meets itself and its neighbours in the ring, and every other is found from both of its sides.
        meetings += tree.query(some, predicate="intersects").shape[1] - 3 * len(some)
        if meetings > 2 * MOST_CROSSINGS:
            return True
    return False


def is_intricate(segments: NDArray[np.float64]) -> bool:
    """Whether the boxes around segments, shape (n, 4), overlap so often that to compare outlines would not end.

    Examples
    --------
    >>> is_intricate(np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 2.0, 0.0]]))
    False
    """
    import shapely

    boxes = shapely.linestrings(segments.reshape(-1, 2, 2))
    tree, step = shapely.STRtree(boxes), max(1, PAIRS_AT_ONCE // max(1, len(boxes)))
    pairs = 0
    for first in range(0, len(boxes), step):
        pairs += tree.query(boxes[first : first + step]).shape[1]
        if pairs > NEIGHBOURS * len(boxes) + PAIRS_AT_ONCE:
            return True
    return False
