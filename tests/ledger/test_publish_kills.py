"""A `hushgrid publish` that is killed leaves no release without an entry, and no budget that can be spent twice."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hushgrid.cli import main
from hushgrid.ledger.book import State
from hushgrid.ledger.ledger import open_ledger
from tests.ledger.publish_harness import LEDGER, OUTPUT, arguments

ROOT = Path(__file__).parents[2]


@pytest.fixture
def points(tmp_path: Path) -> Path:
    """Some points in a file."""
    path, places = tmp_path / "trips.parquet", np.random.default_rng(4).random((2, 50_000))
    pq.write_table(pa.table({"lon": places[0], "lat": places[1]}), path)
    return path


@pytest.mark.parametrize("kills", [5, pytest.param(80, marks=pytest.mark.slow)])
def test_a_kill_at_any_time_leaves_the_account_right(points: Path, tmp_path: Path, kills: int) -> None:
    """From outside, at moments all over the run; asking again then gives or makes the release."""
    command = [sys.executable, "-m", "tests.ledger.publish_harness", str(points), str(tmp_path / "runs"), str(kills)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    (_, first), *others = json.loads(done.stdout)
    ends = Counter(check_scene(points, tmp_path / "runs" / str(number)) for number in range(kills + 1))

    assert first == 0
    assert -9 in {code for _, code in others}
    assert len(ends) > 1


def check_scene(points: Path, folder: Path) -> tuple[State | None, bool]:
    """Look at what a killed process left, and give the same command again: the state of the entry, and of the file."""
    output = folder / OUTPUT
    with open_ledger(folder / LEDGER) as ledger:
        assert ledger.verify().ok
        book = ledger.book()
    entry = book.entries.get(1)
    appeared = output.exists()
    committed = entry is not None and entry.state == "committed"
    assert not appeared or (committed and hashlib.sha256(output.read_bytes()).hexdigest() == entry.sha256)
    assert committed or list(output.parent.iterdir()) == []
    assert book.accounts["trips"].left == 2 - len(book.entries)
    state = None if entry is None else entry.state

    again = CliRunner().invoke(main, [*arguments(str(points), folder), "--overwrite"])
    assert again.exit_code == 0, again.output
    with open_ledger(folder / LEDGER) as ledger:
        book = ledger.book()
    last = book.entries[len(book.entries)]
    assert len(book.entries) == 1 + (state == "reserved")
    assert hashlib.sha256(output.read_bytes()).hexdigest() == last.sha256
    assert book.accounts["trips"].left == 2 - len(book.entries)
    return state, appeared
