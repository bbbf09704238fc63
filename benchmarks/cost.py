"""What the default release costs against the evidence, points times epsilon, from a thousand to a hundred million.

    python -m benchmarks.cost FOLDER [--largest 1e8]

Writes points to FOLDER where there are none yet (see `make_points`), publishes them by the default method and by AG,
each release calibrated and in a process of its own, and keeps the rows in `results/cost.json`, the table in
`results/cost.md` and the figure in `results/cost.svg`. FOLDER stays. It takes about ten minutes of two processors, so
that it is part of `make bench-scale` and not of `make bench`.

There are two series. In one epsilon is 1, and there are as many points as evidence. In the other there are always as
many points as in the largest, and epsilon grows: what is above that is the cost of cells.
"""

import json

from benchmarks.cost_picture import draw, sentence
from benchmarks.releases import RESULTS, asked_for, measured
from benchmarks.row import Row, as_table, this_machine

METHODS = ("auto", "ag")
SMALLEST = 10**3
# Points and epsilon of what was asked for, with the most processor seconds and GB.
TARGETS = {(10**8, 0.1): (45, 1.2), (2 * 10**7, 1.0): (25, 1.5)}


def runs(largest):
    """Number of points, method and epsilon of every release, each once.

    Examples
    --------
    >>> [(points, epsilon) for points, method, epsilon in runs(10**4) if method == "ag"]
    [(1000, 1.0), (10000, 1.0), (10000, 0.1)]
    """
    evidence = [10**power for power in range(3, 12) if SMALLEST <= 10**power <= largest]
    asked = [run for run in TARGETS if run[0] <= largest]
    sizes = dict.fromkeys([*((each, 1.0) for each in evidence), *((largest, e / largest) for e in evidence), *asked])
    return [(points, method, epsilon) for points, epsilon in sizes for method in METHODS]


def targets(rows):
    """What was asked for of two large releases."""
    found = {(row["points"], row["epsilon"], row["method"]): row for row in rows}
    lines = []
    for (points, epsilon), (seconds, memory) in TARGETS.items():
        if (row := found.get((points, epsilon, "auto"))) is None:
            continue
        name = f"default publish, {power(points)} points, epsilon {epsilon:g}, calibrated"
        to_ag = row["cpu"] / found[points, epsilon, "ag"]["cpu"]
        note = f"{to_ag:.1f} x AG, {row['wall']:.0f} s by the wall, {row['cells']:,} cells"
        lines.append(Row(name=name, measured=row["cpu"], target=seconds, unit="CPU s", better="lower", note=note))
        lines.append(Row(name=name, measured=row["peak_gb"], target=memory, unit="GB at the peak", better="lower"))
    return lines


def power(value):
    """A round number in few characters.

    Examples
    --------
    >>> power(2 * 10**7), power(0.01)
    ('2e7', '1e-2')
    """
    digits, exponent = f"{value:.0e}".split("e")
    return f"{digits}e{int(exponent)}"


def keep(rows):
    """Write rows, table and figure."""
    (RESULTS / "cost.json").write_text(json.dumps(rows, indent=1) + "\n")
    text = f"# Cost against points times epsilon\n\n{this_machine()}. "
    text += "Made by `python -m benchmarks.cost`, which says how.\n\n"
    text += f"{sentence(rows)}\n\n"
    if asked := targets(rows):
        text += f"{as_table(asked)}\n\n"
    text += "Seconds of the processors, both together; in brackets those by the clock on the wall, of a machine that "
    text += "may have had other work. All intervals are calibrated.\n\n"
    text += "| points · ε | points | ε | method | cells | seconds | peak GB |\n|---|---|---|---|---|---|---|\n"
    for row in sorted(rows, key=lambda row: (row["points"] * row["epsilon"], row["points"], row["method"])):
        text += f"| {power(row['points'] * row['epsilon'])} | {power(row['points'])} | {row['epsilon']:g} "
        text += f"| {'default' if row['method'] == 'auto' else row['method'].upper()} | {row['cells']:,} "
        text += f"| {row['cpu']:.3g} ({row['wall']:.3g}) | {row['peak_gb']:.2f} |\n"
    (RESULTS / "cost.md").write_text(text)
    draw(rows, RESULTS / "cost.svg")


def main():
    """Run everything that was asked for."""
    folder, largest = asked_for(__doc__.partition("\n")[0], largest=1e8)
    keep(measured("benchmarks.cost_run", folder, runs(largest)))


if __name__ == "__main__":
    main()
