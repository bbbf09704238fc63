"""Run the benchmarks: `python -m benchmarks [NAME ...]`, by default all of them."""

import sys
from pathlib import Path

import hushgrid
from benchmarks import (
    counting,
    engines,
    methods,
    noise,
    parquet,
    polygons,
    queries,
    sampling,
    serving,
    stalling,
    staq,
    startup,
    users,
)
from benchmarks.picture import draw
from benchmarks.row import as_table, this_machine

BENCHMARKS = {
    "counting": counting,
    "parquet": parquet,
    "users": users,
    "noise": noise,
    "queries": queries,
    "polygons": polygons,
    "sampling": sampling,
    "methods": methods,
    "staq": staq,
    "engines": engines,
    "serving": serving,
    "stalling": stalling,
    "startup": startup,
}
RESULTS = Path(__file__).parent / "results"


def main(names):
    """Run, print, and keep the table and its picture when everything was run."""
    rows = []
    for name in names or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += BENCHMARKS[name].rows()
    print(as_table(rows))
    if not names:
        heading = f"# Benchmarks\n\nhushgrid {hushgrid.__version__}, {this_machine()}. Made by `make bench`.\n\n"
        (RESULTS / "bench.md").write_text(heading + as_table(rows) + "\n")
        draw(rows, RESULTS / "bench.png")


if __name__ == "__main__":
    main(sys.argv[1:])
