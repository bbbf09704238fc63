"""The page of a change: what it holds, without a browser."""

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.web.change import CHANGE_MODULES, change_page, polygon_places, usual_places
from tests.web.pages import DOMAIN, MODULES, NODE, facts_of, needs_node, some_points

HOSTILE = "</script><img src=x onerror=alert(1)>"
SQUARES = [shapely.box(-110, 30, -100, 40), None, shapely.box(-90, 25, -70, 35)]


def release(seed, *, method="ag", more=0):
    """A release of some points, and of more in the south-east."""
    extra = np.random.default_rng(seed).normal([-80, 30], 0.3, (more, 2))
    points = np.concatenate([some_points(), extra])
    return hg.publish(points, domain=DOMAIN, epsilon=1, method=method, calibrate=False, rng=hg.simulation_rng(seed))


@pytest.fixture(scope="module")
def change():
    """Two releases, in the second of which the south-east has more than doubled."""
    return hg.compare(release(1), release(2, more=3000))


@pytest.fixture(scope="module")
def page(change):
    """Their page."""
    return change_page(change, usual_places(change, grid=12), title=HOSTILE, called=(HOSTILE, "after"))


def test_nothing_can_be_asked_of_the_network(page):
    """The policy allows the scripts and the style of the page, and pictures it draws itself."""
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]

    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert not re.search(r'(?:src|href)="(?!#|data:)', page.partition("<script")[0])


def test_hostile_names_are_text(page):
    """They cannot end the block that they stand in."""
    assert facts_of(page)["called"] == [HOSTILE, "after"]
    assert "<img" not in page


def test_the_page_tells_of_both_releases(change, page):
    """Guarantee and fine print of each, and that they are simulations."""
    assert page.count(change.before.claim.sentence) == 2
    assert 'class="simulation"' in page


def test_blocks_are_those_of_the_grid(change, page):
    """With a sentence about them."""
    (level,) = facts_of(page)["levels"]
    lengths = {name: length for name, length, _ in facts_of(page)["arrays"]}
    blocks, found = change.blocks(12)

    assert level["sentence"] == found.sentence("block")
    assert lengths["before0"] == lengths["significant0"] == lengths["areas0"] == blocks.cells
    assert lengths["x0"] == 4 * blocks.cells
    assert set(facts_of(page)["pictures"]) == {"before", "after"}


def test_polygons_without_an_outline_are_left_out(change):
    """The others keep their figures."""
    found = change.answer_polygons(SQUARES)

    places = polygon_places(change, SQUARES, ["one", "none", "two"], found)

    assert places.names == ["one", "two"]
    np.testing.assert_array_equal(places.difference.after, np.delete(found.after, 1))
    facts = facts_of(change_page(change, [places]))
    assert facts["levels"][0]["names"] == ["one", "two"]


def test_areas_come_with_all_levels_in_the_order_of_their_outlines():
    """The figures of an area lie beside its own outline."""
    columns = {
        "geometry": [shapely.box(west, 20, west + 10, 50) for west in (-120, -90, -110, -100)],
        "state": ["a", "b", "a", "b"],
        "county": ["1", "2", "3", "4"],
    }
    areas = hg.Areas(columns, levels=["state", "county"])
    change = hg.compare(release(1, method=areas), release(2, method=areas, more=3000))

    states, counties = usual_places(change)

    assert [states.noun, counties.noun] == ["state", "county"]
    wests = counties.outlines[0][counties.outlines[1][:-1], 0]
    expected = {
        name: rect[0] for name, rect in zip("1234", ((shape.bounds) for shape in columns["geometry"]), strict=True)
    }
    table = change.table()
    by_name = dict(zip(table["name"].to_pylist(), table["after"].to_pylist(), strict=True))
    for name, west, after in zip(counties.names, wests, counties.difference.after, strict=True):
        assert abs(west - expected[name]) <= 10
        assert after == by_name[name]
    assert "pictures" not in facts_of(change_page(change, [states, counties]))


def test_a_change_shows_itself_in_a_notebook(change):
    """As a map of a release does."""
    shown = change.map(grid=6, title="Trips")

    assert shown.title == "Trips"
    assert "sandbox" in shown._repr_html_()


@needs_node
def test_the_modules_make_one_valid_script(page, tmp_path):
    """Names do not clash when all share a scope, and every module of the folder is there."""
    script = tmp_path / "page.mjs"
    script.write_text(re.findall(r"<script type=\"module\">(.*?)</script>", page, re.DOTALL)[0])

    done = subprocess.run([NODE, "--check", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in (MODULES.parent / "change").glob("*.mjs")} == set(CHANGE_MODULES)


def test_a_release_that_is_not_a_simulation_is_not_marked(change):
    """The mark is about either."""
    plain = [replace(each, claim=replace(each.claim, simulation=False)) for each in (change.before, change.after)]

    assert 'class="simulation"' not in change_page(hg.compare(*plain), usual_places(change, grid=4))
