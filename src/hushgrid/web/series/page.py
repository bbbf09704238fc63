"""The page of a series: maps, charts and a table over time."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.change.difference import plural
from hushgrid.change.series import Series
from hushgrid.synopsis.facts import Facts
from hushgrid.web.areas import add_outlines
from hushgrid.web.document import definitions, described, document, json_in_html, simulation_alert
from hushgrid.web.figures import CONFIDENCE, Payload, picture_figures
from hushgrid.web.page import MODULES, STYLES, credits_of, fine_print, surroundings, switch
from hushgrid.web.series.places import PlacesOverTime

SERIES_MODULES = (
    "../change/compared",
    "../change/side_map",
    "../series/counted",
    "../series/series_table",
    "../series/small_charts",
    "../series/small_maps",
    "../series/series_main",
)
ALL_SERIES_MODULES = (*(name for name in MODULES if name != "main"), *SERIES_MODULES)
SERIES_STYLES = ("series",)
THOUSANDTHS = 1000  # that counts are rounded to
FARTHEST = 2**50  # of a rounded count, so that it is exact in a double
MOST_MAPS = 24  # the last ones of a long series


def series_page(
    series: Series,
    levels: Sequence[PlacesOverTime],
    *,
    title: str,
    description: str | None = None,
    releases: Mapping[str, str] | None = None,
) -> str:
    """A series as one self-contained web page.

    It has a map of each period, a chart of each place with the bands of its intervals, and a table of places by
    period. A period without a release is a gap in all of them.

    Parameters
    ----------
    series : Series
    levels : sequence of PlacesOverTime
        Places to tell the counts of, the coarsest first; the last are shown at first.
    title : str
        Heading of the page.
    description : str, optional
        What stands below the heading.
    releases : mapping of str to str, optional
        As for `map_page`.
    """
    facts, payload = Facts.of(series.last), Payload()
    simulation = any(synopsis.simulation for synopsis in series.values())
    shown: dict[str, Any] = {
        "domain": series.domain.bounds,
        "crs": series.domain.crs,
        "geographic": series.domain.is_geographic,
        "counted": facts.counted,
        "confidence": CONFIDENCE,
        "afterBounds": facts.after_bounds(CONFIDENCE),
        "simulation": simulation,
        "periods": series.periods,
        "known": [period in series for period in series.periods],
        "kind": series.kind or "release",
        "levels": [_add_level(number, level, payload) for number, level in enumerate(levels)],
        "maps": list(range(len(series.periods))[-MOST_MAPS:]),
    }
    shown["pictures"] = _pictures(series, payload)
    if series.domain.is_geographic:
        shown |= surroundings(series.domain, payload)
    shown["arrays"] = payload.contents
    return document(
        "series.html",
        modules=ALL_SERIES_MODULES,
        styles=(*STYLES, *SERIES_STYLES),
        title=escape(title),
        description=described(description),
        switch=switch(releases or {}),
        simulation=simulation_alert(simulation),
        last=escape([*series][-1]),
        sentence=escape(facts.claim.sentence),
        everyone=escape(series.everyone),
        about=_about(series, facts),
        caveats=escape(" ".join(_common_caveats(series))),
        credits=credits_of(shown),
        facts=json_in_html(shown),
        payload=payload.text,
    )


def _add_level(number: int, level: PlacesOverTime, payload: Payload) -> dict[str, Any]:
    """Names of places.

    Their outlines go to the payload, and their counts in periods that have a release.
    """
    known = level.counts.known
    for name in ("estimate", "low", "high"):
        payload.add(f"{name}{number}", _rounded(getattr(level.counts, name)[known]).ravel())
    payload.add(f"usable{number}", level.counts.usable[known].ravel())
    vertices, *starts = level.outlines
    return {
        "name": level.noun,
        "several": plural(level.noun),
        "names": level.names,
        "decimals": add_outlines(number, vertices, starts, payload),
    }


def _rounded(counts: Floats) -> Floats:
    return np.clip(np.rint(THOUSANDTHS * counts), -FARTHEST, FARTHEST)


def _pictures(series: Series, payload: Payload) -> dict[str, Any] | None:
    """A picture of each of the last periods.

    Releases on areas have none, because areas are filled by their counts.
    """
    if not all(synopsis.partition.tiles for synopsis in series.values()):
        return None
    return {
        _side(number): picture_figures(series[period], payload, side=_side(number))
        for number, period in list(enumerate(series.periods))[-MOST_MAPS:]
        if period in series
    }


def _side(number: int) -> str:
    """Prefix of the names of what belongs to a period's picture."""
    return f"{number}-"


def _about(series: Series, facts: Facts) -> str:
    """Each release in short, and the fine print of the last."""
    told = {period: _in_short(Facts.of(synopsis)) for period, synopsis in series.items()}
    common = {name: text for name, text in fine_print(facts).items() if name != "Privacy budget"}
    return f"<dl>{definitions(told)}</dl><h2>The last of them</h2><dl>{definitions(common)}</dl>"


def _common_caveats(series: Series) -> list[str]:
    """What holds of all releases; what each has for itself stands beside it."""
    first, *others = (Facts.of(synopsis).caveats for synopsis in series.values())
    return [caveat for caveat in first if all(caveat in other for other in others)]


def _in_short(facts: Facts) -> str:
    """The cost of one release, its method, and what its readers must know."""
    return " ".join([f"ε = {float(facts.claim.epsilon):g}, by {facts.method.name}.", *facts.caveats])
