"""Files of every version so far are read by this one, and say the same."""

import json
from pathlib import Path

import numpy as np
import pytest

from hushgrid.release.verify import verify
from hushgrid.synopsis.synopsis import read
from tests.golden.make_golden import facts

FILES = sorted(Path(__file__).parent.glob("*/*.dp.parquet"))
EXACT = ("epsilon", "unit", "method", "crs", "bounds", "measured", "regions", "counts", "levels")


def test_there_are_golden_files():
    """Guard: the tests below look at something, and at every version of an inference."""
    assert {path.parent.name for path in FILES} >= {"0.1.0"}
    assert {read(path).inference for path in FILES} >= {"direct", "two-level", "belief", "belief-2", "least-squares"}
    assert any("levels" in facts(read(path)) for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_golden_files_are_read_as_they_were_written(path):
    """Everything is as it was, to the bit; variances are computed anew, and to a last digit the same."""
    expected = json.loads(path.with_name(path.name.replace(".dp.parquet", ".json")).read_text())
    found = facts(read(path))

    assert {name: found.get(name) for name in EXACT} == {name: expected.get(name) for name in EXACT}
    np.testing.assert_allclose(found["variances"], expected["variances"], rtol=1e-12)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_golden_files_are_consistent(path):
    """What was consistent once stays so."""
    assert verify(path).ok
