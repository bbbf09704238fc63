"""What a budget allows an attacker to learn."""

import numpy as np
from matplotlib.figure import Figure

from docs.pictures.look import INK, panels

BUDGETS = {5.0: "#e3edf7", 2.0: "#b9d3ea", 1.0: "#85b3d8", 0.5: "#4f8fc0", 0.1: "#1f5a8a"}


def draw_odds() -> Figure:
    """How sure an attacker can become that a person is in the data, by how sure they were."""
    figure, (axes,) = panels(1, 1, size=(6.4, 4.4))
    before = np.linspace(0.0, 1.0, 501)
    for budget, colour in BUDGETS.items():
        factor = np.exp(budget)
        highest = factor * before / (1 - before + factor * before)
        lowest = before / (before + factor * (1 - before))
        axes.fill_between(before, lowest, highest, color=colour, linewidth=0, label=f"ε = {budget:g}")
    axes.plot(before, before, color="white", linewidth=1)
    axes.set_xlabel("how likely an attacker held it before")
    axes.set_ylabel("how likely they may hold it after")
    axes.set_title("What a release can change about any one person", color=INK, fontsize=10.5)
    axes.legend(loc="lower right", facecolor="white", frameon=True, framealpha=0.9)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    return figure
