"""Areas in levels with borders that bend, and what the script of their page says of them under node."""

import json
import subprocess
from pathlib import Path

import geopandas
import numpy as np
import shapely

import hushgrid as hg
from hushgrid.web.page import map_page
from tests.web.pages import MODULES, NODE, block, facts_of

SCRIPT = Path(__file__).with_name("areas.mjs")
DOMAIN = hg.Domain(west=-100, south=30, east=-90, north=40)
SIDE = 6
HOSTILE = "<img src=x onerror=alert(1)>"
FORMULA = '=HYPERLINK("evil",1)'
RIGHT_TO_LEFT = "שלום עולם"
LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 3


def frame(side=SIDE, vertices=9):
    """Squares with ragged borders, a lake cut out of one, in states and regions; some have odd names."""
    names = [f"county {number}" for number in range(side * side)]
    names[13:17] = [HOSTILE, FORMULA, RIGHT_TO_LEFT, LONG]
    rows, columns = np.divmod(np.arange(side * side), side)
    states = [f"state {row // 2}-{column // 3}" for row, column in zip(rows, columns, strict=True)]
    states[-1] = "state alone"  # whose one county is all of it
    return geopandas.GeoDataFrame(
        {
            "county": names,
            "state": states,
            "region": [f"region {row // 4}" for row in rows],
        },
        geometry=_ragged(side, vertices),
        crs="EPSG:4326",
    )


def _ragged(side, vertices):
    """Squares whose borders run to and fro, alike on both sides of each."""
    step = 10 / side
    along = np.linspace(0, 1, vertices)
    wave = 0.15 * np.sin(3 * np.pi * along) * np.sin(np.pi * along)

    def border(start, end):
        towards = np.subtract(end, start)
        return np.round(start + along[:, None] * towards + wave[:, None] * towards[::-1] * (-1, 1), 5)

    shapes = []
    for number in range(side * side):
        row, column = divmod(number, side)
        west, south = -100 + column * step, 30 + row * step
        corners = np.array([[west, south], [west + step, south], [west + step, south + step], [west, south + step]])
        sides = [border(corners[0], corners[1]), border(corners[1], corners[2])]
        sides += [border(corners[3], corners[2])[::-1], border(corners[0], corners[3])[::-1]]
        shapes.append(shapely.Polygon(np.concatenate([part[:-1] for part in sides])))
    lake = shapely.Point(-95 + step / 2, 35 + step / 2).buffer(step / 5, quad_segs=2)
    middle = (side + 1) * (side // 2)
    shapes[middle] = shapely.difference(shapes[middle], lake)
    return shapely.intersection(np.array(shapes, object), shapely.box(*DOMAIN.bounds))


def district_slices():
    """Two kinds on seven weekdays, counted on the areas."""
    by = hg.By.product(hg.By("kind", values=["car", "bike"]), hg.By.time("at", "weekday"))
    return hg.Slices(
        by=by, parts={name: district_release(points=200 * (number + 2)) for number, name in enumerate(by.names)}
    )


def district_release(levels=("region", "state", "county"), epsilon=1, points=3000):
    """A release of made-up points on the areas."""
    rng = np.random.default_rng(3)
    given = np.clip(rng.normal([-96, 33], [2, 1.5], (points, 2)), DOMAIN.bounds[:2], DOMAIN.bounds[2:])
    areas = hg.Areas(frame(), levels=list(levels)) if len(levels) > 1 else hg.Areas(frame(), names="county")
    return hg.publish(given, domain=DOMAIN, epsilon=epsilon, method=areas)


def districts_under_node(release, *, sums=(), places=(), chosen=()):
    """What the script says: answers of all levels, sums of (level, areas), and the finest area at places.

    Of slices, it is said for those that are chosen: along each axis one by its number, or -1 for all.
    """
    page = map_page(release)
    job = {"facts": facts_of(page), "payload": block(page, "payload"), "sums": sums, "places": places}
    job["chosen"] = chosen
    done = subprocess.run(
        [NODE, SCRIPT, MODULES], input=json.dumps(job), capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
