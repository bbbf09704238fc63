"""The rows of `benchmarks.cost` as a picture: seconds and memory over points times epsilon."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator

NAMES = {"auto": "default", "ag": "AG"}
COLOURS = {"auto": "#009E73", "ag": "#E69F00"}  # Okabe and Ito's, safe for colour-blind readers
MARKERS = {"auto": "^", "ag": "s"}
PANELS = {"cpu": "processor seconds to publish", "peak_gb": "peak memory, GB"}


def draw(rows, path):
    """Seconds of processors on the left, peak memory on the right, all axes logarithmic."""
    most = max(row["points"] for row in rows)
    series = {
        "-": ("epsilon 1, points grow", [row for row in rows if row["epsilon"] == 1 and _is_power(row["points"])]),
        ":": (f"{_short(most)} points, epsilon grows", [row for row in rows if row["points"] == most]),
    }
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
    for axes, (value, label) in zip(panels, PANELS.items(), strict=True):
        for style, (name, chosen) in series.items():
            for method in NAMES:
                line = sorted((row["points"] * row["epsilon"], row[value]) for row in chosen if row["method"] == method)
                shape = {"color": COLOURS[method], "marker": MARKERS[method], "markersize": 5.5}
                shape |= {"markerfacecolor": "white"} if style == ":" else {}
                axes.plot(*zip(*line, strict=True), style, label=f"{NAMES[method]}: {name}", **shape)
        axes.set(xscale="log", yscale="log", xlabel="points times epsilon", title=label)
        axes.xaxis.set_major_locator(LogLocator(numticks=12))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
        axes.grid(visible=True, color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
        axes.minorticks_off()
    panels[1].set_ylim(0.1, 1.3 * max(row["peak_gb"] for row in rows))
    panels[1].set_yticks([tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10) if tick <= panels[1].get_ylim()[1]])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(sentence(rows), fontsize=10.5, x=0.01, ha="left", wrap=True)
    with mpl.rc_context({"svg.hashsalt": "cost"}):  # the same file from the same rows
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def sentence(rows):
    """What one sees, in words.

    Examples
    --------
    >>> row = {"points": 10**6, "epsilon": 1.0, "cpu": 2.0, "peak_gb": 0.4}
    >>> sentence([{**row, "method": "auto"}, {**row, "method": "ag", "cpu": 0.5}])
    'At epsilon 1 the default takes 2.0 processor seconds and 0.40 GB for 1e6 points (AG 0.5 and 0.40).'
    """
    at_one = {(row["points"], row["method"]): row for row in rows if row["epsilon"] == 1 and _is_power(row["points"])}
    sizes = sorted({points for points, _ in at_one})
    shown = sorted({min(10**6, sizes[-1]), sizes[-1]})
    parts = []
    for size in shown:
        default, ag = at_one[size, "auto"], at_one[size, "ag"]
        took = f"{_seconds(default)} processor seconds and {default['peak_gb']:.2f} GB"
        parts.append(f"{took} for {_short(size)} points (AG {_seconds(ag)} and {ag['peak_gb']:.2f})")
    return f"At epsilon 1 the default takes {', and '.join(parts)}."


def _seconds(row):
    return f"{row['cpu']:.0f}" if row["cpu"] >= 10 else f"{row['cpu']:.1f}"


def _is_power(number):
    return str(number).strip("0") == "1"


def _short(number):
    return f"{number:.0e}".replace("e+0", "e")
