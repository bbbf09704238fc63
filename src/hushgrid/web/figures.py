"""What the page needs to answer as Python does.

Sizes are JSON, and arrays are compact text.
"""

import base64
import gzip
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hushgrid.answering.surface import CLUMPING
from hushgrid.arrays import Floats, Indices
from hushgrid.export.picture import Drawable, Picture, row_sizes
from hushgrid.geometry.grid import DIVIDED, Grid, GroupedGrid, NestedGrid
from hushgrid.geometry.tree import RIGHT, TOP, Tree, divide_each
from hushgrid.inference.least_squares import average_by_node
from hushgrid.inference.measurements import Measurements
from hushgrid.inference.two_level import combined_variances
from hushgrid.synopsis.answer import FLOOR_VARIANCE, SIDES, normal_reach
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.placed import place_figures

BITS = 8  # of a plane
LEVEL = 6  # of gzip; the highest takes six times as long to save one per cent


class Payload:
    r"""Named arrays of whole numbers, as bytes that compress well.

    Signs go to the lowest bit. The lowest bytes of all numbers come first, then the next ones, for as many planes as
    the largest number needs: small numbers leave the upper planes all zeros, and what is noise stays together.

    Examples
    --------
    >>> payload = Payload()
    >>> payload.add("sides", [3, -1, 300])
    >>> payload.contents, payload.planes
    ([['sides', 3, 2]], [b'\x06\x01X\x00\x00\x02'])
    """

    def __init__(self) -> None:
        self.contents: list[list[str | int]] = []
        self.planes: list[bytes] = []

    def add(self, name: str, values: ArrayLike) -> None:
        """Append an array of numbers of up to 53 bits."""
        signed = np.asarray(values, np.int64)
        coded = (signed << 1) ^ (signed >> 63)
        count = -(-int(coded.max(initial=0)).bit_length() // BITS)
        self.contents.append([name, len(coded), count])
        self.planes.append(
            b"".join(((coded >> (BITS * plane)) & 0xFF).astype(np.uint8).tobytes() for plane in range(count))
        )

    def include(self, other: "Payload", before: str) -> None:
        """Append all arrays of another payload, with something before their names."""
        self.contents += [[f"{before}{name}", *rest] for name, *rest in other.contents]
        self.planes += other.planes

    @property
    def text(self) -> str:
        """All arrays, compressed, in base64.

        The same numbers always make the same text.
        """
        return base64.b64encode(gzip.compress(b"".join(self.planes), LEVEL, mtime=0)).decode("ascii")


CONFIDENCE = 0.95
PRECISION_BITS = 37  # of the total: sums over thousands of runs of leaves stay within 1e-9 of it
MOST_BITS = 51  # of a running sum, so that its zigzag code is exact in a double


def common_figures(synopsis: Synopsis) -> dict[str, Any]:
    """What answers of every release take: domain, confidence, widths of intervals."""
    domain = synopsis.domain
    return {
        "domain": domain.bounds,
        "crs": domain.crs,
        "geographic": domain.is_geographic,
        "confidence": CONFIDENCE,
        "halvings": np.log2(SIDES).tolist(),
        "reaches": synopsis.calibration.reaches(CONFIDENCE).tolist(),
        "factor": synopsis.factor,
        "floor": FLOOR_VARIANCE,
        "clumping": CLUMPING,
        "allRecords": _all_records(synopsis),
    }


def _all_records(synopsis: Synopsis) -> dict[str, Any] | None:
    """What intervals of all records hold besides noise and spread; none of kept records."""
    known = None if synopsis.scale is None else synopsis.scale.all_records
    if known is None:
        return None
    return {
        "total": synopsis.total,
        "uneven": known.uneven,
        "regional": known.regional,
        "regionSizes": known.region_sizes,
        "totalError": known.total_error,
        "reach": normal_reach(CONFIDENCE),
    }


def fixed_point(counts: Floats, *, bits: int = PRECISION_BITS) -> tuple[Indices, float]:
    """Counts in whole steps of a power of two, and the step.

    Running sums are rounded, not counts, so that the error of a run of leaves does not grow with its length. Whole
    counts stay exact.

    Examples
    --------
    >>> fixed_point(np.array([3.0, -1.0, 7.0]))
    (array([ 3, -1,  7]), 1.0)
    """
    running = np.cumsum(counts)
    size = max(float(np.abs(running).max()), 1.0)
    if size < 2**MOST_BITS and np.array_equal(counts, np.rint(counts)):
        return counts.astype(np.int64), 1.0
    exponent = max(math.frexp(max(abs(float(running[-1])), 1.0))[1] - bits, math.frexp(size)[1] - MOST_BITS)
    step = math.ldexp(1.0, exponent)
    return np.diff(np.rint(running / step), prepend=0).astype(np.int64), step


def cell_figures(synopsis: Synopsis, payload: Payload, *, bits: int = PRECISION_BITS) -> dict[str, Any]:
    """Kind, shape and variances of a partition into cells.

    Counts go to the payload, leaf by leaf, with so many bits of the total.
    """
    partition = synopsis.partition
    counts = synopsis.around_places.counts / synopsis.factor
    units, step = fixed_point(counts, bits=bits)
    known, order = VARIANCES[type(partition)](partition, synopsis.measurements, payload)
    payload.add("counts", units[order])
    # Slopes times counts, in the steps of the counts: then both weigh alike in an answer.
    for name, slopes in zip(("tiltsX", "tiltsY"), synopsis.slopes.T, strict=True):
        if len(slopes):
            payload.add(name, np.rint(counts * slopes / step)[order])
    kind, shape = partition.kind.removesuffix("-grid"), partition.shape
    if synopsis.prior is not None and synopsis.prior.used:
        known |= {"dividedFurther": True}
    if synopsis.places is not None:
        known |= {"countedPlaces": place_figures(synopsis.places, confidence=CONFIDENCE)}
    return {"kind": kind, "columns": shape["columns"], "rows": shape["rows"], "step": step, **known}


STEPS = 16  # of a doubling of density: they are 4 % apart, which no eye sees
FINEST = 4096  # blocks on the longer side of a picture at most; none is finer than the cells there


def picture_figures(synopsis: Drawable, payload: Payload, *, side: str = "") -> dict[str, Any]:
    """Layers of the picture.

    Blocks and the logarithms of their densities go to the payload.

    Where a page has several pictures, their arrays are told apart by the side they are on.
    """
    layers = Picture.of(synopsis, longest=FINEST).layers
    last = max((depth for depth, layer in enumerate(layers) if len(layer.blocks)), default=0)
    ordered = [(layer, np.argsort(layer.blocks)) for layer in layers[: last + 1]]
    densities = np.concatenate(
        [(layer.masses / row_sizes(layer.grid)[layer.blocks // layer.grid.columns])[order] for layer, order in ordered]
    )
    lowest = math.floor(np.log2(densities[densities > 0].min(initial=1.0)))
    codes = np.zeros(len(densities), np.int64)
    codes[densities > 0] = 1 + np.rint(STEPS * (np.log2(densities[densities > 0]) - lowest))
    payload.add(f"{side}pictureLengths", [len(layer.blocks) for layer, _ in ordered])
    payload.add(
        f"{side}pictureBlocks", np.concatenate([np.diff(layer.blocks[order], prepend=0) for layer, order in ordered])
    )
    payload.add(f"{side}pictureCodes", codes)
    first = layers[0].grid
    return {"columns": first.columns, "rows": first.rows, "steps": STEPS, "lowest": lowest}


Order = Indices | slice  # of the leaves in the page
AS_THEY_ARE = slice(None)


def _grid(_grid: Grid, measurements: Measurements, _payload: Payload) -> tuple[dict[str, Any], Order]:
    wavelet = measurements.wavelet
    if wavelet is None:
        return {"variance": float(measurements.leaves.variances[0]), "padded": None}, AS_THEY_ARE
    variance = float(wavelet.coefficients.variances[0])
    return {"variance": variance, "padded": [wavelet.columns, wavelet.rows]}, AS_THEY_ARE


def _nested(nested: NestedGrid, measurements: Measurements, payload: Payload) -> tuple[dict[str, Any], Order]:
    payload.add("sides", nested.sides)
    leaf_variances = measurements.leaves.variances[nested.offsets[:-1]]
    cell_variances = combined_variances(measurements.region_values.variances, leaf_variances, nested.sides**2)
    known = {
        "leafVariances": _palette("leafVariance", leaf_variances, payload),
        "cellVariances": _palette("cellVariance", cell_variances, payload),
    }
    return known, AS_THEY_ARE


def _grouped(grouped: GroupedGrid, measurements: Measurements, payload: Payload) -> tuple[dict[str, Any], Order]:
    """Variances of divided cells, and those of groups.

    Cells that are not divided have zero.
    """
    payload.add("sides", grouped.nested.sides)
    payload.add("groups", grouped.groups)
    starts, sizes, blocks = grouped.offsets[:-1], np.diff(grouped.offsets), grouped.block_groups
    of_leaf = measurements.leaves.variances[starts]
    of_block = combined_variances(measurements.region_values.variances, of_leaf, sizes)
    divided, grouped_blocks = blocks == DIVIDED, np.flatnonzero(blocks != DIVIDED)
    by_group = grouped_blocks[np.argsort(blocks[grouped_blocks])]
    by_cell = np.zeros((2, len(grouped.groups)))
    by_cell[:, grouped.groups == DIVIDED] = of_leaf[divided], of_block[divided]
    known = {
        "leafVariances": _palette("leafVariance", by_cell[0], payload),
        "cellVariances": _palette("cellVariance", by_cell[1], payload),
        "memberVariances": _palette("memberVariance", of_leaf[by_group], payload),
        "groupVariances": _palette("groupVariance", of_block[by_group], payload),
    }
    return known, np.argsort(grouped.leaf_order)


def _tree(tree: Tree, measurements: Measurements, payload: Payload) -> tuple[dict[str, Any], Order]:
    """Splits of all nodes, and uneven edges of children."""
    even = divide_each(tree.boxes, tree.splits)
    payload.add("splitColumns", tree.splits[:, 0])
    payload.add("splitRows", tree.splits[:, 1])
    payload.add("right", tree.boxes[1:, RIGHT] - even[:, RIGHT])
    payload.add("top", tree.boxes[1:, TOP] - even[:, TOP])
    _, precisions = average_by_node(tree, measurements)
    known = {"precisions": _palette("precision", precisions, payload)}
    return known, tree.runs[0][tree.child_counts == 0]


# What the variances of each kind follow from, and the order of its leaves in the page.
VARIANCES: Mapping[type, Callable[..., tuple[dict[str, Any], Order]]] = MappingProxyType(
    {Grid: _grid, NestedGrid: _nested, GroupedGrid: _grouped, Tree: _tree}
)


def _palette(name: str, values: Floats, payload: Payload) -> list[float]:
    """The distinct values; which of them each is goes to the payload."""
    distinct, index = np.unique(values, return_inverse=True)
    payload.add(name, index)
    return [float(value) for value in distinct]
