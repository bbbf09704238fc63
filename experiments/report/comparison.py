"""Statements of Section V-D, the final comparison."""

from experiments.estimate import Estimate, highest_of
from experiments.figures.final import contenders
from experiments.report.choices import best_ag, best_ug, compare, lowest, not_ag, only, scenes
from experiments.report.claim import ABOUT, BELOW, CLOSE_ABOVE, GENERALLY, NOT_ABOVE, Band, Claim, Evidence, Values
from experiments.report.grids import UNIFORM

AG, UG = only("ag"), only("ug")
LARGE_DIFFERENCE = 1.5  # of a suggested size from the best one, either way


def _worse_ag(evidence: Evidence) -> dict[str, Estimate]:
    """Absolute error of the worse of both AG against the best of the others."""
    means, ratios = evidence.means, {}
    for scene in scenes(evidence):
        both = [lowest(means, scene, choice, error="absolute") for choice in (AG, best_ag)]
        ratios[scene.label] = highest_of(both) / lowest(means, scene, not_ag, error="absolute")
    return ratios


def _size_difference(*papers: str) -> Values:
    """Suggested size of UG to the best, or the inverse, whichever is above 1."""

    def values(evidence: Evidence) -> dict[str, Estimate]:
        differences, means = {}, evidence.means
        for scene in scenes(evidence, *papers):
            best, side = means.best(scene, "ug", "side"), means.suggested_side(scene)
            if best and side:
                ratio = side / float(str(best["side"]))
                differences[scene.label] = Estimate(max(ratio, 1 / ratio))
        return differences

    return values


def _absolute_range(evidence: Evidence) -> dict[str, Estimate]:
    means = evidence.means
    return {
        f"{series.label}, {scene.label}": means.estimate(scene, series.variant, "absolute_p95")
        / means.estimate(scene, series.variant, "absolute_p25")
        for scene in scenes(evidence)
        for series in contenders(means, scene)
    }


CLAIMS = (
    Claim(
        quote="AG consistently and significantly outperforms other methods",
        where="V-D, figure compare",
        measure="error of AG, best m₁ / best of KD-hybrid, UG and Privlet",
        band=BELOW,
        values=compare(best_ag, not_ag),
    ),
    Claim(
        quote="UG with the suggested grid sizes provides about the same accuracy as KD-hybrid",
        where="V-D, figure compare",
        measure="error of UG, suggested / KD-hybrid",
        band=ABOUT,
        values=compare(UG, only("kd-hybrid-paper")),
    ),
    Claim(
        quote="AG with suggested grid sizes clearly outperforms all non-AG methods",
        where="V-D, figure compare",
        measure="error of AG, suggested / best of KD-hybrid, UG and Privlet",
        band=BELOW,
        values=compare(AG, not_ag),
    ),
    Claim(
        quote="Compared with AG at the best size, the suggested one is slightly worse but in general quite close",
        where="V-D, figure compare",
        measure="error of AG, suggested / best m₁",
        band=CLOSE_ABOVE,
        values=compare(AG, best_ag),
        needed=GENERALLY,
    ),
    Claim(
        quote="The ranges of the absolute errors are quite large",
        where="V-D, figure absolute",
        measure="95th / 25th percentile of absolute error",
        band=Band(low=10),
        values=_absolute_range,
    ),
    Claim(
        quote="By absolute error, AG methods again consistently and significantly outperform other methods",
        where="V-D, figure absolute",
        measure="absolute error of the worse AG / best of KD-hybrid, UG and Privlet",
        band=BELOW,
        values=_worse_ag,
    ),
    Claim(
        quote="For road, UG with suggested sizes outperforms, by absolute error, UG optimized for relative error",
        where="V-D, figure absolute",
        measure="absolute error of UG, suggested / size of lowest relative error",
        band=BELOW,
        values=compare(UG, best_ug, "road", error="absolute"),
    ),
    Claim(
        quote="Road is the only dataset with a large difference between suggested and optimal size: there it is large",
        where="V-D",
        measure="factor between suggested and best size of UG, on road",
        band=Band(low=LARGE_DIFFERENCE),
        values=_size_difference("road"),
        by_halves=True,
        note=UNIFORM,
    ),
    Claim(
        quote="and on the other datasets it is not",
        where="V-D",
        measure="factor between suggested and best size of UG, on the others",
        band=Band(high=LARGE_DIFFERENCE),
        values=_size_difference("checkin", "landmark", "storage"),
        by_halves=True,
    ),
    Claim(
        quote="When one considers absolute errors, our suggested size seems to work very well",
        where="V-D, figure absolute",
        measure="absolute error of UG, suggested / size of lowest relative error",
        band=NOT_ABOVE,
        values=compare(UG, best_ug, error="absolute"),
        needed=GENERALLY,
        note="The figure shows UG at these two sizes, and the sentence can be about no others.",
    ),
)
