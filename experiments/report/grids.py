"""Statements of Section V-B on UG over sizes, Guideline 1, and kd-trees."""

import math
from itertools import pairwise

from experiments.estimate import MISSING, Estimate, highest_of, lowest_of
from experiments.figures.datasets import BEST_WITHIN
from experiments.figures.means import Means, Scene
from experiments.figures.variant import Variant
from experiments.report.choices import best_ug, compare, lowest, only, scenes
from experiments.report.claim import (
    ABOUT,
    ABOVE,
    BELOW,
    CLOSE,
    CLOSE_ABOVE,
    GENERALLY,
    HALF,
    MARGIN,
    NOT_BELOW,
    Band,
    Claim,
    Evidence,
    Values,
)
from experiments.report.methodology import MIDDLE_SIZES, to_others

KD_HYBRID, SUGGESTED = only("kd-hybrid-paper"), only("ug")
INSIDE = Band(low=1, high=1)
PEAK_NOTES = {5: "The paper's reason is the blank space of road; uk_postcodes has little of it, two_states has it."}
UNIFORM = "The paper's reason is that road is unusually uniform; uk_postcodes is not, and two_states was made to be."
VENUES = "checkin_gowalla_sub sits on 31,803 venues, which a tree can close in on and a grid cannot."


def _errors(means: Means, scene: Scene) -> list[Estimate]:
    """Relative errors of UG from the smallest to the largest size that was tried."""
    return [means.estimate(scene, variant) for variant in means.sizes(scene, "ug", "side").values()]


def _peaks(*papers: str, sizes: tuple[str, ...]) -> Values:
    def values(evidence: Evidence) -> dict[str, Estimate]:
        means = evidence.means
        return {
            f"{variant.label}, {scene.label}": to_others(means, scene, variant, *sizes)
            for scene in scenes(evidence, *papers)
            for variant in (Variant.of("kd-paper"), Variant.of("kd-hybrid-paper"), *best_ug(means, scene))
        }

    return values


def _ends(evidence: Evidence) -> dict[str, Estimate]:
    """The smaller of the errors at both ends of the sizes, to the lowest."""
    found = {scene.label: _errors(evidence.means, scene) for scene in scenes(evidence)}
    return {
        name: lowest_of([errors[0], errors[-1]]) / lowest_of(errors)
        for name, errors in found.items()
        if len(errors) > 2
    }


def _worst(evidence: Evidence) -> dict[str, Estimate]:
    found = {scene.label: _errors(evidence.means, scene) for scene in scenes(evidence)}
    return {name: highest_of(errors) / lowest_of(errors) for name, errors in found.items() if len(errors) > 2}


def _steady(evidence: Evidence) -> dict[str, Estimate]:
    """Share of the steps away from the best size after which the error is not lower."""
    shares = {}
    for scene in scenes(evidence):
        errors = [error.value for error in _errors(evidence.means, scene)]
        if len(errors) > 2:
            best = errors.index(min(errors))
            steps = [*pairwise(errors[best:]), *pairwise(errors[best::-1])]
            risen = sum(after >= (1 - MARGIN) * before for before, after in steps)
            shares[scene.label] = Estimate(risen / len(steps))
    return shares


def beside_range(means: Means, scene: Scene) -> Estimate:
    """UG's suggested size as a ratio to the near end of the range of best sizes; 1 inside it."""
    bounds, side = means.best_range(scene, "ug", "side", within=BEST_WITHIN), means.suggested_side(scene)
    if bounds is None or side is None:
        return MISSING
    return Estimate(side / min(max(side, bounds[0]), bounds[1]))


def _beside(*papers: str, epsilons: tuple[float, ...] = (0.1, 1.0)) -> Values:
    return lambda evidence: {
        scene.label: beside_range(evidence.means, scene) for scene in scenes(evidence, *papers, epsilons=epsilons)
    }


def _outside(evidence: Evidence) -> dict[str, Estimate]:
    beside = [one.value for one in _beside()(evidence).values() if one.known]
    return {"sets and budgets": Estimate(float(sum(value != 1 for value in beside)))} if beside else {}


def _place(evidence: Evidence) -> dict[str, Estimate]:
    """Where in the range of best sizes the suggested one lies, 0 at its lower end and 1 at its upper, by ratios."""
    places, means = {}, evidence.means
    for scene in scenes(evidence):
        bounds, side = means.best_range(scene, "ug", "side", within=BEST_WITHIN), means.suggested_side(scene)
        if bounds and side and bounds[0] < bounds[1]:
            places[scene.label] = Estimate(math.log(side / bounds[0]) / math.log(bounds[1] / bounds[0]))
    return places


