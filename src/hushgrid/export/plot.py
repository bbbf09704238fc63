"""A release as a picture: density over coastlines."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.errors import MissingExtraError
from hushgrid.export.picture import EARTH_RADIUS, densities
from hushgrid.export.world import world_for
from hushgrid.geometry.domain import Domain
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Coast:
    """Lines in longitude and latitude, shape (points, 2) each.

    Parameters
    ----------
    land : list of array
        Closed rings around countries.
    shores, borders : list of array
        Lines between land and sea, and between countries.
    """

    land: list[Floats]
    shores: list[Floats]
    borders: list[Floats]


def coast(domain: Domain) -> Coast:
    """Coastlines and borders that come near a domain."""
    world = world_for(domain)
    arcs = [world.degrees(arc) for arc in world.arcs]
    land = [np.concatenate([arcs[n] if n >= 0 else arcs[-1 - n][::-1] for n in ring]) for ring in world.rings]
    shores = [arc for number, arc in enumerate(arcs) if number not in world.borders]
    borders = [arcs[number] for number in sorted(world.borders)]
    land = [_around_the_pole(ring) for ring in land]
    return Coast(
        *(
            [turned for line in lines for turned in _turns(line) if _near(turned, domain)]
            for lines in (land, shores, borders)
        )
    )


def _turns(line: Floats) -> list[Floats]:
    """A line without leaps at 180 degrees.

    It comes as seen in this turn of the world, and in the ones beside it.
    """
    longitudes = np.unwrap(line[:, 0], period=TURN)
    return [np.stack([longitudes + turn, line[:, 1]], axis=1) for turn in (-TURN, 0, TURN)]


def _around_the_pole(ring: Floats) -> Floats:
    """A ring about a pole, led over it: unrolled it would not close."""
    longitudes = np.unwrap(ring[:, 0], period=TURN)
    if abs(longitudes[-1] - longitudes[0]) < TURN / 2:
        return ring
    pole = math.copysign(90.0, ring[:, 1].mean())
    return np.concatenate([np.stack([longitudes, ring[:, 1]], axis=1), [[longitudes[-1], pole], [longitudes[0], pole]]])


def _near(line: Floats, domain: Domain) -> bool:
    (west, south), (east, north) = line.min(axis=0), line.max(axis=0)
    return bool(west <= domain.east and domain.west <= east and south <= domain.north and domain.south <= north)


TURN = 360.0  # degrees
SIZE, DOTS = (9, 6), 200  # inches, and dots of each in a file
RESOLUTION = 1024  # pixels on the longer side, at least
DENSEST = 0.9998  # of the pixels; the few above it share the last colour
DECADES = 4  # of density, below that
SEA, LAND, LINE = "#e3ebf0", "#fbfbf9", "#5b6770"
PALEST = 0.06  # of the colours: paler ones would pass for land


def plot(synopsis: Synopsis, ax: "Axes | None" = None, *, title: str | None = None) -> "Axes":
    """A map of a release; see `Synopsis.plot`."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap, LogNorm
    except ImportError as error:
        msg = "a plot needs matplotlib: pip install 'hushgrid[plots]'."
        raise MissingExtraError(msg) from error
    if ax is None:
        _, ax = plt.subplots(figsize=SIZE, layout="constrained")
    domain = synopsis.domain
    shown = _densities(synopsis)
    draw_ground(ax, domain)
    highest = float(np.quantile(shown[shown > 0], DENSEST)) if (shown > 0).any() else 1.0
    lowest = highest / 10**DECADES
    image = ax.imshow(
        np.ma.masked_less(shown, lowest),
        extent=(domain.west, domain.east, domain.south, domain.north),
        origin="lower",
        norm=LogNorm(lowest, highest),
        cmap=ListedColormap(colormaps["magma_r"](np.linspace(PALEST, 1, 256))),
        interpolation="none",
        zorder=2,
    )
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, pad=0.02, extend="max")
    bar.set_label(f"{Facts.of(synopsis).counted} per {_unit(domain)}")
    _draw_scale(ax, domain)
    _label(ax, domain)
    ax.set_title(_title(synopsis) if title is None else title)
    if synopsis.simulation:
        mark = ax.annotate("simulation: not a release", (0.99, 0.02), xycoords="axes fraction", ha="right", zorder=6)
        mark.set_color("#b00020")
    return ax


