"""The table of what bounds on users cost."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from experiments import users
from experiments.datasets.table import TableDataset
from experiments.users import BOUNDS, RECORD_LEVEL, CheckIns, trial
from tests.plain import UNIT_SQUARE


@pytest.fixture
def dataset(tmp_path):
    """One user with a hundred records in a corner, and a thousand users with one; a row outside the domain."""
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.random((100, 2)) / 10, rng.random((1000, 2)), [[7.0, 7.0]]])
    who = np.concatenate([np.zeros(100, np.int64), np.arange(1, 1002)])
    pq.write_table(pa.table({"lon": points[:, 0], "lat": points[:, 1], "user": who}), tmp_path / "toy.parquet")
    return TableDataset(
        name="toy", domain=UNIT_SQUARE, largest_query=(0.5, 0.5), size=1100, path=tmp_path / "toy.parquet"
    )


def test_shares_and_errors_are_against_all_records(dataset):
    """Kept records by hand; the corner of the heavy user is missed the more, the fewer records are kept."""
    check_ins = CheckIns.of(dataset, user="user")
    errors = [
        check_ins.errors(trial(check_ins, UNIT_SQUARE, bound, epsilon=100, seed=1))[1] for bound in (1, RECORD_LEVEL)
    ]

    assert check_ins.share_kept(1) == pytest.approx(1001 / 1100)
    assert check_ins.share_kept(50) == pytest.approx(1050 / 1100)
    assert check_ins.share_kept(RECORD_LEVEL) == 1
    assert errors[0] > 5 * errors[1]


def test_the_command_prints_a_row_for_each_bound(dataset, monkeypatch):
    """The table has a row for each bound, and one at record level."""
    monkeypatch.setattr(users, "DATASETS", {"checkin_gowalla_nyc": dataset})
    result = CliRunner().invoke(users.main, ["--runs", "1"])

    assert result.exit_code == 0, result.output
    rows = [line.split()[0] for line in result.output.splitlines()[2:]]
    assert rows == [*map(str, BOUNDS), "record"]


def test_a_data_set_without_users_is_refused(dataset, monkeypatch):
    """By the name of the column."""
    monkeypatch.setattr(users, "DATASETS", {"checkin_gowalla_nyc": dataset})
    result = CliRunner().invoke(users.main, ["--user", "whom"])

    assert result.exit_code == 1
    assert "'whom'" in result.output
