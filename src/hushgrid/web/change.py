"""The page of a change: two releases side by side, and what differs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from hushgrid.change.change import Change
from hushgrid.change.difference import Difference, plural
from hushgrid.geometry.areas import AreaPartition
from hushgrid.synopsis.facts import Facts
from hushgrid.web.areas import Arrays, add_outlines, block_outlines, level_outlines, polygon_outlines
from hushgrid.web.document import definitions, document, json_in_html, simulation_alert
from hushgrid.web.figures import Payload, picture_figures
from hushgrid.web.notebook import Map
from hushgrid.web.page import MODULES, STYLES, credits_of, fine_print, surroundings

CHANGE_MODULES = ("diverging", "compared", "change_table", "side_map", "change_main")
ALL_CHANGE_MODULES = (*(name for name in MODULES if name != "main"), *(f"../change/{name}" for name in CHANGE_MODULES))
CHANGE_STYLES = ("change",)
THOUSANDTHS = 1000  # that counts, ratios and logarithms of p-values are rounded to
MISSING = -1  # in place of a ratio


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedPlaces:
    """Places of one kind, and what changed in each.

    Parameters
    ----------
    noun : str
        What one of them is.
    names : sequence of str, optional
        What they are called; blocks of a grid are called by where they lie.
    outlines : tuple of arrays
        As `AreaPartition.arrays`.
    difference : Difference
    """

    noun: str
    names: Sequence[str] | None
    outlines: Arrays
    difference: Difference


def usual_places(change: Change, *, grid: int | None = None) -> list[ComparedPlaces]:
    """All levels of areas of both releases, or blocks of a grid."""
    if grid is None and change.on_same_areas:
        return list(_level_places(change))
    blocks, difference = change.blocks(grid)
    return [ComparedPlaces(noun="block", names=None, outlines=block_outlines(blocks), difference=difference)]


def polygon_places(change: Change, polygons: Any, names: Sequence[str], difference: Difference) -> ComparedPlaces:
    """The given polygons that have an outline."""
    kept, outlines = polygon_outlines(polygons, change.before.domain)
    return ComparedPlaces(
        noun="area",
        names=[names[number] for number in kept.tolist()],
        outlines=outlines,
        difference=difference.of_places(kept),
    )


def _level_places(change: Change) -> Iterator[ComparedPlaces]:
    partition = change.before.partition
    assert isinstance(partition, AreaPartition)
    for noun, order, outlines in level_outlines(partition):
        names, difference = change.areas(noun)
        yield ComparedPlaces(
            noun=noun,
            names=[names[number] for number in order.tolist()],
            outlines=outlines,
            difference=difference.of_places(order),
        )


def change_map(change: Change, *, grid: int | None = None, title: str | None = None) -> Map:
    """The page of a change, as notebooks show it."""
    title = title or "Before and after"
    return Map(title=title, page=change_page(change, usual_places(change, grid=grid), title=title))


def change_page(
    change: Change,
    levels: Sequence[ComparedPlaces],
    *,
    title: str = "Before and after",
    called: tuple[str, str] = ("Before", "After"),
) -> str:
    """A change as one self-contained web page.

    It has both releases side by side, their difference, and a table by evidence.

    Parameters
    ----------
    change : Change
    levels : sequence of ComparedPlaces
        What to compare on, the coarsest first; the last is shown at first.
    title : str
        Heading of the page.
    called : pair of str
        What the releases are called.
    """
    facts, payload, domain = Facts.of(change.before), Payload(), change.before.domain
    simulation = change.before.simulation or change.after.simulation
    shown: dict[str, Any] = {
        "domain": domain.bounds,
        "crs": domain.crs,
        "geographic": domain.is_geographic,
        "counted": facts.counted,
        "called": called,
        "afterBounds": facts.after_bounds(change.terms.confidence),
        "levels": [_add_level(number, level, payload) for number, level in enumerate(levels)],
    }
    if change.before.partition.tiles and change.after.partition.tiles:
        sides = (("before", change.before), ("after", change.after))
        shown["pictures"] = {side: picture_figures(synopsis, payload, side=side) for side, synopsis in sides}
    if domain.is_geographic:
        shown |= surroundings(domain, payload)
    shown["arrays"] = payload.contents
    return document(
        "change.html",
        modules=ALL_CHANGE_MODULES,
        styles=(*STYLES, *CHANGE_STYLES),
        title=escape(title),
        before=escape(called[0]),
        after=escape(called[1]),
        simulation=simulation_alert(simulation),
        about=_about(change, called),
        caveats=escape(" ".join(change.caveats(called))),
        credits=credits_of(shown),
        facts=json_in_html(shown),
        payload=payload.text,
    )


def _about(change: Change, called: tuple[str, str]) -> str:
    """The guarantee and the fine print of both releases."""
    parts = []
    for name, synopsis in zip(called, (change.before, change.after), strict=True):
        facts = Facts.of(synopsis)
        heading = f"<h2>{escape(name)}</h2><p>{escape(facts.claim.sentence)}</p>"
        parts.append(f"{heading}<dl>{definitions(fine_print(facts))}</dl>")
    return "".join(parts)


def _add_level(number: int, level: ComparedPlaces, payload: Payload) -> dict[str, Any]:
    """Names and a sentence about places.

    Their figures and outlines go to the payload.
    """
    columns = level.difference.columns()
    for name in ("before", "after", "low", "high"):
        payload.add(f"{name}{number}", np.rint(THOUSANDTHS * columns[name]))
    for name in ("ratio", "ratio_low", "ratio_high"):
        ratios = np.where(np.isnan(columns[name]), MISSING, np.minimum(columns[name], 2**30))
        payload.add(f"{name}{number}", np.rint(THOUSANDTHS * ratios))
    payload.add(f"evidence{number}", np.rint(-THOUSANDTHS * np.log10(columns["p_value"])))
    payload.add(f"significant{number}", columns["significant"])
    vertices, *starts = level.outlines
    return {
        "name": level.noun,
        "several": plural(level.noun),
        "names": level.names,
        "sentence": level.difference.sentence(level.noun),
        "decimals": add_outlines(number, vertices, starts, payload),
    }
