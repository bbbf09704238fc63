"""Statements of Section V-B on hierarchies and Privlet."""

import math

from experiments.figures.hierarchies import BASE_SIDE, hierarchies
from experiments.figures.variant import Variant
from experiments.report.choices import compare, only, scenes
from experiments.report.claim import ABOUT, ABOVE, BELOW, GENERALLY, Band, Claim, Evidence

FLAT, WAVELET = only("ug", side=BASE_SIDE), only("privlet", side=BASE_SIDE)
SMALL = 128  # "smaller grid sizes (e.g., <= 128)"
SMALL_BENEFIT = 0.8  # a lower ratio than this would no longer be called small


def _near_suggestion(evidence: Evidence) -> dict[str, float]:
    return {
        scene.label: BASE_SIDE / (evidence.means.suggested_side(scene) or math.nan)
        for scene in scenes(evidence, "checkin", "landmark", epsilons=(1.0,))
    }


def _small_grids(evidence: Evidence) -> dict[str, float]:
    means = evidence.means
    return {
        f"{side}, {scene.label}": means.value(scene, privlet) / means.value(scene, Variant.of("ug", side=side))
        for scene in scenes(evidence)
        for side, privlet in means.sizes(scene, "privlet", "side").items()
        if side <= SMALL
    }


CLAIMS = (
    Claim(
        quote="m = 360 is close to the size suggested by Guideline 1",
        where="V-B",
        measure="360 / suggested size at ε = 1",
        band=ABOUT,
        values=_near_suggestion,
    ),
    Claim(
        quote="Adding hierarchies can somewhat improve the accuracy",
        where="V-B, figure hie_flat",
        measure="error of the best hierarchy / UG 360",
        band=BELOW,
        values=compare(hierarchies, FLAT),
    ),
    Claim(
        quote="but the benefit is quite small",
        where="V-B, figure hie_flat",
        measure="error of the best hierarchy / UG 360",
        band=Band(low=SMALL_BENEFIT),
        values=compare(hierarchies, FLAT),
    ),
    Claim(
        quote="Applying Privlet results in clear, if not significant, accuracy improvements",
        where="V-B, figure hie_flat",
        measure="error of Privlet 360 / UG 360",
        band=BELOW,
        values=compare(WAVELET, FLAT),
    ),
    Claim(
        quote="due to the noise reduction that Privlet has over general hierarchical methods",
        where="V-B, figure hie_flat",
        measure="error of Privlet 360 / best hierarchy",
        band=BELOW,
        values=compare(WAVELET, hierarchies),
    ),
    Claim(
        quote="Applying Privlet to smaller grid sizes (128 or less) tends to be worse than UG",
        where="V-B",
        measure="error of Privlet / UG of the same size, up to 128",
        band=ABOVE,
        values=_small_grids,
        needed=GENERALLY,
    ),
)
