"""AG with its parameters varied: first-level size, α and c₂ (figure "ag0_param" of the paper, and its text)."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.estimate import Estimate
from experiments.figures.exhibit import ALPHA, Exhibit
from experiments.figures.means import Means, Scene
from experiments.figures.series import BLUE, GREEN, GREY, INK, ORANGE, PALEST, PURPLE, SKY, VERMILION, Series, shades
from experiments.figures.style import (
    candlesticks,
    draw_pairs,
    empty,
    in_style,
    label_first,
    panels,
    plain_log,
    shared_legend,
    tiles,
)
from experiments.figures.variant import Variant
from experiments.trial import Row

RANKS = ("AG, best m₁", "AG, second best m₁", "AG, third best m₁")
ALPHAS = {0.25: PALEST, 0.5: PALEST / 2, 0.75: 0.0}  # and the share of white each is drawn with
C2S = (5.0, 10.0, 15.0)
CASE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, GREY, INK)  # the method is AG in all
CASE_MARKERS = "osD^vPX*"
PAPER_VALUES = (0.25, 0.5, 0.75)  # of α in the figures; three of c₂ as well
SWEPT = {"alpha": f"share of the budget for the first level, {ALPHA}", "c2": "constant of the second level, c₂"}


@in_style
def draw_first_level(rows: list[Row]) -> Figure:
    """Lines of the best UG, Privlet on its grid and the three best AG; candlesticks of AG over m₁."""
    means = Means(rows)
    return draw_pairs(means, means.paper_scenes(), lines=_first_level_lines, sticks=_first_level_sticks)


def _first_level_lines(means: Means, scene: Scene) -> list[Series]:
    sizes = means.sizes(scene, "ag", "first_side").values()
    leaders = zip(RANKS, sorted(sizes, key=lambda variant: means.value(scene, variant)), strict=False)
    ranked = [*reversed(shades([*reversed(list(leaders))]))]
    best = means.best(scene, "ug", "side")
    if best is None:
        return ranked
    rivals = [("UG, best size", best), ("Privlet, same size", Variant.of("privlet", side=best["side"]))]
    return [*(Series(label=label, variant=rival) for label, rival in rivals if means.has(scene, rival)), *ranked]


def _first_level_sticks(means: Means, scene: Scene) -> list[Series]:
    sizes = means.near_best(scene, "ag", "first_side")
    sticks = shades([(f"AG {side}", variant) for side, variant in sizes.items()])
    suggested = Variant.of("ag")
    if sticks and means.has(scene, suggested):
        sticks.append(Series(label=f"suggested: {means.suggested_first_side(scene)}", variant=suggested))
    return sticks


@in_style
def draw_nine(rows: list[Row]) -> Figure:
    """Nine candlesticks a panel: three groups of α, the palest 0.25, in each c₂ of 5, 10 and 15."""
    means = Means(rows)
    cases = [(scene, side) for scene in means.paper_scenes() for side in first_sides(means, scene)]
    if not cases:
        return empty(f"{ALPHA} and c₂ were not varied")
    figure, places = tiles(len(cases))
    for axes, (scene, side) in zip(places, cases, strict=True):
        sticks = [
            Series(label=f"{ALPHA} {alpha:g}, c₂ {c2:g}", variant=setting(side, alpha, c2), white=white)
            for alpha, white in ALPHAS.items()
            for c2 in C2S
        ]
        candlesticks(axes, means, scene, sticks)
        axes.set_title(f"{scene.title}, m₁ = {side}", loc="left")
        axes.set_ylim(bottom=0)
    label_first(places, "relative error")
    return figure


def setting(side: int, alpha: float, c2: float) -> Variant:
    """AG with all three parameters given."""
    return Variant.of("ag", first_side=side, alpha=alpha, c2=c2)


def first_sides(means: Means, scene: Scene) -> list[int]:
    """First-level sizes with which all nine were run."""
    sides = {int(str(ag["first_side"])) for ag in means.variants(scene, "ag") if ag["first_side"] is not None}
    nine = [(alpha, c2) for alpha in ALPHAS for c2 in C2S]
    return [side for side in sorted(sides) if all(means.has(scene, setting(side, *pair)) for pair in nine)]


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
def draw_ranges(rows: list[Row]) -> Figure:
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


FIRST_LEVEL = Exhibit(
    title="AG with the size of its first level varied",
    source="Section V-C, figure ag0_param, first and second column",
    caption="Left of each pair: the three best AG beside the best UG and Privlet on that grid. Right: AG over "
    "m₁ where its error is at most three times the lowest, and at the suggested one.",
    draw=draw_first_level,
)


NINE = Exhibit(
    title=f"AG with {ALPHA} and c₂ varied",
    source="Section V-C, figure ag0_param, third and fourth column",
    caption=f"Three groups: {ALPHA} = 0.25 (pale), 0.5 and 0.75 (full).",
    draw=draw_nine,
)


RANGES = Exhibit(
    title=f"AG with {ALPHA} from 0.1 to 0.9 and c₂ from 3 to 9",
    source="Section V-C, in words only",
    caption="Mean relative error with its standard error; the other parameter as suggested.",
    draw=draw_ranges,
)
