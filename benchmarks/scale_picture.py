"""The rows of `benchmarks.scale` as a picture: seconds and memory over the number of points."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"ug": "#0072B2", "ag": "#E69F00", "staq": "#009E73"}  # Okabe and Ito's, safe for colour-blind readers
MARKERS = {"ug": "o", "ag": "s", "staq": "^"}
EPSILON = 0.01


def draw(rows, path):
    """Seconds of processors on the left, peak memory on the right, both axes logarithmic."""
    figure, (seconds, memory) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    for method in COLOURS:
        grown = [row for row in rows if row["method"] == method and row["epsilon"] == EPSILON]
        alike = [row for row in rows if row["method"] == method and _about_a_million_cells(row)]
        _line(seconds, grown, method, lambda row: row["publishing_cpu"], "-")
        _line(memory, grown, method, lambda row: row["peak_gb"], "-")
        _line(memory, alike, method, lambda row: row["peak_gb"], ":")
    sizes = sorted({row["points"] for row in rows})
    decoding = [min(row["decoding_cpu"] for row in rows if row["points"] == size) for size in sizes]
    seconds.plot(sizes, decoding, color="0.6", linewidth=1, label="decoding once")
    memory.axhline(2, color="0.6", linewidth=1)
    memory.text(min(sizes), 2.1, "limit", color="0.4", fontsize=9)
    memory.plot([], [], color="0.3", label="epsilon 0.01")
    memory.plot([], [], color="0.3", linestyle=":", label="a million cells each")
    for axes, label in ((seconds, "processor seconds to publish"), (memory, "peak memory, GB")):
        axes.set(xscale="log", yscale="log", xlabel="points", ylabel=label)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9)
    memory.set_ylim(0.1, 4)
    memory.set_yticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    memory.minorticks_off()
    with mpl.rc_context({"svg.hashsalt": "scale"}):  # the same file from the same rows
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _about_a_million_cells(row):
    return abs(row["epsilon"] * row["points"] / 1e7 - 1) < 0.01


def _line(axes, rows, method, value, style):
    rows = sorted(rows, key=lambda row: row["points"])
    places, values = [row["points"] for row in rows], [value(row) for row in rows]
    label = method.upper() if style == "-" else None
    axes.plot(places, values, style, color=COLOURS[method], marker=MARKERS[method], markersize=5, label=label)
