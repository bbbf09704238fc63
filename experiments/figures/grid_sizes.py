"""Sizes suggested and sizes that did best (Table II of the paper)."""

from experiments.estimate import MISSING, Estimate
from experiments.figures.means import PAPER_NAMES, Means, Scene, dataset_label
from experiments.figures.symbols import DASH
from experiments.figures.table import Table, number, span
from experiments.figures.variant import Variant
from experiments.trial import Row

BEST_WITHIN = 1.10  # sizes whose relative error is within this factor of the lowest count as best
PAPER: dict[tuple[str, float], tuple[int, tuple[int, int], tuple[int, int]]] = {  # UG suggested, UG actual, AG actual
    ("road", 1.0): (400, (96, 192), (32, 48)),
    ("checkin", 1.0): (316, (192, 384), (48, 96)),
    ("landmark", 1.0): (300, (256, 512), (64, 128)),
    ("storage", 1.0): (30, (32, 64), (12, 32)),
    ("road", 0.1): (126, (48, 128), (10, 32)),
    ("checkin", 0.1): (100, (64, 128), (16, 48)),
    ("landmark", 0.1): (95, (64, 128), (32, 64)),
    ("storage", 0.1): (10, (10, 32), (10, 16)),
}


def table(rows: list[Row]) -> Table:
    """Suggested size and best range of UG and AG for each set and budget, beside what the paper found on its own."""
    means = Means(rows)
    return Table(
        headings=(
            *("data set", "ε", "UG suggested", "UG best", "error, suggested / best"),
            *("AG m₁ suggested", "AG m₁ best", "error, suggested / best"),
            *("paper's UG suggested", "paper's UG best", "paper's AG m₁ best"),
        ),
        lines=tuple(_line(means, scene) for scene in means.paper_scenes()),
    )


def _line(means: Means, scene: Scene) -> tuple[str, ...]:
    paper = PAPER.get((PAPER_NAMES.get(scene.dataset, ""), scene.epsilon))
    return (
        *(dataset_label(scene.dataset), f"{scene.epsilon:g}"),
        number(means.suggested_side(scene), "d"),
        span(means.best_range(scene, "ug", "side", within=BEST_WITHIN)),
        _to_best(means, scene, "ug", "side").text(),
        number(means.suggested_first_side(scene), "d"),
        span(means.best_range(scene, "ag", "first_side", within=BEST_WITHIN)),
        _to_best(means, scene, "ag", "first_side").text(),
        *((str(paper[0]), span(paper[1]), span(paper[2])) if paper else (DASH,) * 3),
    )


def _to_best(means: Means, scene: Scene, method: str, parameter: str) -> Estimate:
    """Relative error at the suggested size, relative to that at the best."""
    best = means.best(scene, method, parameter)
    return means.estimate(scene, Variant.of(method)) / means.estimate(scene, best) if best else MISSING
