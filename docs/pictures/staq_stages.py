"""How STAQ looks closer, level by level."""

import numpy as np
from matplotlib.figure import Figure

from docs.pictures.look import draw_cells, panels
from docs.pictures.places import EUROPE, release
from hushgrid.geometry.tree import Tree

DEPTHS = {
    3: "64 cells, for a small part of the budget",
    4: "closer where there seems to be much",
    5: "and closer still",
}


def draw_staq_stages() -> Figure:
    """The tree of one release cut off at some levels, and whole."""
    figure, places = panels(2, 2, size=(10, 8.6))
    synopsis = release("staq", epsilon="0.1")
    tree = synopsis.partition
    assert isinstance(tree, Tree)
    sums = np.concatenate([[0.0], np.cumsum(synopsis.counts)])
    first, stop = tree.runs
    masses = sums[stop] - sums[first]
    titles = {**DEPTHS, len(tree.levels): f"the release: {tree.cells:,} cells"}
    for axes, (depth, title) in zip(places, titles.items(), strict=True):
        shown = _cut_off(tree, depth)
        draw_cells(axes, EUROPE, tree.node_bounds(shown), masses[shown])
        axes.set_title(title, fontsize=10.5)
    return figure


def _cut_off(tree: Tree, depth: int) -> np.ndarray:
    """Nodes that tile the domain when nothing is divided below a level."""
    level = np.repeat(np.arange(len(tree.levels) - 1), np.diff(tree.levels))
    return np.flatnonzero((level == depth) | ((level < depth) & (tree.child_counts == 0)))
