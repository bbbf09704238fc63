"""One file a table or figure, and the names they go by."""

from collections.abc import Mapping
from types import MappingProxyType

from experiments.suites import (
    ablation,
    accuracy,
    ag_first_level,
    ag_parameters,
    aim,
    coverage,
    datasets,
    dimensions,
    exchangeability,
    final,
    hierarchies,
    kd,
    months,
    priors,
    scale,
    slices,
    table2,
    times,
    workloads,
)
from experiments.suites.suite import Suite

SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        "datasets": datasets.SUITE,
        "table2": table2.SUITE,
        "kd": kd.SUITE,
        "hierarchies": hierarchies.SUITE,
        "ag_first_level": ag_first_level.SUITE,
        "ag_parameters": ag_parameters.SUITE,
        "final": final.SUITE,
        "times": times.SUITE,
        "dimensions": dimensions.SUITE,
        "coverage": coverage.SUITE,
        "scale": scale.SUITE,
        "ablation": ablation.SUITE,
        "accuracy": accuracy.SUITE,
        "workloads": workloads.SUITE,
        "aim": aim.SUITE,
        "exchangeability": exchangeability.SUITE,
        "priors": priors.SUITE,
        "slices": slices.SUITE,
        "months": months.SUITE,
    }
)
