"""Pages taken apart, and the answers their own script gives under node."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.web.page import map_page

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

MODULES = Path(hg.__file__).parent / "web" / "assets" / "modules"
SCRIPT = Path(__file__).with_name("answers.mjs")
DOMAIN = hg.Domain(west=-126, south=17, east=-66, north=57)


def block(page, name):
    """The text of a data block of a page."""
    return re.search(rf'<script type="[a-z/]+" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


def facts_of(page):
    """The facts that a page knows."""
    return json.loads(block(page, "facts"))


def answers_under_node(synopsis, *, rects=(), polygons=(), places=()):
    """What the script of the page says: estimate, low and high of rectangles, of polygons and of the cells at places.

    Cells come with bounds in front and their area behind.
    """
    page = map_page(synopsis)
    job = {
        "facts": facts_of(page),
        "payload": block(page, "payload"),
        "rects": np.asarray(rects).tolist(),
        "polygons": [[np.asarray(ring).tolist() for ring in rings] for rings in polygons],
        "places": np.asarray(places).tolist(),
    }
    done = subprocess.run([NODE, SCRIPT, MODULES], input=json.dumps(job), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: np.array(values) for name, values in json.loads(done.stdout).items()}


def some_points():
    """A wide cluster, a dense one, and points everywhere, a few of them on edges of the domain."""
    rng = np.random.default_rng(0)
    parts = (
        rng.normal([-100, 40], [3, 2], (2000, 2)),
        rng.normal([-80, 30], [0.3, 0.3], (1500, 2)),
        rng.uniform([-126, 17], [-66, 57], (800, 2)),
        np.array([[-126.0, 17.0], [-66.0, 57.0], [-96.0, 37.0]]),
    )
    return np.concatenate(parts)


def some_rects(count, seed=1):
    """Large and small rectangles, some beyond the domain, and the whole of it."""
    rng = np.random.default_rng(seed)
    one, other = rng.uniform([-130, 15], [-60, 60], (2, count, 2))
    large = np.concatenate([np.minimum(one, other), np.maximum(one, other)], axis=1)
    small = np.concatenate([one, one + rng.uniform(0.001, 0.5, (count, 2))], axis=1)
    return np.concatenate([large, small, [DOMAIN.bounds], [(-180, -90, 180, 90)]])


def as_ring(rect):
    """A rectangle as a polygon."""
    west, south, east, north = rect
    return [[(west, south), (east, south), (east, north), (west, north)]]


def as_columns(answer):
    """Estimate, low and high, shape (n, 3)."""
    return np.stack([answer.estimate, answer.low, answer.high], axis=1)
