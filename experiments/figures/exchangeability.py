"""Scale and epsilon exchanged at a fixed product: flat lines mean that only the product counts."""

from collections import defaultdict
from dataclasses import dataclass

from matplotlib.figure import Figure

from experiments.estimate import Estimate
from experiments.figures.exhibit import Exhibit, Table
from experiments.figures.means import ORDER
from experiments.figures.series import COLOURS, INK, MARKERS
from experiments.figures.style import empty, in_style, label_first, plain_log, shared_legend, tiles
from experiments.figures.variant import method_label
from experiments.trial import Row

WORDS = {"drawn": "points drawn from the shape", "copied": "copies of the same points"}
MEASURES = ("relative", "scaled")


@dataclass(frozen=True, kw_only=True, order=True)
class Exchange:
    """A product of points and epsilon, and how points are made."""

    product: float
    way: str

    @property
    def label(self) -> str:
        """What figures call it."""
        return f"{WORDS[self.way]}, N ε = {self.product:,.0f}"


ByMethod = dict[str, dict[int, dict[int, Row]]]  # rows by method, number of points and run


def exchanges(rows: list[Row]) -> dict[Exchange, ByMethod]:
    """Rows of exchanges, those of other kinds left aside."""
    found: dict[Exchange, ByMethod] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for row in rows:
        if "product" in row and "way" in row:
            exchange = Exchange(product=row["product"], way=row["way"])
            found[exchange][row["method"]][row["scale"]][row["seed"]] = row
    return {exchange: found[exchange] for exchange in sorted(found)}


def table(rows: list[Row]) -> Table:
    """Error at the largest scale as a share of that at the smallest: 1 is exchangeable."""
    lines = []
    for exchange, methods in exchanges(rows).items():
        for method in _ordered(methods):
            scales = sorted(methods[method])
            first, last = (methods[method][scale] for scale in (scales[0], scales[-1]))
            ratios = (_mean(last, name) / _mean(first, name) for name in MEASURES)
            times = f"{scales[-1] / scales[0]:g}"
            lines.append((exchange.label, method_label(method), times, *(ratio.text() for ratio in ratios)))
    return Table(
        headings=("points", "method", "times as many", "relative error, ratio", "error / N, ratio"), lines=tuple(lines)
    )


@in_style
def draw(rows: list[Row]) -> Figure:
    """Relative error over epsilon, one panel a product and way."""
    found = exchanges(rows)
    if not found:
        return empty("not run")
    figure, places = tiles(len(found), columns=2, height=3.2)
    for axes, (exchange, methods) in zip(places, found.items(), strict=True):
        for method in _ordered(methods):
            scales = sorted(methods[method])
            errors = [_mean(methods[method][scale], "relative") for scale in scales]
            axes.errorbar(
                [exchange.product / scale for scale in scales],
                [error.value for error in errors],
                yerr=[error.error for error in errors],
                label=method_label(method),
                color=COLOURS.get(method, INK),
                marker=MARKERS.get(method, "o"),
                markersize=5,
                capsize=2,
            )
        axes.set_title(exchange.label, loc="left")
        axes.set_xlabel("ε (fewer points to the right)")
        plain_log(axes, across=True)
        plain_log(axes)
    label_first(places, "relative error")
    shared_legend(figure, places)
    return figure


def _ordered(methods: ByMethod) -> list[str]:
    return sorted(methods, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def _mean(rows: dict[int, Row], name: str) -> Estimate:
    return Estimate.of({seed: row[name] for seed, row in rows.items()})


EXCHANGEABILITY = Exhibit(
    title="More points or more budget",
    source="Hay et al., DPBench, SIGMOD 2016: scale and ε exchanged",
    caption="Relative error with N ε fixed: where a line is flat, ten times the points are worth as much as ten times "
    "the budget. Points are drawn from us_chains with replacement, as DPBench does, or copied, which keeps the shape "
    "exactly. Bars are standard errors over runs.",
    draw=draw,
    table=table,
)
