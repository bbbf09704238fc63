"""Priors from every kind of file, each held against a second way of computing."""

import hashlib
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rasterio
import shapely
from scipy.stats import norm

import hushgrid as hg
from hushgrid.errors import InputError
from hushgrid.geometry.quadrants import all_cells
from hushgrid.priors.opening import open_prior
from hushgrid.priors.places import SPREADS, blobs, located, places_prior
from hushgrid.priors.rasters import splat
from tests.public_files import geojson, geoparquet, geotiff

SQUARE = hg.Domain(west=0, south=0, east=8, north=4)
NORWAY = hg.Domain(west=500_000, south=6_600_000, east=700_000, north=6_800_000, crs="EPSG:32633")
LEVEL = 3
RNG = np.random.default_rng(2026)


def evidence(prior, level=LEVEL):
    """Evidence of all cells of one level."""
    quadrants = all_cells(SQUARE, level)
    return prior.evidence(quadrants.levels, quadrants.codes)


def bounds(domain=SQUARE, level=LEVEL):
    """Bounds of all cells of one level."""
    return all_cells(domain, level).bounds()


def in_cells(x, y, weights, domain=SQUARE, level=LEVEL):
    """Weights of points in each cell, one comparison at a time."""
    west, south, east, north = bounds(domain, level).T[:, :, None]
    last_x, last_y = (east == domain.east) & (x == east), (north == domain.north) & (y == north)
    inside = (x >= west) & ((x < east) | last_x) & (y >= south) & ((y < north) | last_y)
    return (inside * weights).sum(axis=1)


X, Y = RNG.uniform(-1, 9, 500), RNG.uniform(-1, 5, 500)
WEIGHTS = RNG.integers(0, 5, 500).astype(float)


@pytest.mark.parametrize("weight", [None, "people"])
@pytest.mark.parametrize("form", ["columns", "geoparquet", "geojson"])
def test_points_are_two_units_each_shared_by_their_weights(tmp_path, form, weight):
    shapes = shapely.points(X, Y)
    path = tmp_path / "points.parquet"
    if form == "geojson":
        path = geojson(tmp_path / "points.geojson", shapes, WEIGHTS.tolist())
    elif form == "geoparquet":
        geoparquet(path, shapes, {"people": WEIGHTS})
    else:
        pq.write_table(pa.table({"Lon": X, "Lat": Y, "people": WEIGHTS}), path)
    prior = open_prior(path, SQUARE, weight=weight)
    expected = in_cells(X, Y, 1.0 if weight is None else WEIGHTS)
    if weight is not None:  # as many points as the weights are worth
        expected *= expected.sum() / (WEIGHTS[(X >= 0) & (X <= 8) & (Y >= 0) & (Y <= 4)] ** 2).sum()
    assert prior.kind == "points"
    assert np.allclose(evidence(prior), 2 * expected, rtol=1e-12)


def test_it_names_the_file_and_its_digest(tmp_path):
    path = geojson(tmp_path / "stations.geojson", [shapely.Point(1, 1)], licence="CC BY 4.0")
    prior = open_prior(path, SQUARE)
    assert (prior.name, prior.licence) == ("stations.geojson", "CC BY 4.0")
    assert prior.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_parts_add_up_at_every_level(tmp_path):
    prior = open_prior(geojson(tmp_path / "p.geojson", shapely.points(X, Y)), SQUARE)
    for level in range(6):
        assert np.array_equal(evidence(prior, level), evidence(prior, level + 1).reshape(-1, 4).sum(axis=1))


def test_points_are_moved_to_the_system_of_the_domain(tmp_path):
    pyproj = pytest.importorskip("pyproj")
    move = pyproj.Transformer.from_crs(NORWAY.crs, "OGC:CRS84", always_xy=True)
    x, y = RNG.uniform(450_000, 750_000, 300), RNG.uniform(6_550_000, 6_850_000, 300)
    path = geoparquet(tmp_path / "p.parquet", shapely.points(*move.transform(x, y)))
    prior, cells = open_prior(path, NORWAY), all_cells(NORWAY, LEVEL)
    assert np.array_equal(prior.evidence(cells.levels, cells.codes), 2 * in_cells(x, y, 1.0, NORWAY))


def test_the_parts_of_a_multipoint_share_its_weight(tmp_path):
    path = geojson(tmp_path / "p.geojson", [shapely.MultiPoint([(1, 1), (7, 3)])], [3.0])
    prior = open_prior(path, SQUARE, weight="people")
    assert evidence(prior, 1).tolist() == [2, 0, 0, 2]


