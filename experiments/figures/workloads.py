"""Workloads beyond uniform rectangles: STAQ's lead with its standard error, errors of every method, bias and spread."""

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.datasets import DATASETS
from experiments.estimate import MISSING, Estimate, geometric_mean_of
from experiments.figures.exhibit import TIMES, Exhibit, Table, number
from experiments.figures.means import ORDER, dataset_order
from experiments.figures.series import COLOURS, INK, MARKERS
from experiments.figures.style import empty, in_style, label_first, panels, plain_log, shared_legend, tiles
from experiments.figures.variant import method_label
from experiments.trial import Row
from experiments.workload import SNH_HOT_SPOTS, WORKLOADS
from hushgrid.geometry.guidelines import guideline_side
from hushgrid.privacy.exact import exact_epsilon

OURS, PLAIN = "staq", "ug"
BEST_FLAT = "best flat grid, in hindsight"
ERRORS = ("relative", "absolute")
FULLEST = 1.5  # doublings and halvings beyond this have the fullest colour
SHOWN = ("ug", "ag", "privtree", "staq")  # in the figure of bias and spread, and the fine grids
LEAST_SHOWN, MOST_SHOWN = 1e-3, 3.0  # of a bias and a spread, in the figure
# The last line of the sample output in the repository of Zeighami et al., "A Neural Database for Differentially Private
# Spatial Range Queries", PVLDB 2022.
SNH = ("SNH, as they print it", "cabs of San Francisco (theirs)", "217,438", "0.05", "0.0655", "15.2")
SNH_EPSILON = 0.05
AIMED, AIM_EPSILON, AIM_FINEST = "aimed", 0.05, 8
AIM_WORKLOADS = ("hot spots, 0.5 %", "uniform rectangles")


@dataclass(frozen=True, kw_only=True)
class WorkloadScene:
    """A data set, a budget and a workload."""

    dataset: str
    epsilon: float
    workload: str

    @property
    def order(self) -> tuple[object, ...]:
        """For sorting: as tables show them."""
        return self.epsilon, list(WORKLOADS).index(self.workload), dataset_order(self.dataset)


@dataclass(frozen=True, kw_only=True)
class Rival:
    """A method as it comes, or a plain grid so many times finer than suggested."""

    method: str
    finer: int = 1

    @property
    def label(self) -> str:
        """What tables call it."""
        name = method_label(self.method)
        return name if self.finer == 1 else f"{name}, {self.finer} {TIMES} finer"

    @property
    def place(self) -> tuple[int, str, int]:
        """For sorting: in the usual order of methods."""
        return (ORDER.index(self.method) if self.method in ORDER else len(ORDER)), self.method, self.finer


class WorkloadRows:
    """Rows of workloads, by case, rival and run.

    Parameters
    ----------
    rows : list of rows
        As `Results.rows` gives them. Rows of other kinds, and of workloads that were not asked, are left aside.
    """

    def __init__(self, rows: list[Row]) -> None:
        self._rows: dict[WorkloadScene, dict[Rival, dict[int, Row]]] = defaultdict(lambda: defaultdict(dict))
        for row in rows:
            if row.get("squared_bias") is not None and row["queries"] in WORKLOADS:
                case = WorkloadScene(dataset=row["dataset"], epsilon=row["epsilon"], workload=row["queries"])
                self._rows[case][_rival(row)][row["seed"]] = row

    @cached_property
    def cases(self) -> list[WorkloadScene]:
        """All there are, in the order of tables."""
        return sorted(self._rows, key=lambda case: case.order)

    @cached_property
    def rivals(self) -> list[Rival]:
        """All there are, in the usual order."""
        return sorted({rival for rivals in self._rows.values() for rival in rivals}, key=lambda rival: rival.place)

    def mean(self, case: WorkloadScene, rival: Rival, field: str) -> Estimate:
        """Mean of a field over runs."""
        return Estimate.of({seed: row[field] for seed, row in self._rows[case].get(rival, {}).items()})

    def best_flat(self, case: WorkloadScene, field: str, *, finest: float = math.inf) -> Rival:
        """The plain grid of lowest mean error, which nobody knows beforehand."""
        flat = [rival for rival in self._rows[case] if rival.method == PLAIN and rival.finer <= finest]
        return min(flat, key=lambda rival: self.mean(case, rival, field).value, default=Rival(method=PLAIN))

    def ratio(self, case: WorkloadScene, rival: Rival, field: str) -> Estimate:
        """Mean error of STAQ as a share of a rival's, over questions that both were asked."""
        return self.mean(case, Rival(method=OURS), field) / self.mean(case, rival, field)

    def leads(self, epsilon: float, workload: str, field: str) -> dict[str, Estimate]:
        """STAQ's error as a share of each rival's, by the rival's label.

        It is a geometric mean over data sets, and missing where one of them was not run.
        """
        cases = [each for each in self.cases if (each.epsilon, each.workload) == (epsilon, workload)]
        to_best = [self.ratio(case, self.best_flat(case, field), field) for case in cases]
        others = (rival for rival in self.rivals if rival.method != OURS)
        return {
            BEST_FLAT: _over_sets(to_best),
            **{rival.label: _over_sets([self.ratio(each, rival, field) for each in cases]) for rival in others},
        }

    @cached_property
    def scenes(self) -> list[tuple[float, str]]:
        """Budgets and workloads, in the order of tables."""
        return list(dict.fromkeys((case.epsilon, case.workload) for case in self.cases))