def _large_sizes(evidence: Evidence) -> dict[str, Estimate]:
    """Sizes of UG on road that are about as large as suggested, against KD-hybrid."""
    means = evidence.means
    return {
        f"{side}, {scene.label}": means.estimate(scene, Variant.of("ug", side=side)) / lowest(means, scene, KD_HYBRID)
        for scene in scenes(evidence, "road", epsilons=(1.0,))
        for side in (384, 512)
    }


CLAIMS = (
    Claim(
        quote="Generally the relative errors are maximized at queries of the middle sizes",
        where="V-B",
        measure="largest relative error at q2 to q5 / larger of q1 and q6, for both kd-trees and the best UG",
        band=NOT_BELOW,
        values=_peaks(sizes=MIDDLE_SIZES),
        needed=GENERALLY,
    ),
    *(
        Claim(
            quote=f"The maximizing point is q{number} for {' and '.join(papers)}",
            where="V-B",
            measure=f"relative error at q{number} / largest of the other sizes, for both kd-trees and the best UG",
            band=NOT_BELOW,
            values=_peaks(*papers, sizes=(f"q{number}",)),
            needed=GENERALLY,
            note=PEAK_NOTES.get(number, ""),
        )
        for number, papers in ((5, ("road",)), (4, ("checkin",)), (3, ("landmark", "storage")))
    ),
    Claim(
        quote="There is a range of sizes where UG performs best; larger or smaller sizes tend to perform worse",
        where="V-B",
        measure="error at the better end of the sizes tried / lowest",
        band=ABOVE,
        values=_ends,
        needed=GENERALLY,
    ),
    Claim(
        quote="When leaving the optimal range, the error steadily increases",
        where="V-B",
        measure="share of steps away from the best size that do not lower the error by 5 %",
        band=Band(low=0.9),
        values=_steady,
        needed=GENERALLY,
        ratio=False,
        by_halves=True,
    ),
    Claim(
        quote="Choosing a good grid size is important",
        where="V-B",
        measure="highest error of the sizes tried / lowest",
        band=Band(low=1.5),
        values=_worst,
    ),
    Claim(
        quote="Guideline 1 works remarkably well",
        where="V-B",
        measure="error of UG, suggested size / best size",
        band=CLOSE_ABOVE,
        values=compare(SUGGESTED, best_ug),
        needed=GENERALLY,
    ),
    Claim(
        quote="The predicted UG size generally lies within the range of sizes that perform best",
        where="V-B, Table II",
        measure="suggested size / near end of the best range (1 inside)",
        band=INSIDE,
        values=_beside(),
        needed=GENERALLY,
        by_halves=True,
    ),
    Claim(
        quote="and often falls in the middle of the range",
        where="V-B, Table II",
        measure="place in the range, 0 its lower and 1 its upper end",
        band=Band(low=0.25, high=0.75),
        values=_place,
        needed=HALF,
        ratio=False,
        by_halves=True,
    ),
    Claim(
        quote="In two cases, the predicted size lies outside the observed optimal range",
        where="V-B, Table II",
        measure="cases outside",
        band=Band(high=2),
        values=_outside,
        ratio=False,
        by_halves=True,
    ),
    Claim(
        quote="For storage with ε = 1 the predicted size, 30, is quite close to the range, 32 to 64",
        where="V-B, Table II",
        measure="suggested size / near end of the best range (1 inside)",
        band=ABOUT,
        values=_beside("storage", epsilons=(1.0,)),
        by_halves=True,
    ),
    Claim(
        quote="Only on road at ε = 1 the prediction, 400, lies outside the range, 96 to 192: uniformity calls for less",
        where="V-B, Table II",
        measure="suggested size / near end of the best range (1 inside)",
        band=ABOVE,
        values=_beside("road", epsilons=(1.0,)),
        by_halves=True,
        note=UNIFORM,
    ),
    Claim(
        quote="On road at ε = 1, sizes 384 and 512 still have a lower relative error than KD-hybrid",
        where="V-B",
        measure="error of UG 384, UG 512 / KD-hybrid",
        band=BELOW,
        values=_large_sizes,
    ),
    Claim(
        quote="On road at ε = 1, U400 significantly outperforms U96 in absolute error",
        where="V-B, figure absolute",
        measure="absolute error of UG 400 / UG 96",
        band=BELOW,
        values=compare(only("ug", side=400), only("ug", side=96), "road", error="absolute", epsilons=(1.0,)),
    ),
    Claim(
        quote="KD-hybrid performs worse than the best UG on road and storage",
        where="V-B",
        measure="error of KD-hybrid / best UG",
        band=ABOVE,
        values=compare(KD_HYBRID, best_ug, "road", "storage"),
    ),
    Claim(
        quote="and is very close to the best UG on the other two",
        where="V-B",
        measure="error of KD-hybrid / best UG",
        band=CLOSE,
        values=compare(KD_HYBRID, best_ug, "checkin", "landmark"),
        note=VENUES,
    ),
)
