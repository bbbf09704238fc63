"""The page: self-contained, closed to the network, and safe against what it is given."""

import base64
import hashlib
import re
import subprocess
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import hushgrid as hg
from hushgrid.errors import InputError
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.scale import Scale
from hushgrid.web.change import ALL_CHANGE_MODULES
from hushgrid.web.document import asset
from hushgrid.web.page import MODULES as LISTED
from hushgrid.web.page import map_page
from tests.synopses import synopsis_on
from tests.web.pages import DOMAIN, MODULES, NODE, block, facts_of, needs_node

SYNOPSIS = synopsis_on(Grid(domain=DOMAIN, rows=6, columns=9))
HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>&'
ADDRESS = re.compile(r"(?:https?:|ws:)?//[a-z0-9-]+\.[a-z]+[^\s\"')]*")
TRIANGLE = {"type": "Polygon", "coordinates": [[[-100, 30], [-90, 30], [-95, 40], [-100, 30]]]}


class Tags(HTMLParser):
    """Every start tag of a page with its attributes, and the text of all that runs and of styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.inside = [], {"script": [], "style": []}, None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """Note a tag, and whether what follows runs."""
        self.tags.append((tag, dict(attributes)))
        self.inside = tag if tag in self.texts and dict(attributes).get("type") in (None, "module") else None

    def handle_endtag(self, tag):
        """Nothing after it belongs to it."""
        self.inside = None

    def handle_data(self, data):
        """Keep what runs."""
        if self.inside:
            self.texts[self.inside].append(data)


@pytest.fixture(scope="module")
def page():
    """A page of a small grid."""
    return map_page(SYNOPSIS, title="Trips")


def policy_of(page):
    """Directives of the content security policy."""
    meta = next(a for tag, a in Tags(page).tags if a.get("http-equiv") == "Content-Security-Policy")
    return dict(directive.split(" ", 1) for directive in meta["content"].split("; "))


def test_nothing_may_be_fetched(page):
    """Everything is forbidden but the page's own script, style and pictures it draws."""
    policy = policy_of(page)

    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data: blob:"
    assert policy["form-action"] == policy["base-uri"] == "'none'"
    assert set(policy) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}


@pytest.mark.parametrize("tag", ["script", "style"])
def test_only_the_text_in_the_page_may_run(page, tag):
    """The policy holds the digests of the scripts and of the one style sheet, and nothing looser."""
    digests = [hashlib.sha256(text.encode()).digest() for text in Tags(page).texts[tag]]

    expected = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    assert policy_of(page)[f"{tag}-src"] == expected


def test_no_tag_names_another_place(page):
    """No attribute holds an address, and no tag loads anything; the policy stands before all that could."""
    tags = Tags(page).tags

    addresses = [a.get(name) for _, a in tags for name in ("src", "href", "action", "data") if name in a]
    assert sorted(addresses) == ["#panel", "data:,"]
    assert not any(name.startswith("on") for _, a in tags for name in a)
    assert [tag for tag, _ in tags].index("meta") < [tag for tag, _ in tags].index("script")
    assert "sourceMappingURL" not in page
    assert "@import" not in page


def test_addresses_occur_in_the_text_of_leaflet_alone(page):
    """It names its own site, bugs of browsers and the namespace of SVG; nothing else names any place."""
    leaflet = "".join((MODULES.parent / "leaflet" / name).read_text() for name in ("leaflet.js", "leaflet.css"))

    assert set(ADDRESS.findall(page)) == set(ADDRESS.findall(leaflet))


def test_a_hostile_title_is_text():
    """Tags in a title come out as text, twice, and make no element."""
    tags = Tags(map_page(SYNOPSIS, title=HOSTILE)).tags

    assert not any(tag == "img" for tag, _ in tags)
    assert sum(tag == "script" for tag, _ in tags) == 4


def test_a_description_is_text_below_the_heading():
    """Search engines and link previews are told it, too; without one there is neither."""
    tags = Tags(map_page(SYNOPSIS, title="Trips", description=HOSTILE)).tags
    [told] = [attributes["content"] for tag, attributes in tags if attributes.get("name") == "description"]

    assert told == HOSTILE
    assert not any(tag == "img" for tag, _ in tags)
    assert ("p", {"class": "description"}) in tags
    assert 'name="description"' not in map_page(SYNOPSIS)
    assert 'class="description"' not in map_page(SYNOPSIS)