SHAPES = (
    shapely.Polygon([(0.3, 0.2), (5.1, 1.0), (2.2, 3.7)]),
    shapely.Point(6, 2).buffer(1.5).difference(shapely.Point(6, 2).buffer(0.7)),
    shapely.box(7.5, 3.5, 9.5, 4.5),  # a quarter of it lies in the domain
    shapely.MultiPolygon([shapely.box(0, 3, 1, 4), shapely.box(3, 0, 4, 1)]),
)
OF_SHAPES = (5.0, 2.0, 8.0, 1.0)


def shares_by_shapely(weights):
    """Shares of areas by shapely, cell by cell."""
    shares = [
        [shapely.intersection(shape, shapely.box(*box)).area / shape.area for box in bounds()] for shape in SHAPES
    ]
    return 2 * np.array(weights) @ np.array(shares)


@pytest.mark.parametrize("weight", [None, "people"])
@pytest.mark.parametrize("write", [geojson, geoparquet])
def test_weights_are_spread_by_area(tmp_path, write, weight):
    weights = list(OF_SHAPES)
    path = tmp_path / ("p.geojson" if write is geojson else "p.parquet")
    write(path, SHAPES, weights if write is geojson else {"people": weights})
    prior = open_prior(path, SQUARE, weight=weight)
    assert prior.kind == "polygons"
    assert np.allclose(evidence(prior), shares_by_shapely([1] * 4 if weight is None else weights), atol=1e-9)


def test_what_no_polygon_covers_has_no_evidence(tmp_path):
    prior = open_prior(geojson(tmp_path / "p.geojson", [shapely.box(1, 1, 3, 2)]), SQUARE)
    cells = bounds()
    beside = (cells[:, 0] >= 3) | (cells[:, 2] <= 1) | (cells[:, 1] >= 2) | (cells[:, 3] <= 1)
    assert (evidence(prior)[beside] == 0).all()


def test_polygons_and_points_together_are_refused(tmp_path):
    path = geojson(tmp_path / "p.geojson", [shapely.box(1, 1, 3, 2), shapely.Point(1, 1)])
    with pytest.raises(InputError, match="points alone, or polygons alone"):
        open_prior(path, SQUARE)


PIXELS = RNG.gamma(0.5, 20, (11, 17))


def overlaps(box, pixels):
    """Sums over cells by the overlap of every pair of pixel and cell."""
    rows, columns = pixels.shape
    (west, south, east, north), total = box, np.zeros(4**LEVEL)
    width, height = (east - west) / columns, (north - south) / rows
    for row, column in product(range(rows), range(columns)):
        pixel = shapely.box(
            west + column * width, north - (row + 1) * height, west + (column + 1) * width, north - row * height
        )
        for cell, cell_box in enumerate(bounds()):
            total[cell] += pixels[row, column] * shapely.intersection(pixel, shapely.box(*cell_box)).area
    return total / (width * height)


@pytest.mark.parametrize("box", [(0, 0, 8, 4), (-1.3, -0.7, 9.1, 4.9), (2.1, 1.3, 5.3, 6.2)])
def test_a_pixel_is_divided_by_area(tmp_path, box):
    prior = open_prior(geotiff(tmp_path / "p.tif", PIXELS, box), SQUARE)
    assert (prior.kind, prior.licence) == ("raster", "CC0")
    assert np.allclose(evidence(prior), 2 * overlaps(box, PIXELS), rtol=1e-9, atol=1e-7)


def test_blocks_of_rows_join(tmp_path, monkeypatch):
    path = geotiff(tmp_path / "p.tif", PIXELS, (-1.3, -0.7, 9.1, 4.9))
    at_once = evidence(open_prior(path, SQUARE))
    monkeypatch.setattr("hushgrid.priors.rasters.PIXELS_AT_ONCE", 40)
    assert np.allclose(evidence(open_prior(path, SQUARE)), at_once)


def test_pixels_without_data_hold_nobody(tmp_path):
    holes = PIXELS.copy()
    holes[2:5, 3:9] = -200
    path = geotiff(tmp_path / "p.tif", holes, (0, 0, 8, 4), nodata=-200)
    filled = np.where(holes < 0, 0, holes)
    assert np.allclose(evidence(open_prior(path, SQUARE)), 2 * overlaps((0, 0, 8, 4), filled))


