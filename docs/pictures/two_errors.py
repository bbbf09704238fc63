"""The two errors of a grid, and the side that balances them."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from docs.pictures.look import NOISE, TOTAL, UNIFORMITY, Floats, panels
from docs.pictures.places import EUROPE, places
from hushgrid import UniformGrid, publish, simulation_rng

SIDES = np.unique(np.geomspace(4, 512, 15).round().astype(int))
BUDGETS = ("0.1", "1")
QUERIES = 400
WIDTH, HEIGHT = 0.08 * EUROPE.width, 0.08 * EUROPE.height
GUIDELINE_C = 10.0  # Guideline 1 of the paper


def draw_two_errors() -> Figure:
    """Errors of rectangles against the side of the grid, at two budgets."""
    figure, panels_ = panels(1, 2, size=(11, 4.2))
    rectangles = _rectangles()
    truth = _counted(rectangles)
    shape = [_uniformity_error(int(side), rectangles, truth) for side in SIDES]
    for axes, epsilon in zip(panels_, BUDGETS, strict=True):
        noise = [_noise_error(int(side), epsilon, rectangles) for side in SIDES]
        both = [_actual_error(int(side), epsilon, rectangles, truth) for side in SIDES]
        axes.plot(SIDES, shape, color=UNIFORMITY, label="from points spread unevenly inside cells")
        axes.plot(SIDES, noise, color=NOISE, label="from noise")
        axes.plot(SIDES, both, color=TOTAL, linewidth=2, marker="o", markersize=3.5, label="both: what a release has")
        _mark_guideline(axes, math.sqrt(len(places()) * float(epsilon) / GUIDELINE_C))
        axes.set_title(f"ε = {epsilon}", fontsize=10.5)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("cells a side")
    panels_[0].set_ylabel("mean error of a rectangle (places)")
    panels_[1].legend(loc="upper center", fontsize=8.5)
    return figure


def _rectangles() -> Floats:
    corners = np.random.RandomState(3).uniform(0, 1, (QUERIES, 2))
    west = EUROPE.west + corners[:, 0] * (EUROPE.width - WIDTH)
    south = EUROPE.south + corners[:, 1] * (EUROPE.height - HEIGHT)
    return np.stack([west, south, west + WIDTH, south + HEIGHT], axis=1)


def _counted(rectangles: Floats) -> Floats:
    lon, lat = places().T
    return np.array([np.sum((lon >= w) & (lat >= s) & (lon < e) & (lat < n)) for w, s, e, n in rectangles], float)


def _uniformity_error(side: int, rectangles: Floats, truth: Floats) -> float:
    """The error that is left with hardly any noise."""
    return _actual_error(side, "1000", rectangles, truth)


def _noise_error(side: int, epsilon: str, rectangles: Floats) -> float:
    """What a release of no points at all answers."""
    nobody = np.empty((0, 2))
    return _actual_error(side, epsilon, rectangles, np.zeros(QUERIES), points=nobody)


def _actual_error(side: int, epsilon: str, rectangles: Floats, truth: Floats, *, points: Floats | None = None) -> float:
    points = places() if points is None else points
    method, rng = UniformGrid(side=side), simulation_rng(side)
    synopsis = publish(points, domain=EUROPE, epsilon=epsilon, method=method, calibrate=False, rng=rng)
    return float(np.abs(synopsis.count(rectangles) - truth).mean())


def _mark_guideline(axes: Axes, side: float) -> None:
    axes.axvline(side, color=TOTAL, linewidth=0.8, linestyle=":")
    axes.annotate(
        f"Guideline 1: {side:.0f}", (side, 0.02), (4, 0), ("data", "axes fraction"), "offset points", fontsize=8.5
    )
