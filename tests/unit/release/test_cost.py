"""What a release will take: about the cells it gets, from public figures and released values, told when it is much."""

import re
from dataclasses import replace

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.methods import METHODS
from hushgrid.planning.population import population
from hushgrid.release import cost as costs
from hushgrid.release.auto import choose
from hushgrid.release.cost import Cost, cost_warning, time_in_words
from hushgrid.release.delivery import Delivery
from hushgrid.release.publish import deliver
from hushgrid.release.request import ReleaseRequest

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
SIZED = sorted(METHODS.keys() - {"identity"})
POPULATIONS = {(size, filled): population(size, filled, seed=5) for size in (20_000, 150_000) for filled in (0.1, 0.3)}


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("method", SIZED)
def test_cells_are_foretold_within_a_factor_of_two(method, epsilon):
    """On made-up populations, from their number alone."""
    for (size, filled), points in POPULATIONS.items():
        made = hg.publish(
            points, domain=DOMAIN, epsilon=epsilon, method=method, calibrate=False, rng=hg.simulation_rng(1)
        )
        foretold = Cost(method=choose(method), epsilon=epsilon, size=size).about_cells

        assert foretold / 2 <= made.partition.cells <= 2 * foretold, (size, filled, made.partition.cells, foretold)


@pytest.mark.parametrize("method", ["auto", *SIZED])
def test_the_steps_are_the_same_whatever_the_size_and_the_source(method):
    """They can be planned anew when the size is known; only their seconds change."""
    options = [
        {},
        {"user": "who", "max_per_user": 4},
        {"public_size": 10**8},
        {"calibrate": False},
        {"size_from": "domain"},
    ]
    for given in options:
        cost = ReleaseRequest.of(domain=DOMAIN, epsilon=1, method=method, **given).cost
        kinds = [replace(cost, kind=kind, size=size) for kind in costs.READING for size in (-7, 0, 10**3, 10**9)]

        assert {tuple(step.stage for step in each.steps) for each in kinds} == {
            tuple(step.stage for step in cost.steps)
        }
        assert all(step.seconds >= 0 for each in kinds for step in each.steps)


@pytest.mark.parametrize("method", SIZED)
def test_more_points_take_longer(method):
    """More points take more time, and no less memory."""
    few, many = (Cost(method=choose(method), epsilon=1.0, size=size) for size in (10**4, 10**7))

    assert few.seconds < many.seconds
    assert few.memory <= many.memory


def test_users_and_calibration_are_part_of_the_cost():
    """Each takes time that the release would not take without."""
    plain = Cost(method=choose(), epsilon=1.0, size=10**6, calibrate=False)

    assert plain.seconds < replace(plain, calibrate=True).seconds
    assert plain.seconds + 0.3 < replace(plain, users=True).seconds
    assert plain.seconds < replace(plain, kind="engine").seconds


def told(points, *, epsilon=1, **options):
    """What is told before a release, and the release."""
    notes = []
    request = ReleaseRequest.of(domain=DOMAIN, epsilon=epsilon, **options)
    return notes, request, deliver(request, points, charge=None, delivery=Delivery(tell=notes.append))


def test_a_small_release_is_made_without_a_word():
    """Nobody waits for it."""
    assert told(np.full((500, 2), 0.5))[0] == []


def test_what_is_told_follows_from_the_noisy_size(monkeypatch):
    """It is a function of the request and of a released value, and of nothing else."""
    monkeypatch.setattr(costs, "LONG", 0)
    notes, request, synopsis = told(np.random.default_rng(1).random((5000, 2)))

    assert notes == [cost_warning(replace(request.cost, size=synopsis.claim.size.value))]
    assert synopsis.claim.size.source == "rows"


@pytest.mark.parametrize("rows", [1, 400])
def test_a_public_size_tells_before_anything_is_read(rows):
    """Of any points, the same: in minutes, gigabytes and cells, with what to do about it."""
    notes, _, synopsis = told(np.random.default_rng(1).random((rows, 2)), public_size=2 * 10**9)

    (note,) = notes
    assert re.fullmatch(
        r"This will take about \d+ minutes and \d\.?\d* GB, for about 1,000,000 cells\. --max-cells .*", note
    )
    assert synopsis.partition.cells < 10**4


def test_a_side_that_is_given_tells_its_cells(monkeypatch):
    """No option sets fewer of them."""
    monkeypatch.setattr(costs, "LONG", 0)
    (note,), _, _ = told(np.full((5, 2), 0.5), method=hg.UniformGrid(side=20), calibrate=False)

    assert note.endswith("for about 400 cells.")


def test_calibration_is_named_where_it_takes_long(monkeypatch):
    """A quarter of the time, or more."""
    monkeypatch.setattr(costs, "LONG", 0)
    cost = Cost(method=choose("ag"), epsilon=1.0, size=10**5)

    assert f"--no-calibrate saves {time_in_words(cost.seconds_of('intervals'))}." in cost_warning(cost)
    assert "--no-calibrate" not in cost_warning(replace(cost, calibrate=False))


def test_who_was_told_from_a_noisy_size_has_spent_it(monkeypatch):
    """A run that is broken off after that says what it has cost; one that told nothing has cost nothing."""
    points = np.random.default_rng(1).random((50, 2))
    for long, says in ((0, "epsilon 0.01 is spent"), (60, "nothing was spent")):
        monkeypatch.setattr(costs, "LONG", long)
        with pytest.raises(KeyboardInterrupt) as error:
            told(points, method=BrokenOff())
        assert says in error.value.__notes__[0]


class BrokenOff:
    """A method that is interrupted once it knows the size."""

    name = "broken off"

    def release(self, counter, budget):
        """Ask for the size, and no more."""
        budget.noisy_size(counter)
        raise KeyboardInterrupt
