"""How much of the noise of Haar coefficients a sum over cells keeps, along one axis."""

from hushgrid.compiled import compiled


@compiled
def overlap(low: float, high: float, first: float, stop: float) -> float:
    """Length that two intervals share."""
    return max(min(high, stop) - max(low, first), 0.0)


@compiled
def block_weight(low: float, high: float, first: int, size: int) -> float:
    """Weight of the coefficient of a block of `size` cells: left half minus right half, over the size."""
    middle = first + size // 2
    return (overlap(low, high, first, middle) - overlap(low, high, middle, first + size)) / size


@compiled
def haar_energy(low: float, high: float, cells: int) -> float:
    """Sum of the squared weights of all coefficients in a sum over the cells from `low` to `high`.

    Blocks that lie all inside or all outside have weight zero, so that of each size only the two that hold the ends
    are looked at.

    Parameters
    ----------
    low, high : float
        In units of cells; ends inside a cell stand for the fraction of it that is summed.
    cells : int
        Cells along the padded axis, a power of two.
    """
    whole = (high - low) / cells
    energy = whole * whole
    size = cells
    while size > 1:
        first, last = int(low) // size * size, int(high) // size * size
        weight = block_weight(low, high, first, size)
        energy += weight * weight
        if last != first:
            weight = block_weight(low, high, last, size)
            energy += weight * weight
        size //= 2
    return energy
