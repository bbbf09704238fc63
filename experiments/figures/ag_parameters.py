"""AG with α and c₂ varied (third and fourth column of figure "ag0_param" of the paper)."""

from matplotlib.figure import Figure

from experiments.figures.means import Means, Scene
from experiments.figures.series import PALEST, Series
from experiments.figures.style import candlesticks, empty, in_style, label_first, tiles
from experiments.figures.symbols import ALPHA
from experiments.figures.variant import Variant
from experiments.trial import Row

ALPHAS = {0.25: PALEST, 0.5: PALEST / 2, 0.75: 0.0}  # and the share of white each is drawn with
C2S = (5.0, 10.0, 15.0)


@in_style
def draw(rows: list[Row]) -> Figure:
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
