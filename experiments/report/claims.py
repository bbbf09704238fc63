"""Every statement that the report checks: those of the paper in its order, then our own."""

from experiments.report import adaptive, beyond, comparison, efficiency, grids, hierarchies, methodology

PAPER_CLAIMS = (
    *methodology.CLAIMS,
    *grids.CLAIMS,
    *hierarchies.CLAIMS,
    *adaptive.CLAIMS,
    *comparison.CLAIMS,
    *efficiency.CLAIMS,
)
OWN_CLAIMS = beyond.CLAIMS
