"""What map software is told about a release."""

import json
import sys

import pyproj
import pytest

from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.files.geo import describes, geo_metadata
from hushgrid.geometry.domain import Domain

DEGREES = {"west": 0, "south": 0, "east": 2, "north": 1}


@pytest.mark.parametrize("crs", ["OGC:CRS84", "EPSG:4326"])
def test_longitude_and_latitude_need_no_reference_system(crs):
    """GeoParquet assumes longitude and latitude, in this order, where nothing is said."""
    metadata = geo_metadata(Domain(**DEGREES, crs=crs))

    assert "crs" not in metadata["columns"]["geometry"]


def test_other_reference_systems_are_spelled_out():
    """PROJ reads back the reference system that was meant."""
    metadata = geo_metadata(Domain(west=5e5, south=4e6, east=6e5, north=5e6, crs="EPSG:32618"))

    assert pyproj.CRS.from_json_dict(metadata["columns"]["geometry"]["crs"]) == pyproj.CRS("EPSG:32618")


def test_unknown_reference_systems_are_refused():
    """A domain in a reference system nobody knows cannot be put on a map."""
    with pytest.raises(ArgumentError, match="crs='EPSG:0'"):
        geo_metadata(Domain(**DEGREES, crs="EPSG:0"))


def test_without_pyproj_the_way_out_is_named(monkeypatch):
    """The error names the extra to install."""
    monkeypatch.setitem(sys.modules, "pyproj", None)

    with pytest.raises(MissingExtraError, match=r"hushgrid\[gis\]"):
        geo_metadata(Domain(**DEGREES, crs="EPSG:32618"))


@pytest.mark.parametrize("domain", [Domain(**DEGREES), Domain(**DEGREES, crs="EPSG:32618")], ids=["degrees", "metres"])
def test_metadata_describe_their_own_domain_only(domain):
    """A moved domain, a lost reference system or no JSON at all are noticed."""
    text = json.dumps(geo_metadata(domain)).encode()
    other = Domain(**{**DEGREES, "east": 3}, crs=domain.crs)

    assert describes(text, domain)
    assert not describes(text, other)
    assert not describes(text, Domain(**DEGREES, crs="EPSG:3857" if domain.is_geographic else "OGC:CRS84"))
    assert not any(describes(damaged, domain) for damaged in (b"", b"[]", b"\xff", text[:-1], b"[" * 100_000))
