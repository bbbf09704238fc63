"""Statements of Section V-C on AG and its parameters."""

from collections import defaultdict

from experiments.estimate import MISSING, Estimate, geometric_mean_of, lowest_of
from experiments.figures.adaptive import ALPHAS, C2S, cases, first_sides, setting, sweep
from experiments.figures.datasets import BEST_WITHIN
from experiments.figures.exhibit import ALPHA
from experiments.figures.means import QUERY_SIZES, Means, Scene
from experiments.report.choices import best_ag, best_ug, compare, lowest, only, privlet_of_best_ug, scenes
from experiments.report.claim import ABOVE, BELOW, CLOSE, CLOSE_ABOVE, GENERALLY, Band, Claim, Evidence, Values

OWN = {"alpha": 0.5, "c2": 5.0}  # as suggested


def _by_query_size(evidence: Evidence) -> dict[str, Estimate]:
    """The best AG against the better of UG and Privlet, at each query size."""
    means = evidence.means
    return {
        f"{queries}, {scene.label}": lowest(means, scene, best_ag, queries=queries)
        / lowest(means, scene, lambda m, s: [*best_ug(m, s), *privlet_of_best_ug(m, s)], queries=queries)
        for scene in scenes(evidence, "checkin", "landmark")
        for queries in QUERY_SIZES
    }


def _sensitivity(means: Means, scene: Scene, method: str, parameter: str) -> Estimate:
    """Geometric mean over sizes of the error, relative to the lowest."""
    errors = [means.estimate(scene, variant) for variant in means.sizes(scene, method, parameter).values()]
    return geometric_mean_of(errors) / lowest_of(errors)


def _less_sensitive(evidence: Evidence) -> dict[str, Estimate]:
    means = evidence.means
    return {
        scene.label: _sensitivity(means, scene, "ag", "first_side") / _sensitivity(means, scene, "ug", "side")
        for scene in scenes(evidence)
    }


def _width(means: Means, scene: Scene, method: str, parameter: str) -> Estimate:
    bounds = means.best_range(scene, method, parameter, within=BEST_WITHIN)
    return Estimate(bounds[1] / bounds[0]) if bounds else MISSING


def _wider(evidence: Evidence) -> dict[str, Estimate]:
    means = evidence.means
    return {
        scene.label: _width(means, scene, "ag", "first_side") / _width(means, scene, "ug", "side")
        for scene in scenes(evidence)
    }


def _c2(evidence: Evidence) -> dict[str, Estimate]:
    """Larger c2 against 5: geometric mean over the figures and groups of a scene."""
    means = evidence.means
    return {
        f"c₂ {c2:g}, {scene.label}": geometric_mean_of(
            means.estimate(scene, setting(side, alpha, c2)) / means.estimate(scene, setting(side, alpha, C2S[0]))
            for side in first_sides(means, scene)
            for alpha in ALPHAS
        )
        for scene in scenes(evidence)
        for c2 in C2S[1:]
    }


def _alphas(top: float, *bottom: float) -> Values:
    """One α against the best of others: geometric mean over the figures and every c2 of a scene."""

    def values(evidence: Evidence) -> dict[str, Estimate]:
        means = evidence.means
        return {
            scene.label: geometric_mean_of(
                means.estimate(scene, setting(side, top, c2))
                / lowest_of(means.estimate(scene, setting(side, alpha, c2)) for alpha in bottom)
                for side in first_sides(means, scene)
                for c2 in C2S
            )
            for scene in scenes(evidence)
        }

    return values


def _overall(values: Values) -> Values:
    """Geometric mean over all cases, as one case."""

    def one(evidence: Evidence) -> dict[str, Estimate]:
        return {"all": geometric_mean_of(values(evidence).values())}

    return one


def _range(parameter: str, low: float, high: float) -> Values:
    """Each value in a range against the suggested one: geometric mean over sets, budgets and first-level sizes."""

    def values(evidence: Evidence) -> dict[str, Estimate]:
        ratios = defaultdict(list)
        for case in cases(evidence.means):
            swept = sweep(evidence.means, case, parameter)
            own = swept.get(OWN[parameter], MISSING)
            for value, error in swept.items():
                if low <= value <= high and value != OWN[parameter]:
                    ratios[f"{value:g}"].append(error / own)
        return {value: geometric_mean_of(ratios[value]) for value in sorted(ratios)}

    return values


CLAIMS = (
    Claim(
        quote="AG methods outperform UG and Privlet across all query sizes",
        where="V-C, figure ag0_param",
        measure="error of the best AG / the better of best UG and Privlet, at each query size",
        band=BELOW,
        values=_by_query_size,
    ),
    Claim(
        quote="AG is affected by m₁, but it is less sensitive to m₁ than UG to its size",
        where="V-C, figure ag0_param",
        measure="geometric mean over sizes of error / lowest, AG / UG",
        band=BELOW,
        values=_less_sensitive,
        needed=GENERALLY,
    ),
    Claim(
        quote="and provides good performance for a wider range of m₁",
        where="V-C, figure ag0_param",
        measure="largest / smallest of the best sizes, AG / UG",
        band=ABOVE,
        values=_wider,
        needed=GENERALLY,
        by_halves=True,
    ),
    Claim(
        quote="The m₁ suggested by Guideline 2 is either at or close to the optimal size",
        where="V-C, figure ag0_param",
        measure="error of AG, suggested m₁ / best m₁",
        band=CLOSE_ABOVE,
        values=compare(only("ag"), best_ag, "checkin", "landmark"),
    ),
    Claim(
        quote="c₂ = 5 significantly outperforms larger values, namely 10 and 15",
        where="V-C, figure ag0_param",
        measure="error with c₂ of 10 or 15 / 5",
        band=ABOVE,
        values=_c2,
    ),
    Claim(
        quote="c₂ in the range of 3 to 7 results in almost the same accuracy",
        where="V-C",
        measure="error with c₂ from 3 to 7 / 5",
        band=CLOSE,
        values=_range("c2", 3, 7),
    ),
    Claim(
        quote=f"{ALPHA} = 0.75 performs worse than the other values",
        where="V-C, figure ag0_param",
        measure="error with 0.75 / the better of 0.25 and 0.5",
        band=ABOVE,
        values=_alphas(0.75, 0.25, 0.5),
    ),
    Claim(
        quote=f"{ALPHA} = 0.25 and 0.5 give very similar results",
        where="V-C, figure ag0_param",
        measure="error with 0.25 / 0.5",
        band=CLOSE,
        values=_alphas(0.25, 0.5),
    ),
    Claim(
        quote=f"perhaps with {ALPHA} = 0.25 slightly better",
        where="V-C, figure ag0_param",
        measure="geometric mean of the error with 0.25 / 0.5",
        band=Band(high=1),
        values=_overall(_alphas(0.25, 0.5)),
    ),
    Claim(
        quote=f"{ALPHA} in the range of 0.2 to 0.6 gives very similar results",
        where="V-C",
        measure=f"error with {ALPHA} from 0.2 to 0.6 / 0.5",
        band=CLOSE,
        values=_range("alpha", 0.2, 0.6),
    ),
)
