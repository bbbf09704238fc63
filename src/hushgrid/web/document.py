"""A page as one HTML file that may make no request."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from string import Template

from hushgrid.synopsis.facts import SIMULATION

IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export ", re.MULTILINE)
SOURCE_MAP = re.compile(r"\n//# sourceMappingURL=.*\s*$")


def document(
    template: str, *, modules: Iterable[str], styles: Iterable[str], tiles_from: str = "", **parts: str
) -> str:
    """A page from its template, with its scripts and style.

    Its content security policy allows these and nothing else.

    Parameters
    ----------
    template : str
        Name of an asset.
    modules, styles : names of assets
        In the order that they need each other.
    tiles_from : str
        Origin of tiles that may be shown besides.
    **parts : str
        What stands in the other places of the template.
    """
    leaflet, script, style = _leaflet(), _script(modules), _style(styles)
    policy = _policy((leaflet, script), style, tiles_from)
    return Template(asset(template)).substitute(policy=policy, style=style, leaflet=leaflet, script=script, **parts)


def json_in_html(value: object) -> str:
    r"""A value as JSON without any HTML tag.

    Examples
    --------
    >>> json_in_html({"title": "</script>"})
    '{"title":"\\u003c/script>"}'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def described(description: str | None) -> str:
    """What stands below the heading of a page."""
    return f'<p class="description">{escape(description)}</p>' if description else ""


def simulation_alert(is_simulation: bool) -> str:
    """The warning on the page of a simulation."""
    return f'<p class="simulation" role="alert">{escape(SIMULATION)}</p>' if is_simulation else ""


def definitions(texts: Mapping[str, str]) -> str:
    """Terms and their texts, as a `dl` has them.

    Examples
    --------
    >>> definitions({"Cells": "<10"})
    '<div><dt>Cells</dt><dd>&lt;10</dd></div>'
    """
    return "".join(f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in texts.items())


def _leaflet() -> str:
    return SOURCE_MAP.sub("\n", asset("leaflet/leaflet.js"))


def _script(modules: Iterable[str]) -> str:
    """All modules as one script, without their imports."""
    return "\n".join(EXPORT.sub("", IMPORT.sub("", asset(f"modules/{name}.mjs"))) for name in modules)


def _style(styles: Iterable[str]) -> str:
    return "".join(map(asset, ("leaflet/leaflet.css", *(f"styles/{name}.css" for name in styles))))


def _policy(scripts: tuple[str, ...], style: str, tiles_from: str) -> str:
    """A content security policy for these scripts and style.

    Only pictures that the page has drawn itself may be shown, and tiles of a basemap.
    """
    directives = {
        "default-src": "'none'",
        "script-src": " ".join(map(_digest, scripts)),
        "style-src": _digest(style),
        "img-src": f"data: blob: {tiles_from}".strip(),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def asset(name: str) -> str:
    """The text of an asset."""
    return (resources.files("hushgrid.web") / "assets" / name).read_text(encoding="utf-8")
