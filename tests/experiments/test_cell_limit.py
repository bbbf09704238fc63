"""What a limit on cells costs, on few points."""

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import cell_limit


@pytest.fixture(scope="module")
def found():
    """Three limits, the last of which nothing reaches."""
    return list(cell_limit.measure("plains", points=50_000, evidence=5e4, powers=(20, 8, 11), seed=0))


def test_limits_hold_and_rise(found):
    """Whatever order they are given in."""
    assert [each.power for each in found] == [8, 11, 20]
    assert all(each.cells <= 2**each.power for each in found)
    assert found[0].cells < found[1].cells < found[2].cells < 2**20


def test_a_limit_far_too_small_costs_accuracy(found):
    """What is measured is the limit, and not something else."""
    assert found[0].errors[-1] > 1.5 * found[-1].errors[-1]
    assert np.mean(found[0].errors[:-1]) == pytest.approx(found[0].errors[-1])


def test_fewer_cells_follow_from_a_larger_c(found):
    """About in proportion, and no limit is reached."""
    [coarser] = cell_limit.measure("plains", points=50_000, evidence=5e4, powers=(20,), seed=0, c=6.8)

    assert 0.15 * found[-1].cells < coarser.cells < 0.4 * found[-1].cells


def test_the_command_shows_ratios_to_the_largest():
    """One line a limit."""
    outcome = CliRunner().invoke(
        cell_limit.main, ["--points", "20000", "--evidence", "2e3", "--power", "7", "--power", "12"]
    )

    assert outcome.exit_code == 0, outcome.output
    assert "2^7" in outcome.output
    assert outcome.output.rstrip().splitlines()[-1].split()[-7:] == ["1.000"] * 7
