"""The map: one HTML file that answers offline."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.export.world import in_sight, world_for
from hushgrid.geometry.domain import Domain
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.areas import area_figures, overlay_figures, overlay_lines
from hushgrid.web.basemap import NO_REQUESTS, Basemap
from hushgrid.web.document import asset, definitions, described, document, json_in_html, simulation_alert
from hushgrid.web.figures import Payload, cell_figures, common_figures, picture_figures
from hushgrid.web.gazetteer import add_places
from hushgrid.web.overlay import areas_and_lines
from hushgrid.web.sliced import slice_figures


def fine_print(facts: Facts) -> dict[str, str]:
    """What a reader of the map should know."""
    bounds = ", ".join(f"{bound:.10g}" for bound in facts.domain.bounds)
    most = f"; each adds at most {facts.per_user}" if facts.per_user else ""
    return {
        "Method": facts.chosen,
        "Privacy budget": f"ε = {float(facts.claim.epsilon):g}, δ = 0",
        "Protects": f"{facts.protects}{most}",
        "Cells": f"{facts.cells:,}",
        "Domain": f"{bounds} (west, south, east, north)",
        "Coordinates": facts.domain.crs,
        **({"Notes": "; ".join(facts.method.notes)} if facts.method.notes else {}),
        **({"Prior": facts.prior} if facts.prior else {}),
        **({"Counts": facts.meaning} if facts.caveats else {}),
        "Made with": facts.made_with,
    }


Bounds = tuple[float, float, float, float]

MARGIN = 1.5  # of the longer side, all around: a screen may be far wider or taller than the domain


def add_atlas(domain: Domain, payload: Payload) -> dict[str, Any]:
    """Add the land near a domain to the payload.

    What is returned says how to read it.
    """
    world = world_for(domain)
    margin = MARGIN * max(domain.width, domain.height)
    around = (domain.west - margin, domain.south - margin, domain.east + margin, domain.north + margin)
    rings = [ring for ring in world.rings if _meet(world.extents[[_forward(arc) for arc in ring]], around)]
    kept = sorted({_forward(arc) for ring in rings for arc in ring})
    number = {arc: index for index, arc in enumerate(kept)}
    seen = [arc[in_sight(world.degrees(arc), around)] for arc in (world.arcs[number] for number in kept)]
    arcs = [np.diff(arc, axis=0, prepend=0) for arc in seen]
    payload.add("arcLengths", [len(arc) for arc in arcs])
    for axis, name in enumerate(("arcX", "arcY")):
        payload.add(name, np.concatenate([[], *(arc[:, axis] for arc in arcs)]))
    payload.add("arcBorders", [arc in world.borders for arc in kept])
    payload.add("ringLengths", [len(ring) for ring in rings])
    payload.add("ringArcs", [number[arc] if arc >= 0 else -1 - number[-1 - arc] for ring in rings for arc in ring])
    return {"scale": world.scale, "translate": world.translate}


def _forward(arc: int) -> int:
    """The number of an arc, run either way."""
    return arc if arc >= 0 else -1 - arc


def _meet(extents: Floats, around: Bounds) -> bool:
    west, south, east, north = around
    across = extents[:, 0].min() < east and west < extents[:, 2].max()
    return bool(across and extents[:, 1].min() < north and south < extents[:, 3].max())


# In the order that they need each other; in the page they are one script.
MODULES = (
    "payload",
    "surfaces/region",
    "surfaces/blocks",
    "surfaces/slopes",
    "surfaces/grid",
    "surfaces/nested",
    "surfaces/grouped",
    "surfaces/placed",
    "surfaces/tree_nodes",
    "surfaces/tree",
    "surfaces/release",
    "words",
    "saving",
    "colours",
    "picture/picture",
    "picture/picture_layer",
    "background",
    "basemap",
    "asking/outline",
    "asking/drawing",
    "asking/fine_polygon",
    "fitted_map",
    "address",
    "asking/queries",
    "legend",
    "areas/outlines",
    "areas/noise",
    "areas/levels",
    "areas/choropleth",
    "areas/table",
    "areas/files",
    "areas/areas_view",
    "picture/cells_view",
    "asking/asking",
    "places/places",
    "places/labels",
    "places/search",
    "slices/axes",
    "slices/sliced_release",
    "slices/sliced_picture",
    "slices/sliced_layer",
    "slices/sliced_cells",
    "slices/controls",
    "slices/chart",
    "slices/multiples",
    "slices/slicing",
    "share/snapshot",
    "share/sheet",
    "share/sharing",
    "main",
)
STYLES = ("page", "map", "panel", "areas", "places", "basemap", "slices", "narrow", "paper")

CREDITS = {
    "leaflet": "Map by Leaflet.",
    "places": "Names of places: GeoNames (CC BY 4.0).",
    "atlas": "Coastlines and borders: Natural Earth.",
}


def credits_of(shown: Mapping[str, Any]) -> str:
    """Who made what a page shows."""
    return " ".join(credit for name, credit in CREDITS.items() if name in {"leaflet", *shown})


HERE = "./"  # address of a page, relative to itself


def map_page(
    release: Synopsis | Slices,
    *,
    title: str | None = None,
    description: str | None = None,
    overlay: Mapping[str, Any] | None = None,
    area_name: str | None = None,
    basemap: Basemap | None = None,
    releases: Mapping[str, str] | None = None,
) -> str:
    """A release as one self-contained web page.

    It has a map, counts whatever is drawn on it, and has a table of named areas where there are any. Slices of one data
    set can be looked at one by one, in turn and side by side.

    Parameters
    ----------
    release : Synopsis or Slices
    title : str, optional
        Heading of the page.
    description : str, optional
        What stands below the heading.
    overlay : GeoJSON object, optional
        Areas and lines, in the coordinates of the domain, over land and water.
    area_name : str, optional
        Property of the overlay's areas that has their names.
    basemap : Basemap, optional
        Tiles to draw below the release, instead of land and borders. Their server is the one place that the page
        then asks.
    releases : mapping of str to str, optional
        Titles of all maps to switch between, by their addresses relative to this one, whose own is ``./``.

    Returns
    -------
    str
        HTML in which a content security policy forbids every request, but for tiles of a basemap.
    """
    synopsis = release.shown() if isinstance(release, Slices) else release
    title = title or usual_title(synopsis)
    if basemap is not None:
        basemap.check_domain(synopsis.domain)
    facts, payload = Facts.of(synopsis), Payload()
    shown = common_figures(synopsis) | {"counted": facts.counted}
    shown |= {"afterBounds": facts.after_bounds(shown["confidence"])}
    shown |= {"about": facts.labelled(), "simulation": facts.claim.simulation}
    has_cells = synopsis.partition.tiles
    shown |= _figures(release, payload)
    if overlay is not None:
        drawn = areas_and_lines(overlay, area_name=area_name)
        shown["overlay"] = overlay_figures(drawn, payload) if has_cells else overlay_lines(drawn)
    if synopsis.domain.is_geographic:
        shown |= surroundings(synopsis.domain, payload, basemap)
    shown["arrays"] = payload.contents
    return document(
        "page.html",
        modules=MODULES,
        styles=STYLES,
        tiles_from=basemap.origin if basemap else "",
        title=escape(title),
        summary=f'<meta name="description" content="{escape(description)}">' if description else "",
        description=described(description),
        switch=switch(releases or {}),
        simulation=simulation_alert(facts.claim.simulation),
        sentence=escape(facts.claim.sentence),
        about=definitions(_about(release, facts)),
        counted=escape(facts.counted),
        areas=asset("areas.html"),
        network=escape(basemap.words if basemap else NO_REQUESTS),
        credits=credits_of(shown),
        facts=json_in_html(shown),
        payload=payload.text,
    )


def _figures(release: Synopsis | Slices, payload: Payload) -> dict[str, Any]:
    """What the page needs to answer: cells, areas, or those of slices."""
    if isinstance(release, Slices):
        return slice_figures(release, payload)
    if not release.partition.tiles:
        return area_figures(release, payload)
    return cell_figures(release, payload) | {"picture": picture_figures(release, payload)}


def _about(release: Synopsis | Slices, facts: Facts) -> dict[str, str]:
    """The fine print, and of slices what they are."""
    if not isinstance(release, Slices):
        return fine_print(facts)
    cells = sum(each.partition.cells for each in release.values())
    return {**fine_print(facts), "Cells": f"{cells:,} of all slices", "Slices": release.by.words()}


def surroundings(domain: Domain, payload: Payload, basemap: Basemap | None = None) -> dict[str, Any]:
    """Names of places, over tiles or over land and borders."""
    places = {"places": add_places(domain, payload)}
    if basemap is not None:
        return places | {"basemap": {"url": basemap.url, "credit": basemap.credit}}
    return places | {"atlas": add_atlas(domain, payload)}


def usual_title(synopsis: Synopsis) -> str:
    """What a page is called that was given no title."""
    return f"Points by {synopsis.method.name}"


def switch(releases: Mapping[str, str]) -> str:
    """Links between maps that are served together."""
    if not releases:
        return ""
    current = {HERE: ' aria-current="page"'}
    links = (
        f'<li><a href="{escape(address)}"{current.get(address, "")}>{escape(title)}</a></li>'
        for address, title in releases.items()
    )
    return f'<nav aria-label="Releases"><ul>{"".join(links)}</ul></nav>'
