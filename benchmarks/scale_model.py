"""A cost model fitted to the rows of `benchmarks.scale`: by method, seconds = a + passes · points · b + cells · c.

Seconds are those of processors, so that they divide by the processors at work. The fit minimises relative errors, since
rows span three orders of magnitude, and no coefficient is negative.
"""

import numpy as np
from scipy.optimize import nnls


def fit(rows, method):
    """Seconds that a release takes at least, for a point in a pass, and for a cell; and the largest relative error.

    Examples
    --------
    >>> rows = [
    ...     {"method": "ug", "passes": 1, "points": n, "cells": m, "publishing_cpu": 2 + 3e-8 * n + 1e-6 * m}
    ...     for n, m in ((1e6, 10), (1e7, 1e6), (1e8, 1e5), (1e9, 1e6))
    ... ]
    >>> [float(round(number, 9)) for number in fit(rows, "ug")]
    [2.0, 3e-08, 1e-06, 0.0]
    """
    chosen = [row for row in rows if row["method"] == method]
    parts = np.array([[1, row["passes"] * row["points"], row["cells"]] for row in chosen], float)
    seconds = np.array([row["publishing_cpu"] for row in chosen])
    unit = np.array([1.0, 1e-8, 1e-6])  # of about the size of the coefficients, so that all columns count alike
    coefficients = nnls(parts * unit / seconds[:, None], np.ones(len(chosen)))[0] * unit
    return *coefficients, np.abs(parts @ coefficients / seconds - 1).max()


def table(rows):
    """The coefficients of all methods as a Markdown table."""
    lines = ["| method | a, s | b, ns a point and pass | c, µs a cell | largest error |", "|---|---|---|---|---|"]
    for method in dict.fromkeys(row["method"] for row in rows):
        a, b, c, error = fit(rows, method)
        lines.append(f"| {method.upper()} | {a:.2f} | {1e9 * b:.0f} | {1e6 * c:.1f} | {100 * error:.0f} % |")
    return "\n".join(lines)
