"""Statements of Section V-A: query sizes and how errors depend on them."""

import math

from experiments.datasets import DATASETS
from experiments.figures.means import QUERY_SIZES, Means, Scene
from experiments.figures.variant import Variant
from experiments.report.choices import Values, scenes
from experiments.report.claim import BELOW, GENERALLY, Band, Claim, Evidence

TYPICAL = (Variant.of("kd-hybrid"), Variant.of("ug"), Variant.of("ag"))
MIDDLE = Band(low=2, high=len(QUERY_SIZES) - 1)  # neither the smallest nor the largest query size


def peak(means: Means, scene: Scene, variant: Variant) -> float:
    """Number of the query size with the largest mean relative error; nan where it was not run."""
    errors = [means.value(scene, variant, queries=queries) for queries in QUERY_SIZES]
    return math.nan if any(map(math.isnan, errors)) else 1.0 + errors.index(max(errors))


def _share_of_largest(evidence: Evidence) -> dict[str, float]:
    names = {scene.dataset: DATASETS[scene.dataset] for scene in scenes(evidence) if scene.dataset in DATASETS}
    return {
        name: math.prod(dataset.largest_query) / (dataset.domain.width * dataset.domain.height)
        for name, dataset in names.items()
    }


def _peaks(evidence: Evidence) -> dict[str, float]:
    return {
        f"{variant.label}, {scene.label}": peak(evidence.means, scene, variant)
        for scene in scenes(evidence)
        for variant in TYPICAL
    }


def _to_all(queries: str, error: str) -> Values:
    """Error at one query size, relative to the mean over all sizes."""

    def values(evidence: Evidence) -> dict[str, float]:
        field, means = f"{error}_mean", evidence.means
        return {
            f"{one.label}, {scene.label}": means.value(scene, one, field, queries) / means.value(scene, one, field)
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
    ),
    Claim(
        quote="The relative error is likely to be largest when the query is mid-size",
        where="V-A",
        measure="query size with the largest mean relative error, of KD-hybrid, UG and AG",
        band=MIDDLE,
        values=_peaks,
        needed=GENERALLY,
        ratio=False,
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
