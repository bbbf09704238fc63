"""Who is in the final comparison."""

from experiments.figures.means import Means, Scene
from experiments.figures.series import PALEST, Series
from experiments.figures.variant import Variant

NEWCOMERS = ("hb", "privtree", "staq", "auto")  # beyond the paper
UNTUNED = ("KD-hybrid", "UG, suggested", "AG, suggested")  # what a user gets without looking at the truth


def contenders(means: Means, scene: Scene) -> list[Series]:
    """The paper's six methods, in its order, and KD-hybrid as we have it, as far as they were run."""
    best_ug, best_ag = means.best(scene, "ug", "side"), means.best(scene, "ag", "first_side")
    wanted = (
        ("KD-hybrid", Variant.of("kd-hybrid-paper"), 0.0),
        ("KD-hybrid, ours", Variant.of("kd-hybrid"), PALEST / 2),
        ("UG, best size", best_ug, PALEST / 2),
        ("Privlet, that size", Variant.of("privlet", side=best_ug["side"]) if best_ug else None, 0.0),
        ("AG, best m₁", best_ag, PALEST / 2),
        ("UG, suggested", Variant.of("ug"), 0.0),
        ("AG, suggested", Variant.of("ag"), 0.0),
    )
    return [
        Series(label=label, variant=variant, white=white)
        for label, variant, white in wanted
        if variant and means.has(scene, variant)
    ]


def newcomers(means: Means, scene: Scene) -> list[Series]:
    """Methods that the paper could not know."""
    wanted = [Variant.of(name) for name in NEWCOMERS]
    return [Series(label=variant.label, variant=variant) for variant in wanted if means.has(scene, variant)]
