"""`hg.Areas.h3`: releases on H3 cells, flat and in levels, and the files they make."""

import io
import json
from collections import Counter

import geopandas
import h3
import numpy as np
import pyarrow.csv
import pytest
from shapely import box
from shapely.geometry import shape

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.export.vectors import write_csv, write_geojson, write_gpkg
from hushgrid.files.release import columns_of
from hushgrid.files.verify import verify_file
from hushgrid.release.request import ReleaseRequest
from tests.tampering import tamper

DOMAIN = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
CERTAIN = 10**7  # noise at this rate is zero


@pytest.fixture(scope="module")
def points():
    """Points well inside cells of resolution 8, more in some than in others."""
    rng = np.random.default_rng(5)
    places = np.stack([rng.normal(-73.98, 0.05, 3000), rng.normal(40.72, 0.05, 3000)], axis=1)
    cells = [h3.latlng_to_cell(north, east, 8) for east, north in places.tolist()]
    return np.array([h3.cell_to_latlng(cell)[::-1] for cell in cells]) + rng.uniform(-5e-4, 5e-4, (3000, 2))


@pytest.fixture(scope="module")
def said(points):
    """The cell of resolution 8 that h3 says for each point."""
    return [h3.latlng_to_cell(north, east, 8) for east, north in points.tolist()]


def publish(points, method, *, epsilon=CERTAIN):
    """A simulated release."""
    return hg.publish(points, domain=DOMAIN, epsilon=epsilon, method=method, rng=hg.simulation_rng(2))


def test_every_point_is_counted_in_its_cell(points, said):
    """Cells without points are there, too."""
    synopsis = publish(points, hg.Areas.h3(8))
    counts = dict(zip(synopsis.partition.names, synopsis.counts.tolist(), strict=True))

    assert {name: count for name, count in counts.items() if count} == Counter(said)
    assert len(counts) > len(set(said))


def test_levels_are_the_parents_of_h3(points, said):
    """A coarse cell is the sum of the cells whose parent it is, under noise too; children follow one another."""
    exactly, noisy = (publish(points, hg.Areas.h3(5, 7, 8), epsilon=epsilon) for epsilon in (CERTAIN, 1))
    partition = exactly.partition

    assert partition.level_names == ["h3:5", "h3:7", "h3:8"]
    for resolution in (5, 7):
        table = exactly.table(f"h3:{resolution}").to_pydict()
        expected = Counter(h3.cell_to_parent(cell, resolution) for cell in said)
        assert {name: count for name, count in zip(table["name"], table["estimate"], strict=True) if round(count)} == (
            pytest.approx(dict(expected))
        )
        sums = Counter()
        for name, count in zip(partition.names, noisy.counts.tolist(), strict=True):
            sums[h3.cell_to_parent(name, resolution)] += count
        coarse = noisy.table(f"h3:{resolution}").to_pydict()
        assert dict(zip(coarse["name"], coarse["estimate"], strict=True)) == pytest.approx(dict(sums), abs=1e-6)


def test_a_release_goes_through_its_file(points, tmp_path):
    """It comes back whole, nothing in it contradicts the rest, and other tools find the column they look for."""
    path = tmp_path / "cells.dp.parquet"
    synopsis = hg.publish(points, domain=DOMAIN, epsilon=1, method=hg.Areas.h3(4, 6))
    synopsis.save(path)
    back, frame = hg.read(path), geopandas.read_parquet(path)

    assert back.partition == synopsis.partition
    assert np.array_equal(back.counts, synopsis.counts)
    assert verify_file(path).ok
    assert frame["h3"].tolist() == list(synopsis.partition.names)
    assert all(map(h3.is_valid_cell, frame["h3"]))
    assert back.partition.words == "83 H3 cells, in 4 of level h3:4"


def test_an_index_that_is_not_the_name_is_found(points, tmp_path):
    """Somebody exchanged the indexes, and left the names."""
    path = tmp_path / "cells.dp.parquet"
    synopsis = hg.publish(points, domain=DOMAIN, epsilon=1, method=hg.Areas.h3(5))
    synopsis.save(path)
    tamper(
        path, columns={"h3": synopsis.partition.names[::-1]}, schema=columns_of(synopsis.partition, synopsis.inference)
    )

    assert [check.name for check in verify_file(path).checks if not check.ok] == ["names"]


def test_exports_have_the_index(points, tmp_path):
    """CSV, GeoJSON and GeoPackage, in a column or a property called h3."""
    synopsis = hg.publish(points, domain=DOMAIN, epsilon=1, method=hg.Areas.h3(6))
    csv, geojson, gpkg = io.BytesIO(), io.BytesIO(), io.BytesIO()
    write_csv(synopsis, csv)
    write_geojson(synopsis, geojson)
    write_gpkg(synopsis, gpkg)
    (tmp_path / "cells.gpkg").write_bytes(gpkg.getvalue())
    names = list(synopsis.partition.names)

    assert pyarrow.csv.read_csv(io.BytesIO(csv.getvalue()))["h3"].to_pylist() == names
    assert [each["properties"]["h3"] for each in json.loads(geojson.getvalue())["features"]] == names
    assert geopandas.read_file(tmp_path / "cells.gpkg")["h3"].tolist() == names
    assert synopsis.cells()["h3"].to_pylist() == names


