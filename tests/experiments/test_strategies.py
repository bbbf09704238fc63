"""Fixed strategies: their formulas against matrices written out, and the search for the best."""

from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import check_grad

from experiments import strategies


def all_intervals(cells):
    """Every interval of an axis, a row each."""
    place = np.arange(cells)
    return np.array([(place >= first) & (place <= last) for first in place for last in place[first:]], float)


def plain_variance(strategy, workload):
    """Mean over a workload of the variance after least squares, query by query."""
    sensitivity = np.abs(strategy).sum(axis=0).max()
    covariance = np.linalg.inv(strategy.T @ strategy) * sensitivity**2
    return np.mean([query @ covariance @ query for query in workload])


def block_rows(side, blocks):
    """Square blocks of cells as rows over all cells of a grid."""
    axis = np.repeat(np.eye(blocks), side // blocks, axis=1)
    return np.kron(axis, axis)


@pytest.mark.parametrize("cells", [1, 2, 5, 8])
def test_the_gram_matrix_counts_intervals(cells):
    """Against every interval written out."""
    rows = all_intervals(cells)

    assert np.array_equal(strategies.gram(cells), rows.T @ rows)
    assert strategies.intervals(cells) == len(rows)


@pytest.mark.parametrize("strategy", [np.eye(4), strategies.haar(4), strategies.p_identity(np.ones((1, 4)))])
def test_a_product_has_the_product_of_variances(strategy):
    """For all rectangles of four by four cells, written out."""
    rectangles = np.kron(all_intervals(4), all_intervals(4))

    assert strategies.axis_variance(strategy) ** 2 == pytest.approx(
        plain_variance(np.kron(strategy, strategy), rectangles)
    )


@pytest.mark.parametrize("sides", [(8,), (2, 8), (1, 2, 4, 8), (4, 8)])
def test_pyramids_have_the_variance_of_their_matrix(sides):
    """Grids over grids with uneven shares, all of them rows of one matrix."""
    shares = np.arange(1, len(sides) + 1) / sum(range(1, len(sides) + 1))
    matrix = np.concatenate([share * block_rows(8, side) for side, share in zip(sides, shares, strict=True)])
    rectangles = np.kron(all_intervals(8), all_intervals(8))

    assert strategies.pyramid_variance(sides, shares) == pytest.approx(plain_variance(matrix, rectangles))


def test_the_gradient_is_that_of_the_loss():
    """Against differences."""
    counts, start = strategies.gram(6), np.random.default_rng(0).random(12)
    error = check_grad(
        lambda rows: strategies.loss(rows, counts)[0], lambda rows: strategies.loss(rows, counts)[1], start
    )

    assert error < 1e-5 * np.linalg.norm(strategies.loss(start, counts)[1])


def test_the_loss_is_the_variance_of_the_strategy():
    """Computed from the rows alone, without the scaled matrix."""
    rows = np.random.default_rng(1).random((3, 12))
    total, _ = strategies.loss(rows.ravel(), strategies.gram(12))

    assert total / strategies.intervals(12) == pytest.approx(strategies.axis_variance(strategies.p_identity(rows)))


@pytest.mark.parametrize("cells", [16, 32])
def test_the_best_is_no_worse_than_any_other(cells):
    """Its columns sum to one, and neither single cells, wavelets, trees nor random strategies beat it."""
    best = strategies.best_strategy(cells)
    found = strategies.axis_variance(best)
    rng = np.random.default_rng(2)
    tree = np.concatenate([np.repeat(np.eye(blocks), cells // blocks, axis=1) for blocks in (2, 8, cells)])
    others = [np.eye(cells), strategies.haar(cells), tree]
    others += [strategies.p_identity(rng.random((rows, cells))) for rows, _ in product((1, 2), range(5))]

    assert np.allclose(best.sum(axis=0), 1)
    assert (best >= 0).all()
    assert all(found <= strategies.axis_variance(other) * (1 + 1e-9) for other in others)


def test_the_command_prints_a_line_a_side():
    """The last column is the best over itself."""
    outcome = CliRunner().invoke(strategies.main, ["--side", "8", "--side", "16"])
    lines = [line.split() for line in outcome.output.splitlines()[2:]]

    assert outcome.exit_code == 0, outcome.output
    assert [line[0] for line in lines] == ["8", "16"]
    assert all(line[-1] == "1.00" and min(map(float, line[2:])) > 0.9 for line in lines)
