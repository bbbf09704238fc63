"""What claims compare: variants of a method, chosen from the rows of a scene, and ratios between them."""

from collections.abc import Callable, Iterable

from experiments.estimate import Estimate, lowest_of
from experiments.figures.means import MADE_UP, PAPER_NAMES, Means, Scene
from experiments.figures.variant import Variant
from experiments.report.claim import Evidence, Values
from experiments.trial import ALL_SIZES

Choice = Callable[[Means, Scene], Iterable[Variant]]  # the best of them is meant

EPSILONS = (0.1, 1.0)  # of the paper


def only(method: str, **parameters: float | str) -> Choice:
    """A method with parameters."""
    return lambda _means, _scene: [Variant.of(method, **parameters)]


def best_ug(means: Means, scene: Scene) -> list[Variant]:
    """UG with the size of lowest relative error."""
    return [variant for variant in [means.best(scene, "ug", "side")] if variant]


def best_ag(means: Means, scene: Scene) -> list[Variant]:
    """AG with the first-level size of lowest relative error."""
    return [variant for variant in [means.best(scene, "ag", "first_side")] if variant]


def privlet_of_best_ug(means: Means, scene: Scene) -> list[Variant]:
    """Privlet on the best UG's grid."""
    return [Variant.of("privlet", side=ug["side"]) for ug in best_ug(means, scene)]


def not_ag(means: Means, scene: Scene) -> list[Variant]:
    """The other methods of the final comparison."""
    known = (Variant.of("kd-hybrid-paper"), Variant.of("ug"))
    return [*known, *best_ug(means, scene), *privlet_of_best_ug(means, scene)]


def lowest(
    means: Means, scene: Scene, choice: Choice, *, error: str = "relative", queries: str = ALL_SIZES
) -> Estimate:
    """Lowest mean error among the variants that were run."""
    return lowest_of(means.estimate(scene, one, f"{error}_mean", queries) for one in choice(means, scene))


def scenes(evidence: Evidence, *papers: str, epsilons: tuple[float, ...] = EPSILONS) -> list[Scene]:
    """Scenes of some sets of the paper, or of all.

    A made-up set counts only in statements about the set that it is like: it was made to be like it.
    """
    found = evidence.means.paper_scenes(epsilons=epsilons)
    if papers:
        return [scene for scene in found if PAPER_NAMES.get(scene.dataset) in papers]
    return [scene for scene in found if scene.dataset not in MADE_UP]


def compare(
    top: Choice,
    bottom: Choice,
    *papers: str,
    error: str = "relative",
    epsilons: tuple[float, ...] = EPSILONS,
) -> Values:
    """Ratio of the errors of two choices on each scene."""

    def values(evidence: Evidence) -> dict[str, Estimate]:
        means = evidence.means
        return {
            scene.label: lowest(means, scene, top, error=error) / lowest(means, scene, bottom, error=error)
            for scene in scenes(evidence, *papers, epsilons=epsilons)
        }

    return values
