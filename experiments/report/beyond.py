"""Statements of our own, beyond the paper: newer methods, smaller budgets, intervals."""

from experiments.estimate import Estimate
from experiments.figures.means import MADE_UP
from experiments.figures.variant import Variant
from experiments.report.choices import Choice, compare, only
from experiments.report.claim import BELOW, GENERALLY, NOT_ABOVE, Band, Claim, Evidence, Values

EPSILONS = (0.01, 0.1, 1.0)
AG, STAQ = only("ag"), only("staq")
HONEST = Band(low=0.93, high=0.97)


def _to_ag(choice: Choice, error: str = "relative") -> Values:
    return compare(choice, AG, error=error, epsilons=EPSILONS)


def _coverage(method: str) -> Values:
    return lambda evidence: {
        scene.label: evidence.means.estimate(scene, Variant.of(method), "coverage_95")
        for scene in evidence.means.scenes()
        if scene.dataset not in MADE_UP
    }


def _total_coverage(*methods: str) -> Values:
    def values(evidence: Evidence) -> dict[str, Estimate]:
        return {
            f"{Variant.of(name).label}, {scene}": value
            for name in methods
            for scene, value in _coverage(name)(evidence).items()
        }

    return values


CLAIMS = (
    Claim(
        quote="STAQ has a lower relative error than AG on every set",
        where="beyond",
        measure="relative error of STAQ / AG",
        band=BELOW,
        values=_to_ag(STAQ),
    ),
    Claim(
        quote="and never a higher absolute error",
        where="beyond",
        measure="absolute error of STAQ / AG",
        band=NOT_ABOVE,
        values=_to_ag(STAQ, "absolute"),
    ),
    Claim(
        quote="Bayes splits improve on least squares",
        where="beyond",
        measure="relative error of STAQ, Bayes splits / least squares",
        band=NOT_ABOVE,
        values=compare(only("staq", inference="bayes"), only("staq", inference="least-squares"), epsilons=EPSILONS),
    ),
    Claim(
        quote="and belief propagation on Bayes splits",
        where="beyond",
        measure="relative error of STAQ, belief propagation / Bayes splits",
        band=NOT_ABOVE,
        values=compare(STAQ, only("staq", inference="bayes"), epsilons=EPSILONS),
    ),
    Claim(
        quote="PrivTree has generally a lower relative error than AG",
        where="beyond",
        measure="relative error of PrivTree / AG",
        band=BELOW,
        values=_to_ag(only("privtree")),
        needed=GENERALLY,
    ),
    Claim(
        quote="HB does not reach AG",
        where="beyond",
        measure="relative error of HB / AG",
        band=Band(low=1.05),
        values=_to_ag(only("hb")),
    ),
    Claim(
        quote="nor does DAWA",
        where="beyond",
        measure="relative error of DAWA / AG",
        band=Band(low=1.05),
        values=_to_ag(only("dawa")),
        needed=GENERALLY,
    ),
    Claim(
        quote="auto is never worse than AG",
        where="beyond",
        measure="relative error of auto / AG",
        band=NOT_ABOVE,
        values=_to_ag(only("auto")),
    ),
    Claim(
        quote="95 % intervals of UG, AG and STAQ hold the truth 93 to 97 times in a hundred",
        where="beyond",
        measure="coverage",
        band=HONEST,
        values=_total_coverage("ug", "ag", "staq"),
        needed=GENERALLY,
        ratio=False,
    ),
)
