"""What verifying a file of slices finds beyond what it finds in one release."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import hushgrid as hg
from hushgrid.geometry.grid import Grid
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.measurements import NoisyValues
from tests.priors import clustered
from tests.slices import SQUARE
from tests.synopses import synopsis_on

KINDS = hg.By("kind", values=["a", "b", "c"])


@pytest.fixture(scope="module")
def slices() -> hg.Slices:
    points = clustered(9000, seed=4)
    kinds = np.random.default_rng(2).choice(KINDS.names, len(points))
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1], "kind": kinds})
    options = {"domain": SQUARE, "epsilon": 1, "method": "staq", "calibrate": False}
    return hg.publish(table, by=KINDS, rng=hg.simulation_rng(1), **options)


def failed(tmp_path, slices) -> list[str]:
    """Names of checks that fail, but for the mark of a simulation."""
    path = tmp_path / "slices.dp.parquet"
    slices.save(path, allow_simulation=True, overwrite=True)
    return [check.name for check in hg.verify(path).checks if not check.ok and check.name != "release"]


def with_prior(part, leaves):
    """A slice with other evidence, and the counts that follow from it."""
    counts = INFERENCES[part.inference].counts(Evidence(part.partition, part.measurements, leaves))
    return replace(part, counts=counts, prior=replace(part.prior, leaves=leaves), solved=None)


def test_priors_follow_from_the_other_slices(tmp_path, slices) -> None:
    """One that says a little else in two leaves is found, although the counts follow from it."""
    assert failed(tmp_path, slices) == []
    leaves = slices["b"].prior.leaves.copy()
    leaves[np.argsort(leaves)[-2:]] += [300, -300]
    changed = {**slices.parts, "b": with_prior(slices["b"], leaves)}

    assert failed(tmp_path, replace(slices, parts=changed)) == ["priors"]


def test_rounding_of_another_processor_is_no_change(tmp_path, slices) -> None:
    """Sums may come out on the other side of one half."""
    leaves = slices["a"].prior.leaves + 1
    changed = {**slices.parts, "a": with_prior(slices["a"], leaves)}

    assert failed(tmp_path, replace(slices, parts=changed)) == []


def test_another_slice_that_was_exchanged_is_found(tmp_path, slices) -> None:
    """One of another run fits by itself, and not beside these."""
    other = replace(slices["c"], measurements=shifted(slices["c"].measurements))
    counts = INFERENCES[other.inference].counts(other.evidence)
    changed = {**slices.parts, "c": replace(other, counts=counts, solved=None)}

    assert failed(tmp_path, replace(slices, parts=changed)) == ["priors"]


def shifted(measurements):
    """Measurements with one more in each leaf."""
    leaves = measurements.leaves
    more = NoisyValues(values=leaves.values + 1, rates=leaves.rates, rate_index=leaves.rate_index)
    return replace(measurements, leaves=more)


def test_priors_without_a_total_or_beside_a_grid_are_wrong(tmp_path, slices) -> None:
    """They cannot follow from what there is."""
    grid = synopsis_on(Grid(domain=SQUARE, rows=2, columns=2), epsilon=slices["c"].claim.epsilon, values=np.arange(4))

    assert failed(tmp_path, replace(slices, total=None)) == ["priors"]
    assert "priors" in failed(tmp_path, replace(slices, parts={**slices.parts, "c": grid}))
