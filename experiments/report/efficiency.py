"""Statements of Section IV-C, on running time and on dimensions, and of the table commented out of Section V."""

from experiments.dimensions import border_share
from experiments.estimate import Estimate
from experiments.figures.dimensions import best_hierarchy, cubes, flat_error
from experiments.figures.variant import Variant
from experiments.report.choices import scenes
from experiments.report.claim import ABOVE, BELOW, NOT_ABOVE, Band, Claim, Evidence, Values

EXACT = Band(low=0.99, high=1.01)
PAPER_BORDERS = {1: 0.0008, 2: 0.08}  # for M = 10,000 and b = 4


def _seconds(*tops: str, bottom: str) -> Values:
    """Time to publish of methods, as a ratio to another's."""

    def values(evidence: Evidence) -> dict[str, Estimate]:
        means = evidence.means
        return {
            f"{Variant.of(top).label}, {scene.label}": Estimate(
                means.least(scene, Variant.of(top), "publish_seconds")
                / means.least(scene, Variant.of(bottom), "publish_seconds")
            )
            for scene in scenes(evidence)
            for top in tops
        }

    return values


def _nodes(evidence: Evidence) -> dict[str, Estimate]:
    means = evidence.means
    return {
        scene.label: means.estimate(scene, Variant.of("kd-hybrid-paper"), "nodes")
        / means.estimate(scene, Variant.of("ag"), "nodes")
        for scene in scenes(evidence)
    }


def _borders(_evidence: Evidence) -> dict[str, Estimate]:
    return {
        f"{dimensions}-D": Estimate(border_share(dimensions, cells=10_000, group=4) / share)
        for dimensions, share in PAPER_BORDERS.items()
    }


def _gain(dimensions: int, *branchings: int) -> Values:
    """Error of the best hierarchy to the flat grid's."""
    return lambda evidence: {
        f"{cube.cells:,} cells, ε = {cube.epsilon:g}": best[1] / flat_error(errors)
        for cube, errors in cubes(evidence.rows).items()
        if cube.dimensions == dimensions and (best := best_hierarchy(errors, *branchings))
    }


def _from_to(fewer: int, more: int) -> Values:
    """What a hierarchy gains in fewer dimensions, relative to more."""

    def values(evidence: Evidence) -> dict[str, Estimate]:
        first, second = _gain(fewer)(evidence), _gain(more)(evidence)
        return {name: first[name] / second[name] for name in first if name in second}

    return values


CLAIMS = (
    Claim(
        quote="UG and AG have a higher efficiency than recursive partition-based methods",
        where="IV-C",
        measure="seconds of UG, AG / KD-hybrid",
        band=BELOW,
        values=_seconds("ug", "ag", bottom="kd-hybrid-paper"),
        by_halves=True,
    ),
    Claim(
        quote="UG needs a single scan, AG two passes over the dataset (in the table left out, AG takes about twice UG)",
        where="IV-C",
        measure="seconds of AG / UG",
        band=Band(low=1, high=4),
        values=_seconds("ag", bottom="ug"),
        by_halves=True,
    ),
    Claim(
        quote="KD-hybrid has more nodes than AG (99,265 against 12,620 on checkin, ε = 0.1)",
        where="table left out of V-D",
        measure="nodes of KD-hybrid / AG",
        band=ABOVE,
        values=_nodes,
    ),
    Claim(
        quote="When M = 10,000 and b = 4, the border is 0.08 of the domain in 2-D, and 0.0008 in 1-D",
        where="IV-C",
        measure="2d (b/M)^(1/d) / the paper's number",
        band=EXACT,
        values=_borders,
        note="Arithmetic: the formula gives these numbers.",
    ),
    Claim(
        quote="A binary hierarchical tree works well in 1-D",
        where="IV-C",
        measure="error of the best binary hierarchy / flat grid, 1-D",
        band=BELOW,
        values=_gain(1, 2),
    ),
    Claim(
        quote="the benefit in 2-D is quite limited",
        where="IV-C",
        measure="gain (best hierarchy / flat) in 1-D / in 2-D",
        band=BELOW,
        values=_from_to(1, 2),
    ),
    Claim(
        quote="and can only decrease with higher dimensionality",
        where="IV-C",
        measure="gain (best hierarchy / flat) in 2-D / in 3-D",
        band=NOT_ABOVE,
        values=_from_to(2, 3),
    ),
    Claim(
        quote="Small benefits of hierarchies, we conjecture, will disappear with 3 or more dimensions",
        where="IV-C",
        measure="error of the best hierarchy / flat grid, 3-D",
        band=Band(low=0.95),
        values=_gain(3),
    ),
)