def test_pixels_are_counts_by_the_scale_and_offset_of_their_band(tmp_path):
    """Where there is no data there is nobody, whatever the offset says."""
    stored = np.where(PIXELS < 3, np.nan, PIXELS)
    path = geotiff(tmp_path / "p.tif", stored, (0, 0, 8, 4), nodata=np.nan)
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5,), (7.0,)
    counts = np.where(PIXELS < 3, 0, PIXELS / 2 + 7)
    assert np.allclose(evidence(open_prior(path, SQUARE)), 2 * overlaps((0, 0, 8, 4), counts))


def test_another_system_keeps_sums(tmp_path):
    pyproj = pytest.importorskip("pyproj")
    box, pixels = (14.5, 59.6, 19.0, 61.2), RNG.gamma(2, 20, (160, 225)).astype("float32")
    prior, cells = open_prior(geotiff(tmp_path / "p.tif", pixels, box), NORWAY), all_cells(NORWAY, LEVEL)
    found = prior.evidence(cells.levels, cells.codes)
    # Each pixel as 100 points that are moved one by one.
    longitudes = np.linspace(box[0], box[2], 2250, endpoint=False) + (box[2] - box[0]) / 4500
    latitudes = np.linspace(box[3], box[1], 1600, endpoint=False) - (box[3] - box[1]) / 3200
    move = pyproj.Transformer.from_crs("OGC:CRS84", NORWAY.crs, always_xy=True)
    x, y = (part.ravel() for part in move.transform(*np.meshgrid(longitudes, latitudes)))
    weights = np.repeat(np.repeat(pixels, 10, axis=0), 10, axis=1).ravel() / 100
    edges = np.linspace(NORWAY.west, NORWAY.east, 9), np.linspace(NORWAY.south, NORWAY.north, 9)
    expected = np.histogram2d(y, x, bins=edges[::-1], weights=weights)[0]
    row, column = np.divmod(np.arange(64), 8)
    codes = cells.bounds()
    order = np.lexsort((codes[:, 0], codes[:, 1]))
    assert np.allclose(found[order], 2 * expected[row, column], rtol=0.01, atol=2)
    assert found.sum() == pytest.approx(2 * expected.sum(), rel=1e-3)


def test_a_domain_that_crosses_the_180th_meridian(tmp_path):
    """Alaska, with the islands to its west: pixels of both ends of a raster of the world."""
    pyproj = pytest.importorskip("pyproj")
    alaska = hg.Domain(west=-2_200_000, south=400_000, east=1_500_000, north=2_400_000, crs="EPSG:3338")
    pixels = RNG.gamma(2, 20, (360, 720))
    prior = open_prior(geotiff(tmp_path / "p.tif", pixels, (-180, -90, 180, 90)), alaska)

    east, north = np.meshgrid(np.linspace(-179.75, 179.75, 720), np.linspace(89.75, -89.75, 360))
    x, y = pyproj.Transformer.from_crs("EPSG:4326", alaska.crs, always_xy=True).transform(east, north)
    quarters = all_cells(alaska, 1)
    held = prior.evidence(quarters.levels, quarters.codes)
    near = np.abs(east) > 120  # the other side of the Earth is moved somewhere, too
    assert np.allclose(held, 2 * in_cells(x[near], y[near], pixels[near], alaska, 1), rtol=0.02)


def test_points_are_shared_and_none_is_lost():
    places, masses = RNG.uniform([0, 0], [8, 4], (200, 2)), RNG.gamma(1, 1, 200)
    assert splat(places, masses, SQUARE, 16).sum() == pytest.approx(masses.sum())


def released(tmp_path, method="ug", **options):
    """A release of a few points, in a file."""
    points = RNG.uniform([0, 0], [8, 4], (400, 2))
    release = hg.publish(points, domain=SQUARE, epsilon=2, method=method, **options)
    release.save(tmp_path / "old.dp.parquet")
    return release


@pytest.mark.parametrize("method", [hg.UniformGrid(side=5), hg.AdaptiveGrid(), "staq"])
def test_its_answers_are_the_prior(tmp_path, method):
    release = released(tmp_path, method)
    table = release.cells()
    counts = np.maximum(table["count"].to_numpy(), 0)
    expected = np.zeros(4**LEVEL)
    for west, south, east, north, count in zip(
        *(table[side] for side in ("west", "south", "east", "north")), counts, strict=True
    ):
        cell = shapely.box(*(side.as_py() for side in (west, south, east, north)))
        expected += [count * shapely.intersection(cell, shapely.box(*box)).area / cell.area for box in bounds()]
    found = evidence(open_prior(tmp_path / "old.dp.parquet", SQUARE))
    tolerance = 40 if method == "staq" else 1e-6  # its cells slope
    assert np.allclose(found, 2 * 2 * expected, atol=tolerance)
    assert found.sum() == pytest.approx(2 * 2 * counts.sum())


