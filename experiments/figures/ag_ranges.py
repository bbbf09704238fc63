"""AG with α from 0.1 to 0.9 and c₂ from 3 to 9, which the paper reports in words only."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.estimate import Estimate
from experiments.figures.means import Means, Scene
from experiments.figures.series import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION
from experiments.figures.style import empty, in_style, panels, plain_log, shared_legend
from experiments.figures.symbols import ALPHA
from experiments.trial import Row

CASE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, GREY, INK)  # the method is AG in all
CASE_MARKERS = "osD^vPX*"
PAPER_VALUES = (0.25, 0.5, 0.75)  # of α in the figures; three of c₂ as well
SWEPT = {"alpha": f"share of the budget for the first level, {ALPHA}", "c2": "constant of the second level, c₂"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """AG with one first-level size on one set and budget."""

    scene: Scene
    first_side: int | None

    @property
    def label(self) -> str:
        """What the figure calls it."""
        return f"{self.scene.label}, m₁ = {self.first_side or 'suggested'}"


@in_style
def draw(rows: list[Row]) -> Figure:
    """Relative error of AG by α and by c₂, the other as suggested, one line a set, budget and m₁."""
    means = Means(rows)
    found = cases(means)
    if not found:
        return empty(f"{ALPHA} and c₂ were not varied over a range")
    figure, [line] = panels(1, len(SWEPT), height=4.2)
    for axes, (name, label) in zip(line, SWEPT.items(), strict=True):
        for place, case in enumerate(found):
            _line(axes, case, sweep(means, case, name), place % len(CASE_COLOURS))
        axes.set_xlabel(label)
        plain_log(axes)
    line[0].set_ylabel("relative error")
    shared_legend(figure, line, columns=3)
    return figure


def cases(means: Means) -> list[Case]:
    """Where α or c₂ was varied over more than the paper's three values."""
    sides = {
        Case(scene=scene, first_side=None if ag["first_side"] is None else int(str(ag["first_side"])))
        for scene in means.paper_scenes()
        for ag in means.variants(scene, "ag")
    }
    swept = [case for case in sides if any(len(sweep(means, case, name)) > len(PAPER_VALUES) for name in SWEPT)]
    order = {scene: place for place, scene in enumerate(means.paper_scenes())}
    return sorted(swept, key=lambda case: (order[case.scene], case.first_side or 0))


def sweep(means: Means, case: Case, parameter: str) -> dict[float, Estimate]:
    """Relative error of AG by one parameter, the other its own."""
    size = set() if case.first_side is None else {"first_side"}
    errors = {
        float(str(ag[parameter])): means.estimate(case.scene, ag)
        for ag in means.variants(case.scene, "ag")
        if ag["first_side"] == case.first_side and (ag.has_only(*size) or ag.has_only(*size, parameter))
    }
    return dict(sorted(errors.items()))


def _line(axes: Axes, case: Case, errors: dict[float, Estimate], place: int) -> None:
    axes.errorbar(
        list(errors),
        [error.value for error in errors.values()],
        yerr=[error.error for error in errors.values()],
        label=case.label,
        color=CASE_COLOURS[place],
        marker=CASE_MARKERS[place],
        markersize=5,
    )
