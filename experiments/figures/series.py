"""One line or candlestick of a panel: what it shows and how it is drawn."""

from dataclasses import dataclass

from matplotlib.colors import to_rgb

from experiments.figures.variant import PAPER, Variant

# Okabe & Ito 2008, "Color universal design". Black is left to the bar of a mean.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY, INK = "#56B4E9", "#CC79A7", "#8C8C8C", "#1f1f1f"
COLOURS = {
    "ug": BLUE,
    "ag": VERMILION,
    "dag": "#8A3B12",
    "kd": GREY,
    "kd-hybrid": ORANGE,
    "quadtree": "#5B5B5B",
    "hierarchy": SKY,
    "hb": "#2F7FA8",
    "privlet": PURPLE,
    "privtree": "#C9B800",
    "staq": GREEN,
    "auto": "#6A4C93",
}
MARKERS = {"ug": "o", "ag": "D", "kd": "X", "kd-hybrid": "s", "privlet": "v", "hierarchy": "^", "staq": "*"}
PALEST = 0.65  # share of white in the first of several shades


@dataclass(frozen=True, kw_only=True)
class Series:
    """A variant with its label; the colour is its method's, the same in every figure.

    Parameters
    ----------
    white : float
        Share of white in the colour, for a method that is shown more than once.
    """

    label: str
    variant: Variant
    white: float = 0.0

    @property
    def colour(self) -> tuple[float, float, float]:
        """Red, green and blue."""
        red, green, blue = (
            part + self.white * (1 - part) for part in to_rgb(COLOURS.get(self.variant.method.removesuffix(PAPER), INK))
        )
        return red, green, blue

    @property
    def marker(self) -> str:
        """Mark of the method on lines."""
        return MARKERS.get(self.variant.method.removesuffix(PAPER), "o")


def shades(labelled: list[tuple[str, Variant]]) -> list[Series]:
    """A method at several sizes, from pale to full.

    Examples
    --------
    >>> [series.white for series in shades([("UG 8", Variant.of("ug", side=8)), ("UG 9", Variant.of("ug", side=9))])]
    [0.65, 0.0]
    """
    steps = max(1, len(labelled) - 1)
    return [
        Series(label=label, variant=variant, white=PALEST * (steps - place) / steps if len(labelled) > 1 else 0.0)
        for place, (label, variant) in enumerate(labelled)
    ]
