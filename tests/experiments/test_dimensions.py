"""Grids and hierarchies in one, two and three dimensions."""

from itertools import product

import numpy as np
import pytest

from experiments.datasets import SMALL_CLUSTERS
from experiments.dimensions import (
    DimensionTrial,
    _question,
    block_sums,
    border_share,
    box_counts,
    noisy_cells,
)
from experiments.suites.dimensions import hierarchies
from experiments.trial import QUERIES

TRIAL = DimensionTrial(dataset=SMALL_CLUSTERS, dimensions=2, cells=4096, levels=3, epsilon=1.0, seed=0)


def test_the_border_is_that_of_the_papers_example():
    """M = 10,000 cells in groups of 4, and larger in three dimensions still."""
    shares = [border_share(dimensions, cells=10_000, group=4) for dimensions in (1, 2, 3)]

    assert shares[:2] == pytest.approx([0.0008, 0.08])
    assert shares[2] > shares[1]


@pytest.mark.parametrize(("dimensions", "side", "branching", "levels"), [(1, 8, 2, 4), (2, 4, 2, 3), (3, 4, 4, 2)])
def test_noisy_cells_are_the_least_squares_solution(dimensions, side, branching, levels):
    """Of all measurements of all grids, solved as one system."""
    shape = (side,) * dimensions
    true_cells = np.arange(side**dimensions, dtype=float).reshape(shape)
    cells = noisy_cells(true_cells, branching=branching, levels=levels, epsilon=0.5, rng=np.random.default_rng(3))
    design, measured, noise = [], [], np.random.default_rng(3)
    units = np.eye(side**dimensions).reshape(-1, *shape)
    for level in range(levels):
        sums = np.array([_coarse(unit, branching**level).ravel() for unit in units]).T
        grid_shape = (side // branching**level,) * dimensions
        measured.extend(sums @ true_cells.ravel() + noise.laplace(scale=levels / 0.5, size=grid_shape).ravel())
        design.extend(sums)

    solution = np.linalg.lstsq(np.array(design), np.array(measured), rcond=None)[0]
    assert cells.ravel() == pytest.approx(solution)


def _coarse(cells, width):
    """Sums of blocks, one block at a time."""
    blocks = cells.shape[0] // width
    sums = np.zeros((blocks,) * cells.ndim)
    for index in product(range(blocks), repeat=cells.ndim):
        sums[index] = cells[tuple(slice(width * place, width * (place + 1)) for place in index)].sum()
    return sums


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_block_sums_agree_with_single_blocks(dimensions):
    """Sums of blocks are those added one by one, in any number of dimensions."""
    cells = np.random.default_rng(1).random((6,) * dimensions)

    assert np.allclose(block_sums(cells, 3), _coarse(cells, 3))


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_box_counts_agree_with_single_cells(dimensions):
    """The covered share of each cell times its count; boxes on edges and the whole cube among them."""
    rng = np.random.default_rng(2)
    cells = rng.normal(size=(4,) * dimensions)
    corners = np.sort(rng.random((20, 2, dimensions)), axis=1)
    corners[0], corners[1] = [[0] * dimensions, [1] * dimensions], [[0.25] * dimensions, [0.75] * dimensions]
    expected = []
    for low, high in corners:
        total = 0.0
        for index in product(range(4), repeat=dimensions):
            first = np.array(index) / 4
            inside = np.minimum(high, first + 0.25) - np.maximum(low, first)
            total += cells[index] * np.maximum(inside * 4, 0).prod()
        expected.append(total)

    assert box_counts(cells, corners) == pytest.approx(expected)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_boxes_have_the_same_share_of_the_domain_in_every_dimension(dimensions):
    """A quarter for the largest, each smaller one a quarter of that, and all inside the cube."""
    points, boxes, true_counts = _question(SMALL_CLUSTERS, dimensions, 0)
    volumes = (boxes[:, 1] - boxes[:, 0]).prod(axis=1).reshape(6, -1)

    assert np.allclose(volumes, 4.0 ** np.arange(-6, 0)[:, None])
    assert boxes.min() >= 0
    assert boxes.max() <= 1
    low, high = boxes[700]
    assert true_counts[700] == sum(all(low <= point) and all(point <= high) for point in points)


def test_a_trial_gives_the_rows_of_its_sizes():
    """With its fields, and the same at every run but for the seconds."""
    rows, again = ([{**row, "publish_seconds": 0} for row in TRIAL.run()] for _ in range(2))

    assert rows == again
    assert [row["queries"] for row in rows] == list(QUERIES)
    assert DimensionTrial(**{name: rows[0][name] for name in vars(TRIAL)}) == TRIAL


def test_much_budget_gives_back_the_truth_of_the_cells():
    """Flat or not, so that both differ from the truth by noise alone."""
    cells = np.random.default_rng(0).integers(0, 99, (8, 8)).astype(float)
    for branching, levels in hierarchies(8):
        rng = np.random.default_rng(1)
        noisy = noisy_cells(cells, branching=branching, levels=levels, epsilon=1e9, rng=rng)
        assert noisy == pytest.approx(cells, abs=1e-6)