def _over_sets(ratios: list[Estimate]) -> Estimate:
    """Geometric mean; of fewer sets it could not be compared."""
    return geometric_mean_of(ratios) if all(ratio.known for ratio in ratios) else MISSING


def lead_table(rows: list[Row]) -> Table:
    """STAQ's error as a share of each rival's, with its standard error."""
    asked = WorkloadRows(rows)
    labels = [BEST_FLAT, *(rival.label for rival in asked.rivals if rival.method != OURS)]
    lines = []
    for epsilon, workload in asked.scenes:
        for error in ERRORS:
            leads = asked.leads(epsilon, workload, error)
            lines.append((f"{epsilon:g}", workload, error, *(leads[label].text() for label in labels)))
    return Table(headings=("ε", "workload", "error", *(f"STAQ / {label}" for label in labels)), lines=tuple(lines))


def error_table(rows: list[Row]) -> Table:
    """Errors of every method on every set, and their bias and spread."""
    asked = WorkloadRows(rows)
    rivals = asked.rivals
    lines = []
    for case in asked.cases:
        about = (case.dataset, f"{case.epsilon:g}", case.workload)
        lines += [(*about, error, *(asked.mean(case, rival, error).short for rival in rivals)) for error in ERRORS]
        lines.append((*about, "signed", *(number(asked.mean(case, rival, "signed").value, "+.2g") for rival in rivals)))
        for name, field in (("bias", "squared_bias"), ("spread", "variance")):
            lines.append((*about, name, *(asked.mean(case, rival, field).root().short for rival in rivals)))
    return Table(
        headings=("data set", "ε", "workload", "measure", *(rival.label for rival in rivals)), lines=tuple(lines)
    )


def snh_table(rows: list[Row]) -> Table:
    """Our errors on SNH's protocol, beside the one that its authors print."""
    asked = WorkloadRows(rows)
    cases = [each for each in asked.cases if (each.epsilon, each.workload) == (SNH_EPSILON, SNH_HOT_SPOTS)]
    ours = tuple(
        (
            *(rival.label, case.dataset, f"{DATASETS[case.dataset].size:,}", f"{case.epsilon:g}"),
            *(asked.mean(case, rival, error).short for error in ERRORS),
        )
        for case in cases
        for rival in asked.rivals
        if rival.method in SHOWN and asked.mean(case, rival, "relative").known
    )
    return Table(headings=("method", "data set", "points", "ε", *ERRORS), lines=(SNH, *ours) if ours else ())


def aim_table(rows: list[Row]) -> Table:
    """Errors of an aimed release at its scale and elsewhere, beside those of others."""
    asked = WorkloadRows(rows)
    shown = [Rival(method=AIMED), *(Rival(method=name) for name in ("staq", "ag", "privtree"))]
    lines = []
    for case in asked.cases:
        if case.epsilon != AIM_EPSILON or case.workload not in AIM_WORKLOADS:
            continue
        best = asked.best_flat(case, "relative", finest=AIM_FINEST)
        to_best = asked.mean(case, Rival(method=AIMED), "relative") / asked.mean(case, best, "relative")
        errors = (asked.mean(case, rival, "relative").short for rival in (*shown, best))
        lines.append((case.dataset, case.workload, *errors, to_best.text()))
    labels = (*(rival.label for rival in shown), BEST_FLAT, "Aimed / best flat")
    return Table(headings=("data set", "workload", *labels), lines=tuple(lines))


@in_style
def draw_leads(rows: list[Row]) -> Figure:
    """STAQ's relative error as a share of each rival's: purple is better, orange worse."""
    asked = WorkloadRows(rows)
    epsilons = sorted({epsilon for epsilon, _ in asked.scenes})
    if not epsilons:
        return empty("not run")
    rivals = [BEST_FLAT, *(rival.label for rival in asked.rivals if rival.method != OURS)]
    figure, grid = panels(len(epsilons), 1, height=0.3 * len(rivals) + 1.0)
    for [axes], epsilon in zip(grid, epsilons, strict=True):
        workloads = [workload for each, workload in asked.scenes if each == epsilon]
        leads = [asked.leads(epsilon, workload, "relative") for workload in workloads]
        ratios = np.array([[lead[rival].value for lead in leads] for rival in rivals])
        _heat(axes, ratios)
        worst, where = np.unravel_index(np.nanargmax(ratios), ratios.shape)
        axes.set_title(
            f"relative error of STAQ / of others, ε = {epsilon:g}; at most {leads[where][rivals[worst]].text()} "
            f"({rivals[worst]}; {workloads[where]})",
            loc="left",
        )
        axes.set_yticks(range(len(rivals)), rivals)
        axes.set_xticks(range(len(workloads)), workloads, rotation=40, ha="right", rotation_mode="anchor")
        axes.label_outer()
    return figure


