"""Run the comparison: `python -m benchmarks.peers [ENVIRONMENT ...]`, by default all of them."""

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.city import City
from benchmarks.peers.environment import FOLDER, interpreter
from benchmarks.peers.peer import PEERS
from benchmarks.peers.report import leads, table, write
from benchmarks.peers.result import Result, bad_rows
from benchmarks.peers.run import Run, run

RESULTS = Path(__file__).parents[1] / "results"
CITY = City(size=10_000_000, epsilon=0.1, folder=FOLDER)


def main(environments: list[str]) -> None:
    """Run everyone, print the tables, and keep them when everything was run."""
    peers = [peer for peer in PEERS if not environments or peer.environment in environments]
    pythons = {peer.environment: interpreter(peer.environment) for peer in peers}
    load = os.getloadavg()[0]
    runs: dict[str, list[Run]] = {peer.name: [] for peer in peers}
    # Round by round, so that what else the machine does is shared.
    for number in range(max(peer.runs for peer in peers)):
        for peer in peers:
            if number < peer.runs:
                print(f"{peer.name}, run {number + 1} ...", file=sys.stderr, flush=True)
                try:
                    python = pythons[peer.environment]
                    done = run(peer, python, CITY.points, CITY.rects, side=CITY.side, epsilon=CITY.epsilon)
                    runs[peer.name].append(done)
                except subprocess.SubprocessError as error:
                    print(f"{peer.name} failed: {error}", file=sys.stderr)
    results = [
        Result.of(peer, runs[peer.name], CITY, bad_rows=bad_rows(peer, pythons[peer.environment], FOLDER))
        for peer in peers
        if runs[peer.name]
    ]
    print(table(results), leads(results), sep="\n\n")
    if not environments:
        write(results, CITY, RESULTS, load)


if __name__ == "__main__":
    main(sys.argv[1:])