def write_png(synopsis: Synopsis, out: BinaryIO) -> None:
    """Write what `plot` draws as a PNG."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        msg = "a picture needs matplotlib: pip install 'hushgrid[plots]'."
        raise MissingExtraError(msg) from error
    figure = Figure(figsize=SIZE, layout="constrained")
    plot(synopsis, figure.subplots())
    figure.savefig(out, format="png", dpi=DOTS)


def _densities(synopsis: Synopsis) -> Floats:
    """Counts per square kilometre of each pixel, shape (rows, columns).

    They are as fine as the release knows them.

    In squares of the domain's own units where their length is not known.
    """
    unit = 1.0 if synopsis.domain.is_geographic else _kilometres(synopsis.domain) or 1.0
    return densities(synopsis, RESOLUTION) / unit**2


def _kilometres(domain: Domain) -> float | None:
    """Kilometres of one unit of a projected domain.

    None where the unit is not a length, or pyproj is not installed or does not know the system.
    """
    try:
        import pyproj
    except ImportError:
        return None
    try:
        axes = pyproj.CRS.from_user_input(domain.crs).axis_info
    except pyproj.exceptions.CRSError:
        return None
    is_length = axes and "degree" not in axes[0].unit_name
    return float(axes[0].unit_conversion_factor) / 1000 if is_length else None


def _unit(domain: Domain) -> str:
    return "km²" if domain.is_geographic or _kilometres(domain) else "square unit"


def draw_ground(ax: "Axes", domain: Domain) -> None:
    """Draw sea, land and borders, as wide as the domain."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    outlines = coast(domain) if domain.is_geographic else None
    if outlines is not None:
        ax.set_facecolor(SEA)
        if outlines.land:
            land = Path.make_compound_path(*(Path(ring, closed=True) for ring in outlines.land))
            ax.add_patch(PathPatch(land, facecolor=LAND, edgecolor="none", zorder=1))
        ax.add_collection(LineCollection(outlines.shores, colors=LINE, linewidths=0.5, zorder=3))
        ax.add_collection(LineCollection(outlines.borders, colors=LINE, linewidths=0.5, linestyles="--", zorder=3))
    ax.set_xlim(domain.west, domain.east)
    ax.set_ylim(domain.south, domain.north)
    middle = math.radians((domain.south + domain.north) / 2)
    ax.set_aspect(1 / max(math.cos(middle), 0.1) if domain.is_geographic else 1)


def _draw_scale(ax: "Axes", domain: Domain) -> None:
    """A bar of a round length, true where it stands."""
    low = domain.south + 0.05 * domain.height
    degree = math.radians(1) * EARTH_RADIUS * math.cos(math.radians(low))
    unit = degree if domain.is_geographic else _kilometres(domain)
    if not unit:
        return
    length = round_length(0.2 * domain.width * unit)
    west = domain.west + 0.04 * domain.width
    style: dict[str, Any] = {"color": "black", "zorder": 5}
    ax.plot([west, west + length / unit], [low, low], linewidth=2, solid_capstyle="butt", **style)
    name = f"{length:,g} km" if length >= 1 else f"{1000 * length:g} m"
    ax.annotate(name, (west, low), (0, 4), textcoords="offset points", fontsize=8, **style)


def round_length(longest: float) -> float:
    """The longest round length that fits.

    It is 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> round_length(730.0), round_length(0.3)
    (500.0, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(longest))
    return max(step * power for step in (1, 2, 5) if step * power <= longest)


def _label(ax: "Axes", domain: Domain) -> None:
    ax.tick_params(labelsize=8)
    if domain.is_geographic:
        ax.xaxis.set_major_formatter(lambda degrees, _: _degrees(degrees, "EW"))
        ax.yaxis.set_major_formatter(lambda degrees, _: _degrees(degrees, "NS"))
    else:
        ax.set_xlabel(f"easting ({domain.crs})")
        ax.set_ylabel("northing")


def _degrees(degrees: float, letters: str) -> str:
    letter = "" if degrees == 0 else letters[int(degrees < 0)]
    return f"{abs(degrees):g}°{letter}"


def _title(synopsis: Synopsis) -> str:
    return f"Estimated {Facts.of(synopsis).counted} under differential privacy, ε = {float(synopsis.claim.epsilon):g}"