def test_a_record_of_a_user_counts_less(tmp_path):
    users = np.arange(400) // 2
    release = released(tmp_path, hg.UniformGrid(side=4), user=users, max_per_user=2)
    prior = open_prior(tmp_path / "old.dp.parquet", SQUARE)
    assert evidence(prior, 0)[0] == pytest.approx(2 * 2 / 2 * np.maximum(release.counts, 0).sum())


def test_areas_hold_their_counts_evenly(tmp_path):
    areas = [shapely.box(0, 0, 4, 4), shapely.box(4, 0, 8, 4)]
    release = released(tmp_path, hg.Areas(areas, names=["west", "east"]))
    found = evidence(open_prior(tmp_path / "old.dp.parquet", SQUARE))
    west = bounds()[:, 0] < 4
    expected = np.where(west, *(np.maximum(release.counts, 0) / 32))
    assert np.allclose(found, 2 * 2 * expected)


def test_it_may_be_in_another_system(tmp_path):
    town = hg.Domain(west=14.5, south=59.6, east=19, north=61.2)
    points = RNG.uniform([14.5, 59.6], [19, 61.2], (2000, 2))
    release = hg.publish(points, domain=town, epsilon=2, method=hg.UniformGrid(side=40))
    release.save(tmp_path / "old.dp.parquet")
    prior, cells = open_prior(tmp_path / "old.dp.parquet", NORWAY), all_cells(NORWAY, 1)
    found = prior.evidence(cells.levels, cells.codes)
    move = pytest.importorskip("pyproj").Transformer.from_crs(NORWAY.crs, "OGC:CRS84", always_xy=True)
    moved = shapely.transform(shapely.box(*cells.bounds().T), lambda at: np.stack(move.transform(*at.T), axis=1))
    assert prior.kind == "release"
    assert np.allclose(found, 2 * 2 * release.count_polygons(moved), rtol=0.1)


def test_a_simulation_is_refused(tmp_path):
    made_up = hg.publish([[1, 1]], domain=SQUARE, epsilon=1, rng=hg.simulation_rng(1))
    made_up.save(tmp_path / "s.dp.parquet", allow_simulation=True)
    with pytest.raises(InputError, match="simulation"):
        open_prior(tmp_path / "s.dp.parquet", SQUARE)


def test_blobs_are_two_gaussians_around_each_place():
    degrees = np.array([[1.0, 1.0], [5.5, 3.2], [8.02, 2.0]])  # one just outside
    weights = np.array([1.0, 3.0, 2.0])
    found = located(degrees, weights, SQUARE)
    pixels = blobs(found, SQUARE)
    side = len(pixels)
    expected = np.zeros((side, side))
    edges_x, edges_y = np.linspace(0, 8, side + 1), np.linspace(0, 4, side + 1)
    for (x, y), unit, weight in zip(degrees, found.kilometres, weights, strict=True):
        for spread in SPREADS:
            across, along = (
                np.diff(norm.cdf(edges, at, spread * size))
                for edges, at, size in ((edges_x, x, unit[0]), (edges_y, y, unit[1]))
            )
            expected += weight * np.outer(along, across) / 2
    assert np.allclose(pixels, expected, atol=1e-4)
    assert pixels.sum() == pytest.approx(expected.sum(), rel=1e-3)


def test_a_kilometre_is_as_long_as_the_system_has_it():
    degrees = np.array([[15.0, 60.0], [15.0, 30.0]])
    metres = located(degrees, np.ones(2), NORWAY).kilometres
    assert np.allclose(metres, 1000, rtol=0.006)  # of an ellipsoid, and a scale of .9996
    mercator = hg.Domain(west=1e6, south=3e6, east=2e6, north=9e6, crs="EPSG:3857")
    stretched = located(degrees, np.ones(2), mercator).kilometres
    assert np.allclose(stretched, 1000 / np.cos(np.radians(degrees[:, 1:])), rtol=0.006)


def test_the_bundled_ones_are_many_where_people_are():
    prior = places_prior(hg.Domain(west=-8, south=49.5, east=2, north=61))
    assert prior.licence is not None
    south, north = prior.evidence(np.array([1, 1]), np.array([1, 3]))
    assert south > 3 * north > 0
