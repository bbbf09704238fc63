"""What a release is aimed at: a scale, or places."""

import math
import re
from numbers import Real
from pathlib import Path
from typing import Any

from hushgrid.errors import ArgumentError, InputError, MissingExtraError
from hushgrid.files.geojson import GEOJSON_ENDINGS
from hushgrid.geometry.domain import Domain, number_of
from hushgrid.methods.areas import Areas
from hushgrid.methods.method import Method
from hushgrid.methods.staq import AIM, MOST_SIGNAL, AimedQuadtree, Staq
from hushgrid.priors.vectors import Vectors
from hushgrid.release.auto import AUTO
from hushgrid.synopsis.synopsis import Synopsis

Aim = str | Path | Areas | Any  # a scale or a file, or polygons as `Areas` takes them
PLACE_ENDINGS = (*GEOJSON_ENDINGS, ".parquet", ".geoparquet")
SCALE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(m|km|%)\s*")
METRES_A_DEGREE = 111_320.0
METRES = {"m": 1.0, "km": 1000.0}
FEWEST_A_PLACE = 5  # points times epsilon for each place: with 3.5, errors in places and elsewhere were above STAQ's


def aimed(method: Method, aim: Aim | None, domain: Domain) -> Method:
    """The method that a release with an aim is made by.

    Parameters
    ----------
    method : Method
        What was asked for: `auto` and STAQ can be aimed, others cannot.
    aim : str, Areas, path or polygons, optional
        A length such as ``"200m"`` or ``"1.5km"``, a share of the domain's sides such as ``"0.5%"``, or places.

    Examples
    --------
    >>> from hushgrid.release.auto import choose
    >>> aimed(choose("auto"), "0.5%", Domain(west=0, south=0, east=1, north=1)).scale
    0.005
    """
    if aim is None:
        return method
    if method.name not in (AUTO, Staq.name, *(() if is_at_places(aim) else (AimedQuadtree.name,))):
        msg = f"aim is for the methods auto and staq, got method={method.name!r}. Leave out method, or aim."
        raise ArgumentError(msg, instead={"method": AUTO})
    if is_at_places(aim):
        return method if isinstance(method, Staq) else Staq()
    scale = scale_of(aim, domain)
    if isinstance(method, Staq) and method.inference != "belief":
        return AimedQuadtree(scale=scale, inference=method.inference)
    return AimedQuadtree(scale=scale)


def is_at_places(aim: Aim | None) -> bool:
    """Whether an aim is at places, not at a scale.

    Examples
    --------
    >>> is_at_places("stations.geojson"), is_at_places("200m")
    (True, False)
    """
    if isinstance(aim, str | Path | Real):  # a number is a length without its unit
        return str(aim).lower().endswith(PLACE_ENDINGS)
    return aim is not None


def places_aimed_at(aim: Aim | None) -> Areas | None:
    """The places that a release is aimed at; None where it has none.

    Those of a GeoJSON or GeoParquet file are called by the property or column ``name`` if all have one, else by number.
    """
    if not is_at_places(aim):
        return None
    places = _of_file(Path(aim)) if isinstance(aim, str | Path) else aim
    places = places if isinstance(places, Areas) else Areas(places)
    if places.levels:
        msg = "places that a release is aimed at have no levels, because each point is counted once. Give one level."
        raise ArgumentError(msg)
    return places


def _of_file(path: Path) -> Areas:
    """Places of a GeoJSON or GeoParquet file."""
    read = Vectors.of_geojson if path.suffix.lower() in GEOJSON_ENDINGS else Vectors.of_parquet
    try:
        found = read(path.read_bytes(), None)
        return Areas(found.frame, names=found.names)
    except OSError as error:
        reason = f"{error.strerror}. Check the path given as aim."
    except ArgumentError as error:
        reason = str(error)
    msg = f"the places in {path} cannot be read: {reason}"
    raise InputError(msg)


