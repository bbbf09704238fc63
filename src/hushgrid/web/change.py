"""The page of a change: two releases side by side, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from hushgrid.answering.areas import AreaShapes, has_outline, multipolygons
from hushgrid.answering.outlines import import_shapely, valid_polygons
from hushgrid.arrays import Floats, Indices
from hushgrid.change.change import Change
from hushgrid.change.difference import Difference, plural
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.facts import SIMULATION, Facts
from hushgrid.web.areas import add_outlines
from hushgrid.web.document import document, json_in_html
from hushgrid.web.figures import Payload, picture_figures
from hushgrid.web.notebook import Map
from hushgrid.web.page import CREDITS, MODULES, STYLES, fine_print, surroundings

CHANGE_MODULES = ("diverging", "compared", "change_table", "side_map", "change_main")
ALL_CHANGE_MODULES = (*(name for name in MODULES if name != "main"), *(f"../change/{name}" for name in CHANGE_MODULES))
CHANGE_STYLES = ("change",)
THOUSANDTHS = 1000  # that counts, ratios and logarithms of p-values are rounded to
MISSING = -1  # in place of a ratio

Arrays = tuple[Floats, Indices, Indices, Indices]  # vertices, and the starts of rings, polygons and areas


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
    """All levels of areas that both releases were counted on, or blocks of a grid."""
    if grid is None and change.on_same_areas:
        return list(map(_level_places(change), _partition(change).level_names))
    blocks, difference = change.blocks(grid)
    return [ComparedPlaces(noun="block", names=None, outlines=_block_outlines(blocks), difference=difference)]


def polygon_places(change: Change, polygons: Any, names: Sequence[str], difference: Difference) -> ComparedPlaces:
    """Polygons that were given, but those without an outline."""
    shapes = multipolygons(valid_polygons(polygons, change.before.domain))
    kept = np.flatnonzero(has_outline(shapes))
    _, vertices, starts = import_shapely().to_ragged_array(shapes[kept])
    return ComparedPlaces(
        noun="area",
        names=[names[number] for number in kept.tolist()],
        outlines=(vertices, *starts),
        difference=difference.of_places(kept),
    )


def _partition(change: Change) -> AreaPartition:
    partition = change.before.partition
    assert isinstance(partition, AreaPartition)
    return partition


def _level_places(change: Change) -> Any:
    partition = _partition(change)
    shapes = AreaShapes(partition)

    def places(name: str) -> ComparedPlaces:
        level = partition.level_called(name)
        names, difference = change.areas(name)
        order = np.argsort(partition.file_order(level))  # outlines come in the order of the partition
        return ComparedPlaces(
            noun=name,
            names=[names[number] for number in order.tolist()],
            outlines=partition.arrays if name == partition.level else shapes.joined(level.starts),
            difference=difference.of_places(order),
        )

    return places


def _block_outlines(grid: Grid) -> Arrays:
    """Every block as one ring."""
    west, south, east, north = grid.bounds().T
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    vertices = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1).reshape(-1, 2)
    each = np.arange(grid.cells + 1)
    return vertices, len(corners) * each, each, each


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
        "confidence": change.terms.confidence,
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
        simulation=f'<p class="simulation" role="alert">{escape(SIMULATION)}</p>' if simulation else "",
        about=_about(change, called),
        caveats=escape(facts.meaning),
        credits=" ".join(credit for name, credit in CREDITS.items() if name in {"leaflet", *shown}),
        facts=json_in_html(shown),
        payload=payload.text,
    )


def _about(change: Change, called: tuple[str, str]) -> str:
    """The guarantee and the fine print of both releases."""
    parts = []
    for name, synopsis in zip(called, (change.before, change.after), strict=True):
        facts = Facts.of(synopsis)
        rows = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in fine_print(facts).items())
        parts.append(f"<h2>{escape(name)}</h2><p>{escape(facts.claim.sentence)}</p><dl>{rows}</dl>")
    return "".join(parts)


def _add_level(number: int, level: ComparedPlaces, payload: Payload) -> dict[str, Any]:
    """Names and a sentence about places; their figures and outlines go to the payload."""
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
