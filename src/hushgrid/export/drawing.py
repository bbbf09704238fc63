"""A release as a small drawing for a page: SVG, without any library."""

import base64
import math
import struct
import zlib
from html import escape

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.export.picture import densities
from hushgrid.export.plot import DECADES, DENSEST, LAND, LINE, SEA, coast
from hushgrid.export.world import in_sight
from hushgrid.geometry.domain import Domain
from hushgrid.synopsis.synopsis import Synopsis

Bytes = NDArray[np.uint8]

LONGEST = 512  # pixels on the longer side, at least
SIDE = 1000.0  # units of the drawing on the longer side
FLATTEST = 5.0  # times as long as it is wide, or less: a page has no room for more
# The colours of the map page, from the sparsest to the densest.
RAMP = ("#fdeebb", "#fbd187", "#f7a95f", "#ec7d52", "#d4535a", "#ab3468", "#7b226d", "#4a1864", "#200c44")
SHADES = 128  # colours in between


def drawing(synopsis: Synopsis, *, label: str) -> str:
    """Densities over coastlines, as one SVG element.

    Parameters
    ----------
    label : str
        What those are told who cannot see it.
    """
    domain = synopsis.domain
    width, height = _size(domain)
    picture = base64.b64encode(png(_shades(densities(synopsis, LONGEST))[::-1], _palette())).decode()
    ground, lines = _ground(domain, width, height)
    view = f'width="{width:g}" height="{height:g}"'
    image = f'<image {view} preserveAspectRatio="none" href="data:image/png;base64,{picture}"/>'
    frame = f'<rect {view} fill="none" stroke="{LINE}" stroke-width="3"/>'
    # The inner element cuts off what reaches beyond the domain.
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}">'
        f"<svg {view}>{ground}{image}{lines}</svg>{frame}</svg>"
    )


def png(shades: Bytes, palette: Bytes) -> bytes:
    """A picture of a few colours as PNG; shade 0 is transparent.

    Parameters
    ----------
    shades : array of uint8, shape (rows, columns)
        The northernmost row first.
    palette : array of uint8, shape (colours, 3)
        Red, green and blue of each shade.
    """
    rows, columns = shades.shape
    filtered = np.hstack([np.zeros((rows, 1), np.uint8), shades])  # each row is preceded by its filter: none
    chunks = {
        b"IHDR": struct.pack(">2I5B", columns, rows, 8, 3, 0, 0, 0),
        b"PLTE": palette.tobytes(),
        b"tRNS": b"\0",
        b"IDAT": zlib.compress(filtered.tobytes(), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks.items()
    )


def _size(domain: Domain) -> tuple[float, float]:
    """Width and height of the drawing.

    Degrees of longitude are as long as they are on the ground.
    """
    width, height = domain.width, domain.height
    if domain.is_geographic:
        width *= max(0.1, math.cos(math.radians((domain.south + domain.north) / 2)))
    longer = max(width, height)
    return max(SIDE * width / longer, SIDE / FLATTEST), max(SIDE * height / longer, SIDE / FLATTEST)


def _shades(shown: Floats) -> Bytes:
    """Densities as numbers of colours, on a scale of logarithms.

    They are 0 where there is next to nothing.
    """
    some = shown[shown > 0]
    highest = float(np.quantile(some, DENSEST)) if some.size else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        places = 1 + np.log10(np.maximum(shown, 0) / highest) / DECADES
    return np.asarray(np.clip(np.ceil(places * SHADES), 0, SHADES).astype(np.uint8))


def _palette() -> Bytes:
    """White for shade 0, which is not seen, and then the ramp."""
    stops = np.array([[int(colour[first : first + 2], 16) for first in (1, 3, 5)] for colour in RAMP], float)
    places = np.linspace(0, len(RAMP) - 1, SHADES)
    mixed = np.stack([np.interp(places, np.arange(len(RAMP)), channel) for channel in stops.T], axis=1)
    return np.vstack([[255, 255, 255], mixed.round()]).astype(np.uint8)


def _ground(domain: Domain, width: float, height: float) -> tuple[str, str]:
    """Sea and land below the densities, shores and borders above them."""
    view = f'width="{width:g}" height="{height:g}"'
    if not domain.is_geographic:
        return f'<rect {view} fill="{LAND}"/>', ""
    outlines = coast(domain)
    land, shores, borders = (
        "".join(_path(line, domain, width, height) for line in lines)
        for lines in (outlines.land, outlines.shores, outlines.borders)
    )
    stroke = f'fill="none" stroke="{LINE}" stroke-width="2"'
    return (
        f'<rect {view} fill="{SEA}"/><path d="{land}" fill="{LAND}"/>',
        f'<path d="{shores}" {stroke}/><path d="{borders}" {stroke} stroke-dasharray="8 6"/>',
    )


def _path(line: Floats, domain: Domain, width: float, height: float) -> str:
    """A line as commands of a path, in units of the drawing."""
    seen = line[in_sight(line, domain.bounds)]
    x = (seen[:, 0] - domain.west) / domain.width * width
    y = (domain.north - seen[:, 1]) / domain.height * height
    points = np.stack([x, y], axis=1).round().astype(np.int64)
    points = points[np.any(np.diff(points, axis=0, prepend=points[:1] - 1) != 0, axis=1)]
    return "M" + "L".join(f"{x},{y}" for x, y in points.tolist()) if len(points) > 1 else ""
