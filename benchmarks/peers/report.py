"""The results as a page and as JSON."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from benchmarks.peers.city import City
from benchmarks.peers.result import TIE, Result
from benchmarks.row import this_machine

HEADINGS = (
    "",
    "seconds (CPU)",
    "again (CPU)",
    "MB",
    "relative error",
    "absolute error",
    "noise exact",
    "number of points",
    "bad rows",
)


def table(results: list[Result]) -> str:
    """One row a peer, as Markdown."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    for result in results:
        cells = (
            f"**{result.name}**" if result.ours else f"{result.name} {result.version}",
            f"{result.seconds:.1f} ({result.processor_seconds:.1f})",
            f"{result.again_seconds:.1f} ({result.again_processor_seconds:.1f})",
            f"{result.megabytes:,.0f}",
            f"{result.relative_error:.4f}",
            f"{result.absolute_error:,.0f}",
            result.exact_noise,
            result.size,
            result.bad_rows,
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def leads(results: list[Result]) -> str:
    """In what each peer is ahead of each of ours, as Markdown."""
    ours = [result for result in results if result.ours]
    lines = ["| ahead of | " + " | ".join(result.name for result in ours) + " |", "|---" * (len(ours) + 1) + "|"]
    for peer in results:
        if not peer.ours:
            ahead = (", ".join(peer.ahead_of(result)) or "in nothing" for result in ours)
            lines.append(f"| {peer.name} | " + " | ".join(ahead) + " |")
    return "\n".join(lines)


def page(results: list[Result], city: City, load: float) -> str:
    """The whole page."""
    machine = this_machine()
    runs = " or ".join(sorted({f"{result.runs}" for result in results}))
    return f"""# hushgrid and its peers

{city.size:,} points of a made-up city in Parquet, ε = {city.epsilon:g}, released by hushgrid and by what one would take
instead, each in an environment of its own. Made by `make bench-peers` on {machine}. The load
average was {load:.1f} at the start: other work on the machine makes seconds longer, CPU seconds much less so.

- **seconds**: from the start of a fresh process, imports included, to the released cells; in brackets, of processors,
  all of its processes together. **again**: the same once more in that process. The least of {runs} runs.
- **MB**: memory of all its processes at the most, up to the first release.
- **errors**: means over the paper's workload, six sizes of rectangles, 200 each, and over the runs.
- The grid of the others has {city.side} cells a side, by the paper's Guideline 1 with the true number of points as if
  it were public, which favours them. hushgrid takes its size from a noisy number, for 1 % of ε.
- **bad rows**: tried with rows that are null, not a number, infinite or outside, and with points on the upper edges.
- Like with like is UG: the same grid and the same noise as the others'. STAQ with calibrated intervals is the only one
  to say how far off its answers may be.

{table(results)}

In what each of them is ahead of hushgrid: in seconds and memory by more than {TIE:.0%}, in errors by more than two
standard errors of the means:

{leads(results)}
"""


def write(results: list[Result], city: City, folder: Path, load: float) -> None:
    """Keep the page, and the figures behind it."""
    (folder / "peers.md").write_text(page(results, city, load))
    figures = {
        "points": city.size,
        "epsilon": city.epsilon,
        "side": city.side,
        "processors": os.cpu_count(),
        "load": load,
        "peers": [asdict(result) for result in results],
    }
    (folder / "peers.json").write_text(json.dumps(figures, indent=2) + "\n")
