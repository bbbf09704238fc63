"""The benchmark table as a picture: how far above or below its target each figure is."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

REACHED, MISSED = "#0072B2", "#D55E00"  # Okabe and Ito's blue and vermilion, safe for colour-blind readers


def draw(rows, path):
    """One bar a row, measured over target (or target over measured where lower is better), on a log scale."""
    rows = rows[::-1]
    ratios = [row.measured / row.target if row.better == "higher" else row.target / row.measured for row in rows]
    figure, axes = plt.subplots(figsize=(10, 0.45 * len(rows) + 1.2), layout="constrained")
    axes.barh(range(len(rows)), ratios, left=0, color=[REACHED if row.ok else MISSED for row in rows])
    axes.set_xscale("log")
    axes.set_xlim(0.3, max(ratios) * 3)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    for place, (row, ratio) in enumerate(zip(rows, ratios, strict=True)):
        axes.text(max(ratio, 0.31) * 1.05, place, f"{row.measured:.3g} {row.unit}", va="center", fontsize=9)
    axes.set_xlabel("times better than the target (line: the target)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
