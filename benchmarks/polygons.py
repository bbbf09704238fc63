"""Polygon counts on STAQ, against intersections by shapely."""

import time

import numpy as np
import shapely

import hushgrid as hg
from benchmarks.row import Row, best

DOMAIN = hg.Domain(west=-126, south=17, east=-66, north=57)
POINTS = 1_450_000
COLUMNS, ROWS, STEPS = 60, 50, 25  # counties, and segments a side
PLAIN = 100


def clustered(rng):
    """Points around a thousand centres of very different size."""
    centres = rng.uniform((DOMAIN.west, DOMAIN.south), (DOMAIN.east, DOMAIN.north), (1000, 2))
    sizes = rng.pareto(1.2, 1000)
    chosen = rng.choice(1000, POINTS, p=sizes / sizes.sum())
    return centres[chosen] + rng.normal(0, 0.3, (POINTS, 2))


def counties(rng):
    """Polygons of 100 vertices with crooked borders that tile the domain."""
    across, along = np.arange(COLUMNS * STEPS + 1), np.arange(ROWS * STEPS + 1)
    places = np.stack(np.meshgrid(across, along), axis=-1) + rng.uniform(-0.4, 0.4, (len(along), len(across), 2))
    places[:, [0, -1], 0] = across[[0, -1]]
    places[[0, -1], :, 1] = along[[0, -1], None]
    places = (DOMAIN.west, DOMAIN.south) + places / (across[-1], along[-1]) * (DOMAIN.width, DOMAIN.height)
    there, back = np.arange(STEPS), np.arange(STEPS, 0, -1)
    low, high = np.zeros(STEPS, int), np.full(STEPS, STEPS)
    column, row = np.concatenate([there, high, back, low]), np.concatenate([low, there, high, back])
    corners = [(x * STEPS, y * STEPS) for y in range(ROWS) for x in range(COLUMNS)]
    return shapely.polygons([places[y + row, x + column] for x, y in corners])


def count_by_shapely(leaves, counts, areas):
    """Share of every leaf that an area covers, by intersection, and the flat density summed."""
    area, leaf = leaves.query(areas)
    boxes = leaves.geometries[leaf]
    shares = shapely.area(shapely.intersection(areas[area], boxes)) / shapely.area(boxes)
    return np.bincount(area, shares * counts[leaf], minlength=len(areas))


def rows():
    """Three thousand counties on a STAQ release; they tile the domain, so that their counts sum to the total."""
    rng = np.random.default_rng(0)
    points, areas = clustered(rng), counties(rng)
    sloped = hg.publish(points, domain=DOMAIN, epsilon=1, method=hg.Staq())
    flat = hg.Synopsis.infer(
        sloped.partition,
        sloped.measurements,
        inference="least-squares",
        claim=sloped.claim,
        method=sloped.method,
    )
    few = areas[:: len(areas) // PLAIN]
    leaves = shapely.STRtree(shapely.box(*flat.partition.bounds().T))
    start = time.perf_counter()
    plain = count_by_shapely(leaves, flat.counts, few)
    intersected = (time.perf_counter() - start) / len(few)
    assert np.allclose(flat.count_polygons(few), plain, atol=1e-6)
    start = time.perf_counter()
    counts = sloped.count_polygons(areas)
    first = time.perf_counter() - start
    assert np.isclose(counts.sum(), sloped.total)
    counted = best(lambda: sloped.count_polygons(areas), times=3)
    return [
        Row(
            name="STAQ queries, 3,000 polygons of 100 vertices",
            measured=first,
            target=5,
            unit="s",
            better="lower",
            note=f"the first time; {counted:.2f} s once tables are made, "
            f"{best(lambda: sloped.answer_polygons(areas), times=3):.2f} s with intervals; "
            f"{intersected / (counted / len(areas)):,.0f} x shapely's intersections; {sloped.partition.cells:,} leaves",
        )
    ]
