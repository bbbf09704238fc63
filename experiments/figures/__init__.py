"""Every figure and table of the evaluation, one file each; they read rows and compute nothing but means over runs."""

from collections.abc import Mapping
from types import MappingProxyType

from experiments.figures import (
    ablation,
    accuracy,
    ag_first_level,
    ag_parameters,
    ag_ranges,
    coverage,
    datasets,
    dimensions,
    exchangeability,
    final,
    final_absolute,
    final_beyond,
    grid_sizes,
    hierarchies,
    kd,
    scale,
    times,
    workloads,
)
from experiments.figures.exhibit import Exhibit
from experiments.figures.symbols import ALPHA, TIMES

CANDLESTICK = (
    "A candlestick is the profile of the errors over all query sizes: its line goes from the 25th to the 95th "
    "percentile, its box from the median to the 75th, and the black bar is the mean, with one standard error to both "
    "sides."
)
FIGURES: Mapping[str, Exhibit] = MappingProxyType(
    {
        "datasets": Exhibit(
            title="The data sets",
            source="Figure 2 and Table II",
            caption="Points per pixel on a log scale, dark where there are many.",
            draw=datasets.draw,
            table=datasets.table,
        ),
        "grid_sizes": Exhibit(
            title="Suggested sizes and sizes that did best",
            source="Table II",
            caption="Best are the sizes about the one of lowest mean relative error that come within 10 % of it. The "
            "paper's own programs appear to take the domain from the data. We do not, because it would reveal the "
            "outermost points; on us_chains a domain that fits the data lowers UG's error 1.3 to 1.5 times.",
            table=grid_sizes.table,
        ),
        "kd": Exhibit(
            title="KD-standard, KD-hybrid and UG over sizes",
            source="Section V-B, figure kd1",
            caption=f"Sizes of UG whose error is at most three times the lowest. {CANDLESTICK}",
            draw=kd.draw,
        ),
        "hierarchies": Exhibit(
            title="Hierarchies and Privlet on a base grid",
            source="Section V-B, figure hie_flat",
            caption=f"H b,d has d grids, a cell of one b {TIMES} b cells of the next. The base grid, 288 or 144, "
            "is in proportion to the suggested size as the paper's 360; UG and Privlet are shown on 360 as well. The "
            "axis is logarithmic, because Privlet would flatten the rest.",
            draw=hierarchies.draw,
        ),
        "ag_first_level": Exhibit(
            title="AG with the size of its first level varied",
            source="Section V-C, figure ag0_param, first and second column",
            caption="Left of each pair: the three best AG beside the best UG and Privlet on that grid. Right: AG over "
            "m₁ where its error is at most three times the lowest, and at the suggested one.",
            draw=ag_first_level.draw,
        ),
        "ag_parameters": Exhibit(
            title=f"AG with {ALPHA} and c₂ varied",
            source="Section V-C, figure ag0_param, third and fourth column",
            caption=f"Three groups: {ALPHA} = 0.25 (pale), 0.5 and 0.75 (full).",
            draw=ag_parameters.draw,
        ),
        "ag_ranges": Exhibit(
            title=f"AG with {ALPHA} from 0.1 to 0.9 and c₂ from 3 to 9",
            source="Section V-C, in words only",
            caption="Mean relative error with its standard error; the other parameter as suggested.",
            draw=ag_ranges.draw,
        ),
        "final": Exhibit(
            title="Final comparison, relative error",
            source="Section V-D, figure compare",
            caption="Paler: the same method with the size of lowest observed error.",
            draw=final.draw,
        ),
        "final_absolute": Exhibit(
            title="Final comparison, absolute error",
            source="Section V-D, figure absolute",
            caption="The same methods on a log axis.",
            draw=final_absolute.draw,
        ),
        "final_beyond": Exhibit(
            title="Final comparison with newer methods and a smaller budget",
            caption="Every method as it comes, without looking at the truth.",
            draw=final_beyond.draw,
        ),
        "accuracy": Exhibit(
            title="Every method against AG",
            caption="Mean error as a ratio to AG's at its suggested size, and the standard error of that, paired by "
            "workload: purple below 1 is better, orange worse.",
            draw=accuracy.draw,
        ),
        "ablation": Exhibit(
            title="STAQ, stage by stage",
            caption="Geometric mean over sets of the error as a ratio to AG's, with its standard error.",
            draw=ablation.draw,
            table=ablation.table,
        ),
        "times": Exhibit(
            title="Running times and nodes",
            source="the table commented out of Section V-D",
            caption="Seconds to publish from memory, the least over runs, which has no standard error; nodes of the "
            "structure, all levels, the mean.",
            draw=times.draw,
            table=times.table,
        ),
        "dimensions": Exhibit(
            title="Hierarchies in one, two and three dimensions",
            source="Section IV-C",
            caption="Lines: each grid twice as fine, along every axis, as the one above. Pale marks: wider branching. "
            "Below 1 the hierarchy is better than one flat grid with as many cells. Bars are standard errors.",
            draw=dimensions.draw,
            table=dimensions.table,
        ),
        "coverage": Exhibit(
            title="Coverage of intervals",
            caption="Share of queries whose 95 % interval holds the truth, with its standard error over runs: orange "
            "too few, purple too many.",
            draw=coverage.draw,
            table=coverage.table,
        ),
        "scale": Exhibit(
            title="Coverage at scale",
            caption="The default release of made-up points, very clumpy (towns) and smooth (plains): share of queries "
            "whose interval holds the truth, over all queries, and at 95 % by query size, with standard errors over "
            "the two or four runs.",
            table=scale.table,
        ),
        "workloads": workloads.LEADS,
        "workload_bias": workloads.BIAS,
        "snh": workloads.SNH_PROTOCOL,
        "exchangeability": exchangeability.EXCHANGEABILITY,
    }
)
