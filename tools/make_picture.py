"""Draw the picture of the README: the cells of a release, coloured by density. `python -m tools.make_picture`."""

from importlib.resources import files
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm

import hushgrid as hg

OUTPUT = Path(__file__).parents[1] / "docs" / "images" / "places.png"
DOMAIN = hg.Domain(west=-12, south=35, east=32, north=60)
EPSILON = 1


def main() -> None:
    """Publish the bundled places of Europe and draw every cell."""
    places = str(files("hushgrid") / "data" / "places.parquet")
    synopsis = hg.publish(places, domain=DOMAIN, epsilon=EPSILON, size_from="domain")
    west, south, east, north = synopsis.partition.bounds().T
    area = (east - west) * (north - south) * np.cos(np.radians((south + north) / 2)) * 111.2**2
    corners = np.stack([west, south, east, south, east, north, west, north], axis=1).reshape(-1, 4, 2)
    figure, axes = plt.subplots(figsize=(11, 7.6), layout="constrained")
    cells = PolyCollection(corners, cmap="cividis", norm=LogNorm(3e-4, 0.3, clip=True), edgecolor="none")
    cells.set_array(np.maximum(synopsis.counts / area, 1e-9))
    axes.add_collection(cells)
    axes.set(xlim=(DOMAIN.west, DOMAIN.east), ylim=(DOMAIN.south, DOMAIN.north), aspect=1.5)
    axes.set(xlabel="longitude", ylabel="latitude")
    axes.set_title(
        f"Towns and villages, published by the adaptive grid at ε = {EPSILON}: {synopsis.partition.cells:,} cells",
        loc="left",
    )
    figure.colorbar(cells, label="estimated places per km²", shrink=0.8)
    figure.savefig(OUTPUT, dpi=110)


if __name__ == "__main__":
    main()
