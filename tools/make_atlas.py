"""Make the coastlines and borders of the map from the npm package world-atlas (Natural Earth, public domain).

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    python tools/make_atlas.py package

An arc is a line that one country has on its own (a coast) or two share (a border); a ring lists the arcs of an
outline, ``-1 - arc`` where it runs backwards, as TopoJSON has it. Names and numbers of countries are left out.
"""

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "hushgrid" / "data" / "atlas"
SCALES = ("10m", "50m")  # one to ten million, one to fifty million


def compact(topology: dict) -> dict:
    """Arcs, rings and which arcs are borders, from a topology with the object ``countries``."""
    rings = [
        ring
        for country in topology["objects"]["countries"]["geometries"]
        for polygon in (country["arcs"] if country["type"] == "MultiPolygon" else [country["arcs"]])
        for ring in polygon
    ]
    uses = Counter(arc if arc >= 0 else -1 - arc for ring in rings for arc in ring)
    return {
        "scale": topology["transform"]["scale"],
        "translate": topology["transform"]["translate"],
        "arcs": topology["arcs"],
        "rings": rings,
        "borders": sorted(arc for arc, used in uses.items() if used > 1),
    }


def main(package: Path) -> None:
    """Write a file for each scale and say how large it is."""
    for scale in SCALES:
        atlas = compact(json.loads((package / f"countries-{scale}.json").read_text()))
        path = TARGET / f"world-{scale}.json.gz"
        path.write_bytes(gzip.compress(json.dumps(atlas, separators=(",", ":")).encode(), 9, mtime=0))
        print(f"{path}: {len(atlas['arcs'])} arcs, {len(atlas['rings'])} rings, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
