"""Files of every version so far are read by this one, and say the same."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from hushgrid.release.verify import verify
from hushgrid.slices.slices import Slices, read_saved
from hushgrid.synopsis.answer import VERSIONS
from tests.golden.make_golden import facts

FILES = sorted(Path(__file__).parent.glob("*/*.dp.parquet"))
EXACT = ("epsilon", "unit", "method", "crs", "bounds", "measured", "regions", "counts", "levels", "prior")


def test_there_are_golden_files():
    """Guard: the tests below look at something, and at every version of an inference and of a calibration."""
    assert {path.parent.name for path in FILES} >= {"0.1.0"}
    published = {"direct", "two-level", "belief", "belief-2", "belief-prior", "least-squares"}
    releases = [read_saved(path) for path in FILES]
    single = [release for release in releases if not isinstance(release, Slices)]
    assert {release.inference for release in single} >= published
    assert {release.calibration.version for release in single} >= {None, *VERSIONS}
    assert any("levels" in facts(release) for release in releases)
    assert any(isinstance(release, Slices) for release in releases)
    schemas = {json.loads(pq.read_metadata(path).metadata[b"hushgrid"])["schema"] for path in FILES}
    assert schemas == {1, 2}
    assert any(pq.read_metadata(path).num_row_groups > 1 for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_golden_files_are_read_as_they_were_written(path):
    """Everything is as it was, to the bit; variances are computed anew, and to a last digit the same."""
    expected = json.loads(path.with_name(path.name.replace(".dp.parquet", ".json")).read_text())
    found = facts(read_saved(path))

    if "parts" in found:
        assert (found["by"], found["names"]) == (expected["by"], expected["names"])
        assert list(found["parts"]) == list(expected["parts"])
    for part, whole in (
        zip(found["parts"].values(), expected["parts"].values(), strict=True)
        if "parts" in found
        else [(found, expected)]
    ):
        assert {name: part.get(name) for name in EXACT} == {name: whole.get(name) for name in EXACT}
        np.testing.assert_allclose(part["variances"], whole["variances"], rtol=1e-12)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_golden_files_are_consistent(path):
    """What was consistent once stays so."""
    assert verify(path).ok
