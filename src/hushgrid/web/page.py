"""The map of a synopsis: one HTML file that answers by itself and never asks the network for anything."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Any

from hushgrid.synopsis.meaning import counted
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.about import about
from hushgrid.web.atlas import add_atlas
from hushgrid.web.figures import figures
from hushgrid.web.overlay import areas_and_lines
from hushgrid.web.payload import Payload

# In the order that they need each other; in the page they are one script.
MODULES = (
    "payload",
    "region",
    "blocks",
    "slopes",
    "grid",
    "nested",
    "grouped",
    "tree_nodes",
    "tree",
    "release",
    "words",
    "colours",
    "cells_layer",
    "background",
    "outline",
    "drawing",
    "fine_polygon",
    "fitted_map",
    "queries",
    "legend",
    "main",
)
IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export ", re.MULTILINE)
SOURCE_MAP = re.compile(r"\n//# sourceMappingURL=.*\s*$")

CREDITS = {"leaflet": "Map by Leaflet.", "atlas": "Map by Leaflet; coastlines and borders: Natural Earth."}
HERE = "./"  # address of a page, relative to itself
SIMULATION = "Simulation: the noise came from a seed. This protects nobody and is no release."


def map_page(
    synopsis: Synopsis,
    *,
    title: str | None = None,
    overlay: Mapping[str, Any] | None = None,
    releases: Mapping[str, str] | None = None,
) -> str:
    """A synopsis as one self-contained web page: a map, and counts of whatever is drawn on it.

    Parameters
    ----------
    synopsis : Synopsis
    title : str, optional
        Heading of the page.
    overlay : GeoJSON object, optional
        Areas and lines, in the coordinates of the domain, in place of coastlines and borders.
    releases : mapping of str to str, optional
        Titles of all maps to switch between, by their addresses relative to this one, whose own is ``./``.

    Returns
    -------
    str
        HTML in which a content security policy forbids every request.
    """
    title = title or f"Points by {synopsis.method.name}"
    payload = Payload()
    facts = figures(synopsis, payload) | {"counted": counted(synopsis)}
    if overlay is not None:
        facts["overlay"] = areas_and_lines(overlay)
    elif synopsis.domain.is_geographic:
        facts["atlas"] = add_atlas(synopsis.domain, payload)
    facts["arrays"] = payload.contents
    leaflet, script, style = _leaflet(), _script(), _style()
    return Template(_asset("page.html")).substitute(
        policy=_policy((leaflet, script), style),
        style=style,
        leaflet=leaflet,
        script=script,
        title=escape(title),
        switch=_switch(releases or {}),
        simulation=f'<p class="simulation" role="alert">{escape(SIMULATION)}</p>' if synopsis.simulation else "",
        sentence=escape(synopsis.claim.sentence),
        about="".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in about(synopsis).items()),
        counted=escape(counted(synopsis)),
        credits=CREDITS["atlas" if "atlas" in facts else "leaflet"],
        facts=json_in_html(facts),
        payload=payload.text,
    )


def json_in_html(value: object) -> str:
    r"""A value as JSON that no HTML parser finds a tag in.

    Examples
    --------
    >>> json_in_html({"title": "</script>"})
    '{"title":"\\u003c/script>"}'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _switch(releases: Mapping[str, str]) -> str:
    """Links between maps that are served together; it needs no script."""
    if not releases:
        return ""
    current = {HERE: ' aria-current="page"'}
    links = (
        f'<li><a href="{escape(address)}"{current.get(address, "")}>{escape(title)}</a></li>'
        for address, title in releases.items()
    )
    return f'<nav aria-label="Releases"><ul>{"".join(links)}</ul></nav>'


def _leaflet() -> str:
    return SOURCE_MAP.sub("\n", _asset("leaflet/leaflet.js"))


def _script() -> str:
    """All modules as one; their names share one scope, so that imports have nothing left to do."""
    return "\n".join(EXPORT.sub("", IMPORT.sub("", _asset(f"modules/{name}.mjs"))) for name in MODULES)


def _style() -> str:
    return _asset("leaflet/leaflet.css") + _asset("style.css")


def _policy(scripts: tuple[str, ...], style: str) -> str:
    """Only these scripts and this style sheet may run, and only pictures the page has drawn itself be shown."""
    directives = {
        "default-src": "'none'",
        "script-src": " ".join(map(_digest, scripts)),
        "style-src": _digest(style),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return (resources.files("hushgrid.web") / "assets" / name).read_text(encoding="utf-8")
