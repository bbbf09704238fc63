"""Publish or verify releases in a process that computes as another processor would.

``python -m tests.conformance.other_processor publish|verify FOLDER [last-digit]``: `verify` prints the checks that
fail, by the name of the file. With ``last-digit``, priors depend on how the last digits of their tables are rounded.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import hushgrid as hg
from hushgrid.inference import belief
from hushgrid.release.verify import verify
from tests.plain import UNIT_SQUARE

REPOSITORY = Path(__file__).parents[2]


def numpy_features():
    """Instruction sets that numpy chooses among at run time and finds here."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]


# Other instruction sets for linear algebra, numpy and the C library; names that a machine does not know do nothing.
PLAIN = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": " ".join(numpy_features()),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX,-AVX512F,-AVX512VL,-ERMS",
    "HUSHGRID_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
OTHERS = {
    "plain": PLAIN,
    "nehalem": {**PLAIN, "OPENBLAS_CORETYPE": "Nehalem", "HUSHGRID_THREADS": "2", "NUMBA_NUM_THREADS": "2"},
    "haswell": {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1", "HUSHGRID_THREADS": "3"},
}
PLAIN_KERNELS = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def run(command, folder, *options, **environment):
    """What the command prints, in another process."""
    arguments = [sys.executable, "-m", "tests.conformance.other_processor", command, str(folder), *options]
    done = subprocess.run(
        arguments, env={**os.environ, **environment}, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def town(size, seed=0):
    """Points in streets and on squares, some of them on one spot, and blank space beside."""
    rng = np.random.default_rng(seed)
    streets = np.stack([rng.integers(1, 20, size) / 20 + 0.001 * rng.random(size), rng.random(size)], axis=1)
    squares = rng.normal(rng.random((30, 2))[rng.integers(30, size=size)], 0.01)
    spots = np.repeat(rng.random((5, 2)), size // 20, axis=0)
    return 0.7 * np.concatenate([streets, squares, spots])


def publish_staq(folder):
    """A simulated release by STAQ."""
    synopsis = hg.publish(town(2000), domain=UNIT_SQUARE, epsilon=1, calibrate=False, rng=hg.simulation_rng(1))
    synopsis.save(folder / "staq.dp.parquet", allow_simulation=True)


def failures(folder):
    """Checks that fail, but for that of a simulation."""
    return {
        path.name: [check.name for check in verify(path).checks if not check.ok and check.name != "release"]
        for path in sorted(folder.glob("*.dp.parquet"))
    }


def decided_by_the_last_digit(tabulate):
    """Tables with larger values wherever the last bit of a value is set."""

    def tables(weights):
        values = tabulate(weights)
        return values * (1 + 0.01 * (values.view(np.int64) & 1))

    return tables


if __name__ == "__main__":
    action, place, *options = sys.argv[1:]
    if "last-digit" in options:
        belief.cumulative_tables = decided_by_the_last_digit(belief.cumulative_tables)
    if action == "publish":
        publish_staq(Path(place))
    print(json.dumps({} if action == "publish" else failures(Path(place))))  # noqa: T201  # its answer
