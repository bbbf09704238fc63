"""From a million points to a billion: what releases cost, in seconds and in memory.

    python -m benchmarks.scale FOLDER [--largest 1e8]

Writes points to FOLDER where there are none yet (15 GB for the 1e9 that it goes up to; see `make_points`), publishes
them by UG, AG and STAQ, each release in a process of its own, and keeps the rows in `results/scale.json`, the table in
`results/scale.md` and the figure in `results/scale.svg`. FOLDER stays; remove it afterwards. All of it takes about a
quarter of an hour on two processors with nothing else to do, with `--largest 1e8` five minutes; so it is no part of
`make bench`.

There are two series. In one, epsilon is 0.01 and releases have the more cells the more points there are. In the other
epsilon falls as points grow, so that all releases have about a million cells: what is left then is the cost of points.
"""

import json

from benchmarks.make_points import sizes_up_to
from benchmarks.releases import RESULTS, asked_for, measured
from benchmarks.row import Row, as_table, this_machine
from benchmarks.scale_model import table
from benchmarks.scale_picture import draw

METHODS = ("ug", "ag", "staq")
EPSILON = 0.01
EPSILON_POINTS = 10**7  # epsilon times the number of points, in the series of a million cells


def runs(largest):
    """Number of points, method and epsilon of every release."""
    return [
        (size, method, epsilon)
        for size in sizes_up_to(largest)
        for epsilon in sorted({EPSILON, EPSILON_POINTS / size})
        for method in METHODS
    ]


def targets(rows):
    """What was asked for of the largest releases at epsilon 0.01."""
    largest = max(row["points"] for row in rows)
    lines = []
    for row in rows:
        if row["points"] == largest and row["epsilon"] == EPSILON:
            name = f"{row['method'].upper()}, {largest:.0e} points, epsilon {EPSILON}".replace("+0", "")
            speed = 100 * row["passes"] * row["decoding_cpu"] / row["counting_cpu"]
            passes = f"{row['passes']} pass{'es' if row['passes'] > 1 else ''}"
            note = f"{passes}, {row['publishing_wall']:.0f} s in all, {row['cells']:,} cells"
            lines.append(Row(name=name, measured=speed, target=70, unit="% of the speed of decoding", note=note))
            lines.append(Row(name=name, measured=row["peak_gb"], target=2, unit="GB at the peak", better="lower"))
    return lines


def keep(rows):
    """Write rows, table and figure."""
    (RESULTS / "scale.json").write_text(json.dumps(rows, indent=1) + "\n")
    text = f"# From a million points to a billion\n\n{this_machine()}. "
    text += "Made by `python -m benchmarks.scale`, which says how.\n\n"
    text += f"{as_table(targets(rows))}\n"
    text += "\nSeconds of the processors, both together; in brackets those by the clock on the wall, of a machine that "
    text += "may have had other work. Decoding is one pass over the same files that does nothing with the points.\n\n"
    text += "| points | ε | method | cells | passes | decoding | counting | publishing | saving | peak GB |\n"
    text += "|---|---|---|---|---|---|---|---|---|---|\n"
    for row in rows:
        seconds = " | ".join(
            f"{row[f'{what}_cpu']:.3g} ({row[f'{what}_wall']:.3g})"
            for what in ("decoding", "counting", "publishing", "saving")
        )
        exponent = len(str(row["points"])) - 1
        text += (
            f"| 1e{exponent} | {row['epsilon']:g} | {row['method']} | {row['cells']:,} | {row['passes']} | {seconds} "
        )
        text += f"| {row['peak_gb']:.2f} |\n"
    text += "\nThe model of `benchmarks.scale_model`, seconds of processors = a + passes · points · b + cells · c:\n\n"
    text += f"{table(rows)}\n"
    (RESULTS / "scale.md").write_text(text)
    draw(rows, RESULTS / "scale.svg")


def main():
    """Run everything that was asked for."""
    folder, largest = asked_for(__doc__.partition("\n")[0], largest=1e9)
    keep(measured("benchmarks.scale_run", folder, runs(largest)))


if __name__ == "__main__":
    main()
