"""A release made here is verified on other processors: with other instruction sets, and on other numbers of threads."""

import numpy as np
import pyarrow as pa
import pytest

import hushgrid as hg
from hushgrid.methods import METHODS
from hushgrid.priors.sharpen import sharpened
from hushgrid.release.calibrate import calibrated
from tests.conformance.other_processor import OTHERS, PLAIN, PLAIN_KERNELS, run, town
from tests.plain import UNIT_SQUARE
from tests.priors import clustered, good_prior, staq

STAQ = {f"staq by {name}": hg.Staq(inference=name) for name in ("least-squares", "bayes")}
RELEASES = {
    **{name: {"method": name} for name in METHODS},
    **{name: {"method": method} for name, method in STAQ.items()},
    "ag, sloped": {"method": hg.AdaptiveGrid(smooth=True)},
    "auto": {},
    "public size": {"method": "staq", "public_size": 5000},
    "users": {"method": "staq", "max_per_user": 2},
    "users, private total": {
        "method": "staq",
        "epsilon": 5,
        "max_per_user": 2,
        "scale_to_total": "private",
        "max_for_total": 20,
    },
    "little noise": {"method": "staq", "epsilon": 10},
    "very little noise": {"method": "staq", "epsilon": 30},
    "much noise": {"method": "staq", "epsilon": 0.05},
}


def release(name, points):
    """One of the releases, simulated, its intervals calibrated."""
    arguments = {"epsilon": 1, **RELEASES[name]}
    if name.startswith("users"):
        arguments["user"] = np.arange(len(points)) // 7
    return hg.publish(points, domain=UNIT_SQUARE, rng=hg.simulation_rng(1), **arguments)


def in_slices(points):
    """Twelve slices by STAQ, which sharpen each other."""
    kinds = hg.By("kind", values=list("abcdefghijkl"))
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1], "kind": np.resize(kinds.names, len(points))})
    slices = hg.publish(table, domain=UNIT_SQUARE, epsilon=1, by=kinds, rng=hg.simulation_rng(1))
    assert {part.inference for part in slices.values()} == {"belief-slices"}
    return slices


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Releases of every method, small ones, one of thousands of leaves, one with a public prior and one in slices."""
    folder = tmp_path_factory.mktemp("releases")
    for name in RELEASES:
        release(name, town(700)).save(folder / f"{name}.dp.parquet", allow_simulation=True)
    large = release("staq", town(16_000))
    assert large.partition.cells > 5000
    large.save(folder / "large.dp.parquet", allow_simulation=True)
    sharp = calibrated(sharpened(staq(clustered(5000, seed=0), epsilon=1), good_prior()))
    assert sharp.prior.used
    sharp.save(folder / "sharp.dp.parquet", allow_simulation=True)
    in_slices(town(2000)).save(folder / "slices.dp.parquet", allow_simulation=True)
    return folder


@pytest.mark.parametrize("other", OTHERS)
def test_releases_of_every_method_verify_on_other_processors(folder, other):
    """Counts, standard errors and the width of intervals; the compiled loops are the same, all else computes anew."""
    found = run("verify", folder, **OTHERS[other])

    assert len(found) == len(RELEASES) + 3
    assert {name: failed for name, failed in found.items() if failed} == {}


@pytest.mark.slow
def test_releases_of_every_method_verify_where_loops_are_compiled_for_another_processor(folder, tmp_path):
    """Releases verify with compiled loops that know of no wide registers."""
    found = run("verify", folder, **PLAIN, **PLAIN_KERNELS, NUMBA_CACHE_DIR=str(tmp_path))

    assert len(found) == len(RELEASES) + 3
    assert {name: failed for name, failed in found.items() if failed} == {}


@pytest.mark.slow
def test_what_the_last_digit_decided_does_not_verify(tmp_path):
    """Control: belief propagation whose priors go by last digits finds other counts on other processors."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run("publish", tmp_path, "last-digit", **cache)

    assert run("verify", tmp_path, "last-digit", **cache) == {"staq.dp.parquet": []}
    assert run("verify", tmp_path, "last-digit", **cache, **PLAIN) == {"staq.dp.parquet": ["counts"]}