def scale_of(aim: Any, domain: Domain) -> float:
    """A scale as a share of the domain's sides.

    Of a length it is the geometric mean of its shares of the width and the height, at the middle latitude.

    Examples
    --------
    >>> scale_of("0.5%", Domain(west=0, south=0, east=1, north=1))
    0.005
    >>> round(scale_of("200 m", Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)), 4)
    0.0042
    """
    found = SCALE.fullmatch(str(aim))
    if found is None:
        msg = "aim must be a length such as '200m' or '1.5km', a share of the domain's sides such as '0.5%', or a file "
        msg += f"of places, {' or '.join(PLACE_ENDINGS)}; got aim={aim!r}."
        side = math.sqrt(_width(domain) * _height(domain))
        is_length = 1 <= number_of(aim) <= side  # without its unit
        raise ArgumentError(msg, instead={"aim": f"{aim}m" if is_length else f"{100 * AIM:g}%"})
    number, unit = float(found[1]), found[2]
    share = number / 100 if unit == "%" else number * METRES[unit] / math.sqrt(_width(domain) * _height(domain))
    if not 0 < share <= 1:
        msg = f"aim must be above zero and at most as wide as the domain, got aim={aim!r}."
        raise ArgumentError(msg, instead={"aim": f"{100 * AIM:g}%"})
    return share


def aim_warning(method: str, signal: float, places: int = 0) -> str | None:
    """Advise against an aim that is likely to make a release worse.

    Parameters
    ----------
    method : str
        Name of the method.
    signal : float
        Points times epsilon, by a public or a noisy size.
    places : int
        How many places it is aimed at, if at places.

    Examples
    --------
    >>> aim_warning("aimed", 1e4) is None, aim_warning("staq", 1e6, 200) is None
    (True, True)
    >>> print(aim_warning("aimed", 1e6)[:53])
    points times epsilon are above 100,000: a release tha
    >>> print(aim_warning("staq", 7000, 2000)[:57])
    2,000 places are many for so few points at this epsilon:
    """
    if places and signal < FEWEST_A_PLACE * places:
        if places == 1:
            return (
                "there are so few points at this epsilon that the count of the place would be mostly noise, even if "
                "all of them lay in it. Leave out aim (--aim)."
            )
        return (
            f"{places:,} places are many for so few points at this epsilon: even if all points lay in them, the counts "
            "of most would be mostly noise, and so would sums over many. Name fewer places, larger ones, or leave out "
            "aim (--aim)."
        )
    if method != AimedQuadtree.name or signal <= MOST_SIGNAL:
        return None
    return (
        f"points times epsilon are above {MOST_SIGNAL:,.0f}: a release that is not aimed at a scale is likely to be "
        "better at this one and at every other. Leave out aim (--aim)."
    )


def released_aim_warning(synopsis: Synopsis) -> str | None:
    """Advise against the aim of a release that was made.

    It is judged by the size of the release or, if it was aimed at places, by its total.
    """
    claim, places = synopsis.claim, synopsis.places
    if places is not None:
        epsilon = float(claim.epsilon) / claim.max_per_unit
        return aim_warning(synopsis.method.name, max(synopsis.total, 0.0) * epsilon, places.areas.cells)
    spent = sum(spend.epsilon for spend in claim.spends if spend.measured)
    return None if claim.size is None else aim_warning(synopsis.method.name, claim.size.value * float(spent))


def _width(domain: Domain) -> float:
    """Metres from west to east."""
    if not domain.is_geographic:
        return domain.width * _metres_a_unit(domain)
    return METRES_A_DEGREE * domain.width * math.cos(math.radians((domain.south + domain.north) / 2))


def _height(domain: Domain) -> float:
    """Metres from south to north."""
    return domain.height * (METRES_A_DEGREE if domain.is_geographic else _metres_a_unit(domain))


def _metres_a_unit(domain: Domain) -> float:
    """Metres in a unit of a projected reference system."""
    try:
        import pyproj
    except ImportError:
        msg = f"lengths in {domain.crs} need pyproj: pip install 'hushgrid[gis]'. Or give a share, such as aim='0.5%'."
        raise MissingExtraError(msg) from None
    return float(pyproj.CRS.from_user_input(domain.crs).axis_info[0].unit_conversion_factor)
