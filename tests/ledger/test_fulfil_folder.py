"""A release of a folder of Parquet files that was cut off, and goes on."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.errors import InputError
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import Reservation
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.release.on_ledger import publish_reserved
from hushgrid.release.request import ReleaseRequest

JOB = ReleaseRequest.of(domain=hg.Domain(west=0, south=0, east=1, north=1), epsilon=1, method="ag", calibrate=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some points in two files."""
    (tmp_path / "trips").mkdir()
    for number in range(2):
        write(tmp_path / "trips" / f"part-{number}.parquet", seed=number)
    return tmp_path / "trips"


def write(path: Path, *, seed: int) -> None:
    """A file of points."""
    places = np.random.default_rng(seed).random((2, 1000))
    pq.write_table(pa.table({"lon": places[0], "lat": places[1]}), path)


@pytest.mark.parametrize("change", ["none", "touched", "added", "renamed"])
def test_a_folder_is_in_one_state_over_all_runs(
    folder: Path, tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was drawn from some files is not joined with what others hold."""
    with open_ledger(tmp_path / "trips.ledger", create=True) as ledger:
        ledger.add_dataset("trips", budget=2, unit="record")
        reservation = ledger.reserve(JOB.for_ledger("trips"))
        assert isinstance(reservation, Reservation)
        with monkeypatch.context() as patch:
            patch.setattr(AdaptiveGrid, "release", interrupted)
            with pytest.raises(KeyboardInterrupt):
                publish_reserved(JOB, folder, reservation)
        if change == "touched":
            os.utime(folder / "part-1.parquet", ns=(1, 1))
        elif change == "added":
            write(folder / "part-2.parquet", seed=2)
        elif change == "renamed":
            (folder / "part-1.parquet").rename(folder / "part-3.parquet")
        resumed = ledger.resume(1, JOB.for_ledger("trips"))

        if change == "none":
            assert publish_reserved(JOB, folder, resumed).read()
        else:
            with pytest.raises(InputError, match="is not what entry 1 was begun with, or was changed since"):
                publish_reserved(JOB, folder, resumed)


def interrupted(*arguments: object) -> None:
    """A method that does not come to its end."""
    raise KeyboardInterrupt