def test_cells_of_the_whole_earth_are_exported(points):
    """Those at the poles and on both sides of the 180th meridian, too; each within the degrees that there are."""
    world = hg.Domain(west=-180, south=-90, east=180, north=90)
    synopsis = hg.publish(points, domain=world, epsilon=1, method=hg.Areas.h3(0))
    out = io.BytesIO()
    write_geojson(synopsis, out)
    shapes = [shape(each["geometry"]) for each in json.loads(out.getvalue())["features"]]

    assert len(shapes) == 122
    assert all(each.is_valid for each in shapes)
    assert sum(each.area for each in shapes) == pytest.approx(360 * 180)
    assert any(len(each.geoms) == 2 for each in shapes)
    assert sum(each.bounds[3] == 90 for each in shapes) == 1


def test_a_domain_of_their_own(points):
    """Cells then fill that, whatever the domain of the release is, as long as it holds them."""
    inner = hg.Domain(west=-74.1, south=40.6, east=-73.9, north=40.8)
    areas = hg.Areas.h3(7, domain=inner)

    assert areas.domain() == inner
    assert areas.public_partition(DOMAIN).sizes.sum() == pytest.approx(inner.width * inner.height)
    with pytest.raises(ArgumentError, match="reaches outside the domain"):
        hg.Areas.h3(7, domain=DOMAIN).public_partition(inner)
    with pytest.raises(ArgumentError, match=r"H3 cells cover any domain\. Give one"):
        hg.Areas.h3(7).domain()


@pytest.mark.parametrize(
    ("resolutions", "complaint"),
    [
        ((), "need a resolution, such as 8"),
        ((16,), "whole number from 0 to 15, got 16"),
        ((-1, 5), "whole number from 0 to 15, got -1"),
        ((7.5,), r"whole number from 0 to 15, got 7\.5"),
        (("8",), "whole number from 0 to 15, got '8'"),
        ((8, 5), r"from coarse to fine, got h3:8,5\. Take h3:5,8"),
        ((5, 5, 8), r"got h3:5,5,8\. Take h3:5,8"),
    ],
)
def test_resolutions_that_are_none(resolutions, complaint):
    """They are refused as soon as they are given."""
    with pytest.raises(ArgumentError, match=complaint):
        hg.Areas.h3(*resolutions)


def test_domains_are_refused_before_points_are_read():
    """Those in metres, and those of too many cells: the file of points need not even exist."""
    metres = hg.Domain(west=5e5, south=4.4e6, east=6e5, north=4.5e6, crs="EPSG:32618")
    with pytest.raises(ArgumentError, match="longitude and latitude, got one in EPSG:32618"):
        hg.publish("none.parquet", domain=metres, epsilon=1, method=hg.Areas.h3(6))
    with pytest.raises(ArgumentError, match=r"over the limit of 65,536\. Take h3:9"):
        hg.publish("none.parquet", domain=DOMAIN, epsilon=1, method=hg.Areas.h3(13))


def test_a_ledger_tells_requests_apart():
    """By resolutions, by the domain of the cells, and by the shares of levels, for areas of any kind."""
    squares = {"geometry": [box(-74, 40.6, -73.9, 40.7), box(-74, 40.7, -73.9, 40.8)], "a": ["1", "1"], "b": ["1", "2"]}
    methods = [
        hg.Areas(squares, levels=["a", "b"]),
        hg.Areas(squares, levels=["a", "b"], shares=[0.5, 0.5]),
        hg.Areas(squares, levels=["a", "b"], shares=[0.25, 0.75]),
        hg.Areas.h3(6),
        hg.Areas.h3(5, 6),
        hg.Areas.h3(5, 6, shares=[0.5, 0.5]),
        hg.Areas.h3(5, 6, shares=["1/4", "3/4"]),
        hg.Areas.h3(6, domain=DOMAIN),
    ]
    keys = {ReleaseRequest.of(domain=DOMAIN, epsilon=1, method=each).for_ledger("trips").key for each in methods}
    same = ReleaseRequest.of(domain=DOMAIN, epsilon=1, method=hg.Areas.h3(5, 6, shares=["0.25", 0.75]))

    assert len(keys) == len(methods)
    assert same.for_ledger("trips").key in keys


def test_shares_of_one_level_are_refused():
    """There is nothing to divide."""
    with pytest.raises(ArgumentError, match="shares divides the budget among levels, and there is only one"):
        hg.Areas.h3(6, shares=[1])
