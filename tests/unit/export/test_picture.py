"""Pictures of what a release knows: every count drawn once, no noise as texture, no dense place as a hole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.export import picture as module
from hushgrid.export.picture import Picture, row_sizes, smoothly_halved
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from tests.synopses import synopsis_on

SQUARE = Domain(west=0, south=0, east=1, north=1, crs="EPSG:32618")
WORLD = Domain(west=-180, south=-90, east=180, north=90)
SIDE = 32
RNG = np.random.default_rng(7)


def on_grid(values, domain=SQUARE):
    """A release of one grid, its noise of scale 1."""
    values = np.asarray(values, dtype=float)
    return synopsis_on(Grid(domain=domain, rows=values.shape[0], columns=values.shape[1]), values=values.ravel())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-30, 3000), min_size=64, max_size=64), st.sampled_from([SQUARE, WORLD]))
def test_every_count_is_drawn_once(counts, domain):
    """Densities over the ground sum to the release's total, or to nothing where that is below zero."""
    synopsis = on_grid(np.reshape(counts, (8, 8)), domain)
    drawn = Picture.of(synopsis, longest=64)
    grid = drawn.layers[-1].grid

    assert (drawn.paint() >= 0).all()
    assert (drawn.paint() * row_sizes(grid)[:, None]).sum() == pytest.approx(max(synopsis.total, 0), abs=1e-6)


def test_layers_tile_the_domain():
    """Every place is in one painted block, of whatever size."""
    drawn = Picture.of(on_grid(RNG.poisson(2, (SIDE, SIDE)) ** 3), longest=SIDE)
    last = drawn.layers[-1].grid
    times = np.zeros((last.rows, last.columns))
    for layer in drawn.layers:
        painted = np.isin(np.arange(layer.grid.cells), layer.blocks).reshape(layer.grid.rows, layer.grid.columns)
        times += np.kron(painted, np.ones((last.rows // layer.grid.rows, last.columns // layer.grid.columns)))

    assert (times == 1).all()


def noise_alone(seed):
    """How much darker the darkest place is than the mean, of cells that hold noise about a small mean."""
    noise = np.random.default_rng(seed).laplace(0.3, 1.0, (SIDE, SIDE))
    densities = Picture.of(on_grid(np.round(noise)), longest=SIDE).paint()
    return densities.max() / densities.mean()


def test_noise_is_no_texture(monkeypatch):
    """It is painted nearly flat; negative control: it is not where each known block counts as sure."""
    smooth = np.median([noise_alone(seed) for seed in range(6)])
    monkeypatch.setattr(module, "SURE", module.KNOWN)

    assert smooth < 3
    assert noise_alone(0) > 10


def test_the_densest_place_is_the_darkest_and_far_from_it_nothing_is_drawn():
    """A town in an empty land, though most of its cells are not sure by themselves."""
    values = np.round(RNG.laplace(0, 1.0, (SIDE, SIDE)))
    values[4:12, 4:12] += 8
    values[6:8, 6:8] += 200
    densities = Picture.of(on_grid(values), longest=SIDE).paint()
    row, column = np.unravel_index(densities.argmax(), densities.shape)

    assert (row in (6, 7), column in (6, 7)) == (True, True)
    assert densities[4:12, 4:12].min() > 0
    assert densities[20:, 20:].max() < densities[4:12, 4:12].mean() / 5


def test_blocks_are_no_finer_than_the_cells_there():
    """Though all is known: a cell of four is divided into 8 x 8, and the other three stay one block each."""
    nested = NestedGrid(grid=Grid(domain=SQUARE, rows=2, columns=2), sides=np.array([8, 1, 1, 1]))
    drawn = Picture.of(synopsis_on(nested, values=np.full(64 + 3, 5000.0)), longest=256)

    assert {layer.grid.rows: len(layer.blocks) for layer in drawn.layers if len(layer.blocks)} == {2: 3, 16: 64}
    assert drawn.layers[-1].grid.rows == 256


@pytest.mark.parametrize(("side", "blocks"), [(64, 64), (60, 64), (90, 64), (92, 128)])
def test_blocks_of_a_grid_are_about_as_large_as_its_cells(side, blocks):
    """The smallest ones are never more than twice as large, or half."""
    drawn = Picture.of(on_grid(np.full((side, side), 5000)), longest=512)

    assert max(layer.grid.rows for layer in drawn.layers if len(layer.blocks)) == blocks


def steepest():
    """The largest step from one column to the next, over the mean, where true densities rise by and by."""
    steps = []
    for seed in range(8):
        noise = np.random.default_rng(seed).laplace(np.linspace(0.2, 1.5, SIDE), 1.0, (SIDE, SIDE))
        columns = Picture.of(on_grid(np.round(noise)), longest=SIDE).paint().mean(axis=0)
        steps.append(np.abs(np.diff(columns)).max() / columns.mean())
    return np.median(steps)


def test_what_is_not_known_rises_as_the_densities_around_do(monkeypatch):
    """Negative control: spread evenly over each block, it has steeper edges where the next one begins."""
    smooth = steepest()
    monkeypatch.setattr(module._Around, "expected", lambda _, blocks: np.ones(len(blocks)))

    assert smooth < 0.95 * steepest()


def test_a_town_is_found_where_blocks_are_asked_only_within_known_ones():
    """Finer than all blocks that are asked everywhere, and still every count is drawn once."""
    side = 2 * module.ASKED_EVERYWHERE
    values = np.zeros((side, side))
    values[100:140, 300:340] = 50
    values[121, 333] = 5000
    drawn = Picture.of(on_grid(values), longest=side).paint()

    assert np.unravel_index(drawn.argmax(), drawn.shape) == (121, 333)
    assert drawn.mean() == pytest.approx(values.sum(), rel=1e-6)


def test_halving_keeps_the_mean_and_makes_no_new_extremes():
    """Of any densities."""
    densities = RNG.exponential(size=(5, 9))
    halved = smoothly_halved(densities)

    assert halved.shape == (10, 18)
    assert halved.mean() == pytest.approx(densities.mean())
    assert (halved.min() >= densities.min(), halved.max() <= densities.max()) == (True, True)


def test_blocks_look_square():
    """On the ground, whatever the shape of the domain."""
    nordic = Domain(west=10, south=59, east=12, north=60.0)
    grid = Picture.of(on_grid(np.full((4, 4), 500), nordic), longest=64).layers[-1].grid
    width, height = 2 / grid.columns * np.cos(np.radians(59.5)), 1 / grid.rows

    assert 0.7 < width / height < 1.5


def test_the_poles_are_not_dark():
    """What is not known is spread over the ground, of which there is little at the poles."""
    values = np.zeros((16, 32))
    values[6:10] = 40
    densities = Picture.of(on_grid(values, WORLD), longest=128).paint()

    assert densities[[0, -1]].max() <= densities[24:40].min()
