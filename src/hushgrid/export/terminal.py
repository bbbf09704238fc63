"""A release as a small picture of text, for terminals."""

import math

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.export.picture import densities
from hushgrid.synopsis.synopsis import Synopsis

SHADES = " ·░▒▓█"  # from nothing to the densest
DECADES = 3.0  # of density, from the first shade to the last
DENSEST = 0.995  # of the letters that show anything; the few above it share the last shade
TALL = 2.0  # a letter is about so many times as high as it is wide
FINE = 4  # blocks across a letter


def text_picture(synopsis: Synopsis, *, columns: int = 64) -> str:
    """Densities of a release as lines of text, the northernmost first.

    Parameters
    ----------
    columns : int
        Letters in a line.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=-0.5, south=-0.5, east=0.5, north=0.5)
    >>> points = [[-0.4, -0.4]] * 4000 + [[0.4, 0.4]] * 90
    >>> release = hg.publish(points, domain=square, epsilon=5, method=hg.UniformGrid(side=8))
    >>> lines = text_picture(release, columns=8).splitlines()
    >>> len(lines), lines[-1][0]
    (4, '█')
    """
    fine = densities(synopsis, FINE * columns)
    domain = synopsis.domain
    squeeze = math.cos(math.radians((domain.south + domain.north) / 2)) if domain.is_geographic else 1.0
    rows = max(1, round(columns * domain.height / (domain.width * max(squeeze, 0.1)) / TALL))
    letters = _resized(_resized(fine, rows).T, columns).T
    some = letters[letters > 0]
    highest = float(np.quantile(some, DENSEST)) if some.size else 1.0
    with np.errstate(divide="ignore"):
        places = 1 + (len(SHADES) - 2) * (1 + np.log10(letters / highest) / DECADES)
    shades = np.clip(np.ceil(places), 0, len(SHADES) - 1).astype(int)
    return "\n".join("".join(SHADES[shade] for shade in line).rstrip() for line in shades[::-1])


def _resized(values: Floats, size: int) -> Floats:
    """Means along the first axis, over `size` equal parts of it."""
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    edges = np.linspace(0, len(values), size + 1)
    below = np.floor(edges).astype(int)
    above = np.minimum(below + 1, len(values))
    at_edges = sums[below] + (edges - below)[:, None] * (sums[above] - sums[below])
    return np.asarray(np.diff(at_edges, axis=0) * (size / len(values)))