@in_style
def draw_bias(rows: list[Row]) -> Figure:
    """Bias against spread of relative errors, one panel a workload and budget.

    Over data sets both are quadratic means.
    """
    asked = WorkloadRows(rows)
    scenes = asked.scenes
    if not scenes:
        return empty("not run")
    figure, places = tiles(len(scenes), columns=5, height=2.6)
    rivals = [rival for rival in asked.rivals if rival.method in SHOWN]
    for axes, (epsilon, workload) in zip(places, scenes, strict=True):
        cases = [each for each in asked.cases if (each.epsilon, each.workload) == (epsilon, workload)]
        for rival in rivals:
            squares = [
                [asked.mean(each, rival, field).value for each in cases] for field in ("variance", "squared_bias")
            ]
            spread, bias = np.sqrt(np.maximum(np.mean(squares, axis=1), LEAST_SHOWN**2))
            axes.scatter(spread, bias, label=rival.label, **_look(rival))
        axes.plot([LEAST_SHOWN, MOST_SHOWN], [LEAST_SHOWN, MOST_SHOWN], color="#bbbbbb", linewidth=0.8, zorder=0)
        axes.set_title(f"{workload}\nε = {epsilon:g}", loc="left", fontsize=9)
        plain_log(axes)
        plain_log(axes, across=True)
        axes.set_xlabel("spread")
    label_first(places, "bias")
    shared_legend(figure, places)
    return figure


def _heat(axes: Axes, ratios: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    axes.imshow(-np.log2(ratios), cmap="PuOr", vmin=-FULLEST, vmax=FULLEST, aspect="auto")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(ratios):
        strong = abs(math.log2(value)) > 0.6 * FULLEST
        axes.text(column, row, number(value, ".2f"), ha="center", va="center", color="white" if strong else "black")


def _look(rival: Rival) -> dict[str, Any]:
    """A fine grid is an empty mark, the larger the finer."""
    colour = COLOURS.get(rival.method, INK)
    filled = "none" if rival.finer > 1 else colour
    size = 30 + 12 * rival.finer * (rival.finer > 1)
    return {"edgecolors": colour, "facecolors": filled, "marker": MARKERS.get(rival.method, "o"), "s": size}


def _rival(row: Row) -> Rival:
    if row["method"] != PLAIN or "side" not in row["parameters"]:
        return Rival(method=row["method"])
    return Rival(method=PLAIN, finer=round(row["parameters"]["side"] / _suggested(row["dataset"], row["epsilon"])))


@lru_cache(maxsize=64)
def _suggested(dataset: str, epsilon: float) -> int:
    return guideline_side(DATASETS[dataset].size, exact_epsilon(epsilon))


LEADS = Exhibit(
    title="Workloads beyond uniform rectangles: STAQ's lead",
    caption="STAQ's mean error as a share of another method's on the same questions: purple below 1 is better, orange "
    "above 1 worse; geometric mean over data sets. The table has standard errors over runs, each with two releases and "
    "questions of its own. Hot spots are squares about data points, by their share of the domain's sides; squares of "
    "5 km lie about data points, too. The best flat grid is the one of lowest error in each case, which nobody knows "
    "beforehand.",
    draw=draw_leads,
    table=lead_table,
)
BIAS = Exhibit(
    title="Bias and spread of every method, by workload",
    caption="Root mean squares of relative errors over queries: the bias is what stays when a release is repeated, the "
    "spread what changes. Open marks: plain grids finer than suggested. A bias far below the spread is not resolved. "
    "In the table a signed error below 0 means that counts come out too low.",
    draw=draw_bias,
    table=error_table,
)
SNH_PROTOCOL = Exhibit(
    title="Hot spots on the protocol of SNH",
    source="Zeighami et al., PVLDB 2022: sample output of their code",
    caption="Squares of 0.2 to 0.275 % of the domain's sides about data points, ε = 0.05, errors relative to 0.1 % of "
    "the points at least. The first line is theirs, of one run on data that we do not have, with the bounds of the "
    "data as domain: it is quoted, and not compared.",
    table=snh_table,
)
AIM = Exhibit(
    title="A release aimed at squares of 0.5 % of the sides",
    caption="Relative errors at ε = 0.05: on squares about data points, which it is made for, and on the paper's "
    "rectangles, which it is not. The best flat grid has 1, 2, 4 or 8 times the cells a side of Guideline 1.",
    table=aim_table,
)
