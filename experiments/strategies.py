"""The best fixed strategy for rectangles, as a yardstick for grids and hierarchies.

A strategy is what a method measures, chosen before it sees any data. The mean variance of all rectangles then follows
from a formula, and nothing need be run. HDMM searches for the best strategy: here along each axis, which gives the best
product of two that is found. Nothing is released.

Reference: McKenna, Miklau, Hay, Machanavajjhala: "Optimizing Error of High-Dimensional Statistical Queries Under
Differential Privacy", VLDB 2018: the matrix mechanism, p-Identity strategies and OPT_0.

``python -m experiments.strategies`` prints the table of docs/privacy/hierarchies.md.
"""

import math
from collections.abc import Iterator, Sequence

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from hushgrid.methods.hierarchy import dividing_grids
from hushgrid.methods.trees import Quarters, level_units
from hushgrid.privacy.paths import UNITS

Floats = NDArray[np.float64]

CELLS_A_ROW = 16  # one row of a p-Identity strategy for so many cells, as the paper suggests
STARTS = (1.0, 1.0, 1.0, 0.3, 0.05)  # sizes of the rows that a search starts from; each finds a local optimum
SIDES = (16, 32, 64, 128)
BEST = "HDMM"


def intervals(cells: int) -> int:
    """Number of intervals of an axis."""
    return cells * (cells + 1) // 2


def gram(cells: int) -> Floats:
    """For each pair of cells, the number of intervals that hold both: WᵀW for all intervals W.

    Examples
    --------
    >>> gram(3)
    array([[3., 2., 1.],
           [2., 4., 2.],
           [1., 2., 3.]])
    """
    place = np.arange(cells)
    first, last = np.minimum.outer(place, place), np.maximum.outer(place, place)
    return np.asarray((first + 1) * (cells - last), np.float64)


def axis_variance(strategy: Floats) -> float:
    """Mean variance of all intervals after least squares on the measurements of a strategy.

    The unit is the variance of a count measured with all of the budget. The variance of a product of two strategies,
    for all rectangles, is the product of theirs.

    Parameters
    ----------
    strategy : array, shape (measurements, cells)
        Weight of each cell in each measurement.

    Examples
    --------
    >>> axis_variance(np.eye(3)) == (3 + 4 + 3) / 6
    True
    """
    cells = strategy.shape[1]
    sensitivity = np.abs(strategy).sum(axis=0).max()
    return float(sensitivity**2 * np.trace(np.linalg.solve(strategy.T @ strategy, gram(cells))) / intervals(cells))


def haar(cells: int) -> Floats:
    """The strategy of Privlet along an axis of a power of two cells: the sum, and differences of halves.

    Examples
    --------
    >>> haar(4)
    array([[ 1.,  1.,  1.,  1.],
           [ 1.,  1., -1., -1.],
           [ 1., -1.,  0.,  0.],
           [ 0.,  0.,  1., -1.]])
    """
    rows = [np.ones((1, cells))]
    for level in range(cells.bit_length() - 1):
        halves = np.repeat(np.eye(2 ** (level + 1)), cells >> (level + 1), axis=1)
        rows.append(halves[::2] - halves[1::2])
    return np.concatenate(rows)


def quadtree_shares(height: int) -> list[float]:
    """Shares of the budget for the levels of a quadtree that does not stop."""
    above = [units / UNITS for units in level_units([Quarters()] * height)]
    return [*above, 1 - sum(above)]


