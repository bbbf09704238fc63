"""A release without and with a public prior, and the prior beside it."""

import math

import numpy as np
from matplotlib.figure import Figure

from docs.pictures.known import PANEL, PIXELS, TITLE, draw_densities, raw_cells, set_at_hand
from docs.pictures.look import Floats, panels
from hushgrid import Domain, publish
from hushgrid.geometry.quadrants import gather_bits
from hushgrid.priors.opening import open_prior
from hushgrid.priors.prior import Prior
from hushgrid.priors.sharpen import sharpened

NAME, BUDGET = "us_chains", "0.1"
SHOWN = Domain(west=-86, south=36.5, east=-70, north=44)
LEVEL = int(math.log2(PIXELS))


def draw_sharpened() -> Figure:
    """The same measurements without and with the bundled places, and these places."""
    dataset = set_at_hand(NAME)
    if dataset is None:
        msg = f"{NAME} is not there: let HUSHGRID_DATA name the folder that holds it."
        raise FileNotFoundError(msg)
    domain, prior = dataset.domain, open_prior("places", dataset.domain)
    without = publish(dataset.path, domain=domain, epsilon=BUDGET, calibrate=False, prior="none")
    shown = {
        "the prior: places of the world": mass_of_pixels(prior),
        f"the release without it, ε = {BUDGET}": raw_cells(without),
        "the same measurements, with it": raw_cells(sharpened(without, prior)),
    }
    ratio = SHOWN.width / SHOWN.height * math.cos(math.radians((SHOWN.south + SHOWN.north) / 2))
    figure, places = panels(1, len(shown), size=(3 * math.sqrt(PANEL * ratio), math.sqrt(PANEL / ratio) + TITLE))
    for axes, (title, densities) in zip(places, shown.items(), strict=True):
        draw_densities(axes, domain, densities, SHOWN)
        axes.set_title(title, fontsize=9.5)
    return figure


def mass_of_pixels(prior: Prior) -> Floats:
    """Evidence of a prior in each pixel of its domain, the southernmost row first."""
    codes = np.arange(4**LEVEL)
    pixels = np.empty((1 << LEVEL, 1 << LEVEL))
    pixels[gather_bits(codes >> 1), gather_bits(codes)] = prior.evidence(np.full(4**LEVEL, LEVEL), codes)
    return pixels
