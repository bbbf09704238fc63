"""Every figure and table of the evaluation; they read rows and compute nothing but means over runs."""

from collections.abc import Mapping
from types import MappingProxyType

from experiments.figures import (
    accuracy,
    adaptive,
    baselines,
    coverage,
    datasets,
    dimensions,
    exchangeability,
    final,
    priors,
    slices,
    times,
    workloads,
)
from experiments.figures.exhibit import Exhibit

FIGURES: Mapping[str, Exhibit] = MappingProxyType(
    {
        "datasets": datasets.DATASETS_SHOWN,
        "grid_sizes": datasets.GRID_SIZES,
        "kd": baselines.TREES,
        "hierarchies": baselines.HIERARCHIES,
        "ag_first_level": adaptive.FIRST_LEVEL,
        "ag_parameters": adaptive.NINE,
        "ag_ranges": adaptive.RANGES,
        "final": final.RELATIVE,
        "final_absolute": final.ABSOLUTE,
        "final_beyond": final.BEYOND,
        "accuracy": accuracy.AGAINST_AG,
        "ablation": accuracy.BY_STAGE,
        "times": times.TIMES_AND_NODES,
        "dimensions": dimensions.DIMENSIONS,
        "coverage": coverage.COVERAGE,
        "scale": coverage.AT_SCALE,
        "workloads": workloads.LEADS,
        "workload_bias": workloads.BIAS,
        "snh": workloads.SNH_PROTOCOL,
        "aim": workloads.AIM,
        "exchangeability": exchangeability.EXCHANGEABILITY,
        "priors": priors.GAINS,
        "prior_intervals": priors.INTERVALS,
        "prior_users": priors.USERS,
        "slices": slices.GAINS,
        "slice_totals": slices.TOTALS,
        "slice_intervals": slices.INTERVALS,
    }
)