def pyramid_variance(grid_sides: Sequence[int], shares: Sequence[float]) -> float:
    """Mean variance of all rectangles on the finest of several square grids, after least squares on all of them.

    The formula is that of docs/privacy/hierarchies.md, for rectangles made of whole cells.

    Parameters
    ----------
    grid_sides : sequence of int
        Cells a side, coarsest first; each is a multiple of the one before.
    shares : sequence of float
        Of the budget, for each grid.
    """
    energies = [mean_energy(side, grid_sides[-1]) ** 2 for side in grid_sides]
    below, total = 0.0, 0.0
    for level in range(len(grid_sides) - 1, -1, -1):
        own = 1 / shares[level] ** 2
        children = (grid_sides[level + 1] // grid_sides[level]) ** 2 if below else 1
        below = 1 / (1 / own + 1 / (children * below)) if below else own
        coarser = energies[level - 1] * (grid_sides[level] // grid_sides[level - 1]) ** 2 if level else 0.0
        total += below * (energies[level] - coarser)
    return total


def mean_energy(blocks: int, cells: int) -> float:
    """Mean over intervals of the sum of squared shares that they cover of equal blocks of cells."""
    size = cells // blocks
    within = gram(cells).reshape(blocks, size, blocks, size)
    return float(np.einsum("iaib->", within) / size**2 / intervals(cells))


def p_identity(rows: Floats) -> Floats:
    """Every cell by itself, and some weighted sums, scaled so that each cell weighs one in all."""
    cells = rows.shape[1]
    return np.asarray(np.concatenate([np.eye(cells), rows]) / (1 + rows.sum(axis=0)))


def loss(flat: Floats, counts: Floats) -> tuple[float, Floats]:
    """Total variance of a p-Identity strategy, tr((AᵀA)⁻¹ WᵀW), and its gradient by the rows.

    AᵀA = D (I + ΘᵀΘ) D with the rows Θ and D = 1/s, s = 1 + column sums of Θ. So the total is tr(B M) with
    B = (I + ΘᵀΘ)⁻¹ and M = s WᵀW s. Its change through B is -2 Θ B M B, and through s, for each column, 2 (B ∘ WᵀW) s.
    """
    cells = len(counts)
    theta = flat.reshape(-1, cells)
    scale = 1 + theta.sum(axis=0)
    inverse = np.eye(cells) - theta.T @ np.linalg.solve(np.eye(len(theta)) + theta @ theta.T, theta)
    weighed = scale[:, None] * counts * scale
    gradient = -2 * theta @ inverse @ weighed @ inverse + 2 * (inverse * counts) @ scale
    return float(np.sum(inverse * weighed)), gradient.ravel()


def best_strategy(cells: int, *, seed: int = 0, starts: Sequence[float] = STARTS) -> Floats:
    """The best p-Identity strategy that is found for all intervals of an axis (OPT_0)."""
    rng, counts = np.random.default_rng(seed), gram(cells)
    found = [
        minimize(
            loss,
            size * rng.random(max(1, cells // CELLS_A_ROW) * cells),
            (counts / intervals(cells),),
            jac=True,
            method="L-BFGS-B",
            bounds=((0, None),),
            options={"maxiter": 1000},
        )
        for size in starts
    ]
    return p_identity(min(found, key=lambda each: each.fun).x.reshape(-1, cells))


def variances(side: int) -> dict[str, float]:
    """Mean variance of all rectangles of a grid, strategy by strategy; the side is a power of two."""
    best_grids = dividing_grids(side)
    height = side.bit_length() - 1
    return {
        "UG": axis_variance(np.eye(side)) ** 2,
        "HB": pyramid_variance(best_grids, [1 / len(best_grids)] * len(best_grids)),
        "Quadtree": pyramid_variance([2**level for level in range(height + 1)], quadtree_shares(height)),
        "Privlet": axis_variance(haar(side)) ** 2,
        BEST: axis_variance(best_strategy(side)) ** 2,
    }


def lines(chosen: Sequence[int]) -> Iterator[list[str]]:
    """Cells of the table: the side, the best one's standard deviation at ε = 1, and all variances over the best."""
    for side in chosen:
        found = variances(side)
        deviation = math.sqrt(2 * found[BEST])
        yield [str(side), f"{deviation:.1f}", *(f"{each / found[BEST]:.2f}" for each in found.values())]


@click.command()
@click.option("--side", "chosen", default=SIDES, show_default=True, multiple=True, type=int, help="A power of two.")
def main(chosen: tuple[int, ...]) -> None:
    """Compare fixed strategies by formula. No data is touched."""
    table = Table(box=None, pad_edge=False)
    for heading in ("side", f"{BEST}, sd", "UG", "HB", "Quadtree", "Privlet", BEST):
        table.add_column(heading, justify="right")
    for line in lines(chosen):
        table.add_row(*line)
    click.echo("Mean variance of all rectangles over that of the best product strategy found")
    Console().print(table)


if __name__ == "__main__":
    main(prog_name="python -m experiments.strategies")