def test_hostile_names_and_notes_are_text():
    """What an overlay or a method says cannot end the block it stands in."""
    method = replace(SYNOPSIS.method, notes=(HOSTILE,))
    overlay = {"type": "Feature", "properties": {"name": HOSTILE}, "geometry": TRIANGLE}
    page = map_page(replace(SYNOPSIS, method=method), overlay=overlay)

    assert facts_of(page)["overlay"]["names"] == [HOSTILE]
    assert "<" not in block(page, "facts")
    assert not any(tag == "img" for tag, _ in Tags(page).tags)


def test_the_guarantee_and_the_fine_print_are_there_without_any_script(page):
    """Sentence, method, budget, unit, cells and CRS."""
    assert SYNOPSIS.claim.sentence in page
    for words in ("ε = 1", "one record", "<dd>54</dd>", "OGC:CRS84", f"<dd>{SYNOPSIS.method.name}"):
        assert words in page


def test_a_simulation_is_marked_and_a_release_is_not(page):
    """The mark is an alert in the heading."""
    simulated = map_page(replace(SYNOPSIS, claim=replace(SYNOPSIS.claim, simulation=True)))

    assert 'class="simulation" role="alert"' in simulated
    assert 'class="simulation"' not in page


def test_a_scaled_count_has_no_interval_but_a_range(page):
    """What was not kept is no noise; the page says so beside every number and in its fine print."""
    kept = replace(SYNOPSIS, claim=replace(SYNOPSIS.claim, unit="user", max_per_unit=5))
    scaled = map_page(kept.scaled(Scale.to(10**6, kept.counts, source="public")))

    assert facts_of(page)["afterBounds"] == facts_of(map_page(kept))["afterBounds"] == "with 95 % confidence"
    assert (facts_of(scaled)["counted"], facts_of(scaled)["afterBounds"]) == ("records in all", "by noise alone")
    assert "From low to high is a range by noise alone" in scaled
    assert re.search(r"About [\d.]+ % of the records were kept", scaled)
    assert "kept records, not of all" in map_page(kept)


def test_an_overlay_lies_over_land_and_water(page):
    """A projected domain has no land of its own."""
    own = facts_of(map_page(SYNOPSIS, overlay=TRIANGLE))
    metres = hg.Domain(west=4e5, south=1e5, east=5e5, north=2e5, crs="EPSG:27700")
    projected = map_page(synopsis_on(Grid(domain=metres, rows=3, columns=3)))

    assert "atlas" in facts_of(page)
    assert "atlas" in own
    assert own["overlay"]["names"] == ["Area 1"]
    assert "atlas" not in facts_of(projected)
    assert "EPSG:27700" in projected
    assert "Natural Earth" not in projected


def test_the_same_release_makes_the_same_page(page):
    """No time, no random name."""
    assert map_page(SYNOPSIS, title="Trips") == page


def test_a_million_cells_fit():
    """Well below fifteen megabytes, at three bytes a cell."""
    large = synopsis_on(Grid(domain=DOMAIN, rows=1000, columns=1000))

    assert len(map_page(large)) < 3_000_000


def test_a_bad_overlay_is_refused():
    """A bad overlay is refused before a page is made."""
    with pytest.raises(InputError, match="overlay"):
        map_page(SYNOPSIS, overlay={"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[1, 2]]}})


def test_every_module_is_in_the_page(page):
    """Modules stand in the order of their imports, and none is missing."""
    assert sorted(LISTED) == sorted(
        path.relative_to(MODULES).with_suffix("").as_posix() for path in MODULES.rglob("*.mjs")
    )
    for place, name in enumerate(LISTED):
        path = MODULES / f"{name}.mjs"
        needed = [(path.parent / other).resolve() for other in re.findall(r'from "(\.[^"]+)"', path.read_text())]
        assert set(needed) <= {(MODULES / f"{other}.mjs").resolve() for other in LISTED[:place]}, name


@needs_node
def test_the_modules_make_one_valid_script(page, tmp_path):
    """Their names do not clash when they share a scope."""
    script = tmp_path / "page.mjs"
    script.write_text(Tags(page).texts["script"][1])

    done = subprocess.run([NODE, "--check", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


NAMES = re.compile(r"^(?:export )?(?:async )?(?:const|let|class|function) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("modules", [LISTED, ALL_CHANGE_MODULES], ids=["map", "change"])
def test_modules_share_no_name(modules):
    """In a page they are one script, in which a name can be declared once."""
    names = [name for module in modules for name in NAMES.findall(asset(f"modules/{module}.mjs"))]

    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert len(names) > 100
