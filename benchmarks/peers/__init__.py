"""hushgrid beside what one would take instead, each in an environment of its own.

`make bench-peers` sets up the environments, makes the points of a city, lets everyone release them, asks all releases
the paper's questions, and writes `benchmarks/results/peers.md` and `peers.json`.
"""
