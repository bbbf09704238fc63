"""Speed and memory, as ratios in one run; every benchmark asserts its answer against a plain reference.

`make bench` runs all of them and writes `results/bench.md` and `results/bench.png`.
"""
