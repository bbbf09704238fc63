"""Statements of Section V-A: query sizes and how errors depend on them."""

import math

from experiments.datasets import DATASETS
from experiments.estimate import Estimate, highest_of
from experiments.figures.means import QUERY_SIZES, Means, Scene
from experiments.figures.variant import Variant
from experiments.report.choices import scenes
from experiments.report.claim import BELOW, GENERALLY, NOT_BELOW, Band, Claim, Evidence, Values

TYPICAL = (Variant.of("kd-hybrid-paper"), Variant.of("ug"), Variant.of("ag"))
MIDDLE_SIZES = QUERY_SIZES[1:-1]  # neither the smallest nor the largest


def to_others(means: Means, scene: Scene, variant: Variant, *sizes: str) -> Estimate:
    """Largest mean relative error at some query sizes, relative to the largest at the others."""
    errors = {queries: means.estimate(scene, variant, queries=queries) for queries in QUERY_SIZES}
    others = [errors[queries] for queries in QUERY_SIZES if queries not in sizes]
    return highest_of(errors[queries] for queries in sizes) / highest_of(others)


def _share_of_largest(evidence: Evidence) -> dict[str, Estimate]:
    names = {scene.dataset: DATASETS[scene.dataset] for scene in scenes(evidence) if scene.dataset in DATASETS}
    return {
        name: Estimate(math.prod(dataset.largest_query) / (dataset.domain.width * dataset.domain.height))
        for name, dataset in names.items()
    }


def _middle(evidence: Evidence) -> dict[str, Estimate]:
    return {
        f"{variant.label}, {scene.label}": to_others(evidence.means, scene, variant, *MIDDLE_SIZES)
        for scene in scenes(evidence)
        for variant in TYPICAL
    }


def _to_all(queries: str, error: str) -> Values:
    """Error at one query size, relative to the mean over all sizes."""

    def values(evidence: Evidence) -> dict[str, Estimate]:
        field, means = f"{error}_mean", evidence.means
        return {
            f"{one.label}, {scene.label}": means.estimate(scene, one, field, queries)
            / means.estimate(scene, one, field)
            for scene in scenes(evidence)
            for one in TYPICAL
        }

    return values


CLAIMS = (
    Claim(
        quote="q6, the largest query size, covers between 1/4 and 1/2 of the whole space",
        where="V-A",
        measure="share of the domain in q6",
        band=Band(low=0.25, high=0.5),
        values=_share_of_largest,
        ratio=False,
        note="A choice of the set-up, not a finding: our largest queries were chosen the same way.",
    ),
    Claim(
        quote="The relative error is likely to be largest when the query is mid-size",
        where="V-A",
        measure="largest relative error at q2 to q5 / larger of q1 and q6, for KD-hybrid, UG and AG",
        band=NOT_BELOW,
        values=_middle,
        needed=GENERALLY,
    ),
    Claim(
        quote="When the range of a query is large, the relative error is likely to be small",
        where="V-A",
        measure="relative error at q6 / over all sizes",
        band=BELOW,
        values=_to_all("q6", "relative"),
        needed=GENERALLY,
    ),
    Claim(
        quote="When the range is small, the absolute error is likely to be small",
        where="V-A",
        measure="absolute error at q1 / over all sizes",
        band=BELOW,
        values=_to_all("q1", "absolute"),
        needed=GENERALLY,
    ),
)
