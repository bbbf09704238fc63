"""Exact discrete Laplace noise, against numpy's floating-point Laplace draws."""

import time
from fractions import Fraction

import numpy as np

from benchmarks.row import Row, best
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.privacy.bits import SystemBits
from hushgrid.privacy.laplace import discrete_laplace
from hushgrid.privacy.mixture import add_noise_each

DRAWS = 10_000_000
CALLS = 10  # arrays of 8 MB, which both libraries find in memory that is already theirs


def cpu_seconds(work):
    """Processor time of the fastest of a few calls, which other jobs on the machine disturb least."""
    return best(work, times=7, clock=time.process_time)


def check(noise, variances):
    """Assert that noise over its standard deviation has mean 0 and variance 1, to about eight standard errors."""
    scaled = noise / np.sqrt(variances)
    assert abs(np.mean(scaled)) < 8 / np.sqrt(noise.size)
    assert abs(np.mean(scaled**2) - 1) < 20 / np.sqrt(noise.size)


def one_rate(rate, rng):
    """Noise of one rate for all counts."""
    size = DRAWS // CALLS
    check(discrete_laplace(DRAWS, rate=rate, bits=SystemBits()), discrete_laplace_variance(rate))

    def ours():
        for _ in range(CALLS):
            discrete_laplace(size, rate=rate, bits=SystemBits())

    def numpys():
        for _ in range(CALLS):
            rng.laplace(scale=float(1 / rate), size=size)

    exact, floating = cpu_seconds(ours), cpu_seconds(numpys)
    at_once = cpu_seconds(lambda: discrete_laplace(DRAWS, rate=rate, bits=SystemBits()))
    floating_at_once = cpu_seconds(lambda: rng.laplace(scale=float(1 / rate), size=DRAWS))
    return Row(
        name=f"exact noise, 1e7 draws, rate {float(rate):g}",
        measured=floating / exact,
        target=5,
        unit="x numpy float laplace",
        note=f"{DRAWS / exact / 1e6:.0f} M a CPU second in {CALLS} calls; "
        f"{floating_at_once / at_once:.1f} x in one call, where both wait for 80 MB of new memory",
    )


def mixed_rates(rng):
    """Noise of 300 rates for counts in random order."""
    rates = [Fraction(int(thousandths), 10_000) for thousandths in np.geomspace(100, 2000, 300)]
    index = rng.integers(0, len(rates), DRAWS).astype(np.int32)
    counts = rng.poisson(10, DRAWS)
    scales = np.array([float(1 / rate) for rate in rates])[index]
    variances = np.array([discrete_laplace_variance(rate) for rate in rates])[index]

    def ours():
        return add_noise_each(counts, rates=rates, rate_index=index, bits=SystemBits())

    start = time.process_time()
    add_noise_each(counts[:1], rates=rates, rate_index=index[:1], bits=SystemBits())
    tables = time.process_time() - start
    check(ours() - counts, variances)
    exact, floating = cpu_seconds(ours), cpu_seconds(lambda: counts + rng.laplace(scale=scales))
    return Row(
        name="exact noise, 1e7 draws, 300 mixed rates in one array",
        measured=floating / exact,
        target=1.5,
        unit="x numpy float laplace",
        note=f"{DRAWS / exact / 1e6:.0f} M a CPU second; tables of new rates take {tables * 1e3:.0f} ms once",
    )


def rows():
    """One rate, then many."""
    rng = np.random.default_rng(0)
    discrete_laplace(10, rate=Fraction(1), bits=SystemBits())
    add_noise_each([0], rates=[Fraction(1)], rate_index=[0], bits=SystemBits())
    return [one_rate(Fraction(1, 10), rng), one_rate(Fraction(1), rng), mixed_rates(rng)]
