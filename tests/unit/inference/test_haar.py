"""The integer Haar transform: exact, as sensitive as it says, and as noisy as dense algebra says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.grids import GridSurface
from hushgrid.answering.surface import spread
from hushgrid.errors import ArgumentError
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.haar import cell_energy, padded, restore, touched, transform
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.measurements import NOT_MEASURED, Measurements, NoisyValues, Wavelet, rate_totals
from tests.plain import coverage
from tests.strategies import grids, rects

RATE = Fraction(1, 7)


def haar_matrix(cells):
    """Rows of signs, block by block, as the definition has them."""
    rows = [np.ones(cells, np.int64)]
    blocks = 1
    while blocks < cells:
        size = cells // blocks
        for block in range(blocks):
            row = np.zeros(cells, np.int64)
            row[block * size : block * size + size // 2] = 1
            row[block * size + size // 2 : (block + 1) * size] = -1
            rows.append(row)
        blocks *= 2
    return np.array(rows)


def wavelet_on(grid, seed=0):
    """Noisy coefficients of a grid."""
    rows, columns = padded(grid.rows), padded(grid.columns)
    values = np.random.default_rng(seed).integers(-50, 500, rows * columns)
    return Wavelet(rows=rows, columns=columns, coefficients=NoisyValues.at_one_rate(values, RATE))


def dense_covariance(grid):
    """Covariance of the cells of a grid, by inverting the transform as a matrix."""
    inverses = [np.linalg.inv(haar_matrix(padded(cells)))[:cells] for cells in (grid.rows, grid.columns)]
    restoring = np.kron(*inverses)
    variance = NoisyValues.at_one_rate(np.zeros(1, np.int64), RATE).variances[0]
    return restoring, variance * restoring @ restoring.T


shapes = st.tuples(st.integers(1, 21), st.integers(1, 21))


@settings(deadline=None)
@given(shapes, st.integers(0, 2**32))
def test_restoring_undoes_the_transform_exactly(shape, seed):
    """On true counts of any shape, padding restored to zero."""
    counts = np.random.default_rng(seed).integers(0, 10**9, shape)
    expected = np.zeros([padded(cells) for cells in shape])
    expected[: shape[0], : shape[1]] = counts

    assert np.array_equal(restore(transform(counts)), expected)


@settings(deadline=None, max_examples=30)
@given(shapes, st.integers(0, 2**32))
def test_coefficients_are_those_of_the_definition(shape, seed):
    """As products with the matrix of signs, along both axes."""
    counts = np.random.default_rng(seed).integers(0, 1000, shape)
    rows, columns = (padded(cells) for cells in shape)
    whole = np.zeros((rows, columns), np.int64)
    whole[: shape[0], : shape[1]] = counts

    assert np.array_equal(transform(counts), haar_matrix(rows) @ whole @ haar_matrix(columns).T)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (3, 5), (8, 8), (9, 2), (16, 7)], ids=str)
def test_one_record_changes_each_touched_coefficient_by_one(shape):
    """Whichever cell it is in, and no other coefficient."""
    rows, columns = (padded(cells) for cells in shape)
    empty = np.zeros(shape, np.int64)
    for cell in np.ndindex(shape):
        one = empty.copy()
        one[cell] = 1
        change = np.abs(transform(one) - transform(empty))
        assert change.max() == 1
        assert change.sum() == touched(rows, columns) == (1 + np.log2(rows)) * (1 + np.log2(columns))


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_counts_and_variances_are_those_of_dense_algebra(data):
    """Of the cells, and of rectangles that cut cells."""
    grid = data.draw(grids())
    query = data.draw(rects(grid.domain))
    measurements = Measurements.of_wavelet(wavelet_on(grid), cells=grid.cells)
    restoring, covariance = dense_covariance(grid)
    weights = coverage(grid, query)

    haar, evidence = INFERENCES["haar"], Evidence(grid, measurements)
    counts = haar.counts(evidence)
    assert np.allclose(counts, restoring @ measurements.wavelet.coefficients.values)
    assert np.allclose(haar.variances(evidence), np.diag(covariance))

    surface = GridSurface(evidence, counts)
    noise, spreads = surface.variances(query)
    assert np.allclose(surface.counts(query), weights @ counts, atol=1e-6)
    assert np.allclose(noise, np.einsum("qi,ij,qj->q", weights, covariance, weights), atol=1e-8)
    assert np.allclose(spreads, (weights * (1 - weights)) @ spread(counts), atol=1e-5)


@pytest.mark.parametrize("cells", [1, 2, 8, 64])
def test_the_energy_of_a_cell_is_that_of_its_column(cells):
    """Of the inverse matrix; the same for every cell."""
    assert np.allclose((np.linalg.inv(haar_matrix(cells)) ** 2).sum(axis=1), cell_energy(cells))


def test_a_wavelet_costs_every_leaf_what_its_coefficients_do():
    """As many rates as coefficients are touched, exactly; more where leaves were measured, too."""
    wavelet = Wavelet(rows=4, columns=8, coefficients=NoisyValues.at_one_rate(np.zeros(32, np.int64), RATE))
    leaves = NoisyValues(
        values=np.zeros(3, np.int64), rates=(Fraction(1, 5),), rate_index=np.array([0, NOT_MEASURED, 0])
    )
    measurements = Measurements.of_wavelet(wavelet, cells=3)
    totals, denominator = rate_totals(measurements)
    assert [Fraction(int(total), denominator) for total in totals] == [12 * RATE] * 3

    both = Measurements(
        leaves=leaves, regions=measurements.regions, region_values=measurements.region_values, wavelet=wavelet
    )
    totals, denominator = rate_totals(both)
    assert [Fraction(int(total), denominator) for total in totals] == [
        12 * RATE + Fraction(1, 5),
        12 * RATE,
        12 * RATE + Fraction(1, 5),
    ]


@pytest.mark.parametrize(
    ("rows", "columns", "index", "words"),
    [
        pytest.param(3, 4, [0] * 12, "powers of two", id="three-rows"),
        pytest.param(0, 4, [], "powers of two", id="no-rows"),
        pytest.param(-2, -2, [0] * 4, "powers of two", id="negative"),
        pytest.param(2, 2, [0] * 3, "needs 4 coefficients", id="too-few"),
        pytest.param(2, 2, [0, 0, 1, 0], "all measured at one rate", id="two-rates"),
        pytest.param(2, 2, [NOT_MEASURED] * 4, "all measured at one rate", id="not-measured"),
    ],
)
def test_what_is_no_wavelet_is_refused(rows, columns, index, words):
    """A file that claims one contradicts itself."""
    measured = NoisyValues(
        values=np.zeros(len(index), np.int64), rates=(RATE, 2 * RATE), rate_index=np.array(index, dtype=np.int32)
    )
    with pytest.raises(ArgumentError, match=words):
        Wavelet(rows=rows, columns=columns, coefficients=measured)


def test_joined_measurements_keep_their_values_and_rates():
    """Joined values keep their rates, and what was not measured stays so."""
    parts = [
        NoisyValues.at_one_rate(np.array([1, 2]), Fraction(1, 2)),
        NoisyValues.nothing(1),
        NoisyValues.at_one_rate(np.array([4]), Fraction(1, 3)),
    ]
    joined = NoisyValues.joined(parts)

    assert joined.values.tolist() == [1, 2, 0, 4]
    assert np.array_equal(joined.variances, np.concatenate([part.variances for part in parts]))
