"""A folder of a newcomer's own for every test."""

import shutil
from pathlib import Path

import pytest

from tests.newcomer.desk import lay_out


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two folders of the same files, with other records in them."""
    folders = [tmp_path_factory.mktemp("desk"), tmp_path_factory.mktemp("other-desk")]
    for seed, folder in enumerate(folders):
        lay_out(folder, seed=seed)
    return folders


@pytest.fixture
def desk(laid_out: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the first folder, to work in."""
    folder = shutil.copytree(laid_out[0], tmp_path / "desk")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HUSHGRID_LEDGER", raising=False)
    return folder
