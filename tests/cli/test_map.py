"""`hushgrid map`: a release as a page."""

import json
from pathlib import Path

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.cli.commands import Run, assert_refused
from tests.web.districts import district_release


def test_a_page_is_written_and_named(run: Run, release: Path) -> None:
    """The path alone on stdout; the page is the library's, headed by the name of the file."""
    result = run("map", release, "-o", "trips.html")

    assert result.exit_code == 0, result.output
    assert result.stdout == "trips.html\n"
    assert Path("trips.html").read_text(encoding="utf-8") == map_page(hg.read(release), title="trips")


def test_an_overlay_is_drawn(run: Run, release: Path) -> None:
    """The names of its areas are in the page."""
    ring = [[-74, 40.6], [-73.9, 40.6], [-73.9, 40.8], [-74, 40.6]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    Path("areas.geojson").write_text(
        json.dumps({"type": "Feature", "properties": {"name": "Harbour"}, "geometry": geometry})
    )

    assert run("map", release, "-o", "trips.html", "--overlay", "areas.geojson").exit_code == 0
    assert "Harbour" in Path("trips.html").read_text(encoding="utf-8")


def test_areas_of_an_overlay_are_named_by_a_property(run: Run, release: Path) -> None:
    """The property is asked for by name; without an overlay there is nothing to name."""
    ring = [[-74, 40.6], [-73.9, 40.6], [-73.9, 40.8], [-74, 40.6]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    Path("areas.geojson").write_text(
        json.dumps({"type": "Feature", "properties": {"borough": "Harbour"}, "geometry": geometry})
    )
    overlay = ("--overlay", "areas.geojson")

    assert run("map", release, "-o", "trips.html", *overlay, "--area-name", "borough").exit_code == 0
    assert "Harbour" in Path("trips.html").read_text(encoding="utf-8")
    assert_refused(run("map", release, "-o", "other.html", *overlay, "--area-name", "name"), 3, "borough")
    assert_refused(run("map", release, "-o", "other.html", "--area-name", "name"), 2, "--overlay")


def test_a_release_on_areas_has_a_page(run: Run) -> None:
    """With the names of its areas in it."""
    district_release().save("districts.dp.parquet")

    assert run("map", "districts.dp.parquet", "-o", "districts.html").exit_code == 0
    assert "county 8" in Path("districts.html").read_text(encoding="utf-8")


def test_a_page_is_not_replaced_unless_asked(run: Run, release: Path) -> None:
    """The exit code is 2, and the old page stays."""
    Path("trips.html").write_text("mine")

    assert_refused(run("map", release, "-o", "trips.html"), 2, "trips.html", "--overwrite")
    assert Path("trips.html").read_text() == "mine"
    assert run("map", release, "-o", "trips.html", "--overwrite").exit_code == 0


def test_what_cannot_be_read_is_refused(run: Run, release: Path) -> None:
    """A missing release and a bad overlay are bad input; nothing is written."""
    Path("areas.geojson").write_text("{}")

    assert_refused(run("map", "no.parquet", "-o", "trips.html"), 3, "no.parquet")
    assert_refused(run("map", release, "-o", "trips.html", "--overlay", "areas.geojson"), 3, "overlay")
    assert not Path("trips.html").exists()


def test_a_simulation_is_warned_of_and_marked(run: Run, simulated: Path) -> None:
    """A warning is on stderr, and a mark in the page."""
    result = run("map", simulated, "-o", "trips.html")

    assert "simulation" in result.stderr
    assert "Simulation" in Path("trips.html").read_text(encoding="utf-8")


def test_a_page_has_the_title_and_description_it_is_given(run: Run, release: Path) -> None:
    """They are those of the library's page."""
    words = ("--title", "Trips & more", "--description", "A day in spring.")

    assert run("map", release, "-o", "trips.html", *words).exit_code == 0
    expected = map_page(hg.read(release), title="Trips & more", description="A day in spring.")
    assert Path("trips.html").read_text(encoding="utf-8") == expected


def test_a_basemap_is_warned_of(run: Run, release: Path) -> None:
    """The tile server learns what is looked at; without a basemap there is no such word."""
    tiles = ("--basemap", "https://tiles.example.org/{z}/{x}/{y}.png", "--basemap-credit", "© The Mappers")
    result = run("map", release, "-o", "trips.html", *tiles)

    assert result.exit_code == 0, result.output
    assert "warning: the page needs the network, and tiles.example.org learns" in result.stderr
    assert "© The Mappers" in Path("trips.html").read_text(encoding="utf-8")
    assert "network" not in run("map", release, "-o", "other.html").stderr


def test_a_basemap_that_cannot_be_is_refused(run: Run, release: Path) -> None:
    """Several hosts, a credit for nothing; nothing is written."""
    several = "https://{s}.example.org/{z}/{x}/{y}.png"

    assert_refused(run("map", release, "-o", "trips.html", "--basemap", several), 2, "{s}")
    assert_refused(run("map", release, "-o", "trips.html", "--basemap-credit", "me"), 2, "--basemap")
    assert not Path("trips.html").exists()
