"""The lower bound on epsilon on mechanisms whose epsilon is known."""

import math

import numpy as np
import pytest

from hushgrid.audit.estimator import RELATIONS, Event, epsilon_lower_bound
from hushgrid.errors import ArgumentError

RUNS = 20_000


def randomised_response(epsilon, runs=RUNS, seed=0):
    """Answers of people whose truth is yes, and no."""
    tells_truth = np.random.default_rng(seed).random((2, runs, 1)) < 1 / (1 + math.exp(-epsilon))
    return tells_truth[0].astype(float), 1.0 - tells_truth[1]


def geometric_counts(epsilon, runs=RUNS, seed=0):
    """Counts of 5 and of 6 with two-sided geometric noise."""
    draws = np.random.default_rng(seed).geometric(1 - math.exp(-epsilon), (2, 2, runs, 1))
    noise = draws[0] - draws[1]
    return 5.0 + noise[0], 6.0 + noise[1]


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4])
@pytest.mark.parametrize("mechanism", [randomised_response, geometric_counts])
def test_the_bound_is_below_the_known_epsilon_and_near(mechanism, epsilon):
    """For mechanisms that have an event of ratio exp(epsilon)."""
    bound = epsilon_lower_bound(*mechanism(epsilon))

    assert 0.9 * epsilon - 0.15 < bound.epsilon < epsilon


@pytest.mark.parametrize("mechanism", [randomised_response, geometric_counts])
def test_both_directions_are_looked_at(mechanism):
    """Swapping the data sets finds about the same, on the other side."""
    sample, neighbour = mechanism(1)
    there, back = epsilon_lower_bound(sample, neighbour), epsilon_lower_bound(neighbour, sample)

    assert back.epsilon > 0.8
    assert there.epsilon == pytest.approx(back.epsilon, abs=0.1)


def rare_tell(runs=RUNS, seed=0):
    """Releases that are alike, but that one in twenty on one data set is below, above, or exactly at a value."""
    rng = np.random.default_rng(seed)
    alike = rng.normal(size=(2, runs, 1))
    return alike[0], alike[1], rng.random((runs, 1)) < 0.05


@pytest.mark.parametrize(("value", "relation"), [(-9.0, "<="), (9.0, ">"), (0.125, "==")])
@pytest.mark.parametrize("on_neighbour", [False, True])
def test_the_telling_event_is_found(value, relation, on_neighbour):
    """Wherever it lies, and whichever data set it is more likely on."""
    sample, neighbour, tells = rare_tell()
    changed = np.where(tells, value, neighbour if on_neighbour else sample)
    bound = epsilon_lower_bound(sample, changed) if on_neighbour else epsilon_lower_bound(changed, neighbour)

    assert bound.epsilon > 2.5
    assert bound.event.relation == relation
    assert bound.on_neighbour == on_neighbour


def test_a_value_that_only_one_data_set_avoids_is_found():
    """By the complement of an equality: a constant on one side, which the other leaves now and then."""
    constant = np.zeros((RUNS, 1))
    leaving = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], p=[0.02, 0.96, 0.02], size=(RUNS, 1))
    bound = epsilon_lower_bound(constant, leaving)

    assert bound.event == Event(statistic=0, relation="!=", threshold=0.0)
    assert bound.on_neighbour
    assert bound.epsilon > 3


def test_the_right_statistic_is_found_among_many():
    """With the correction for their number paid."""
    noise = np.random.default_rng(1).normal(size=(2, RUNS, 30))
    sample, neighbour = (np.hstack([a, b]) for a, b in zip(noise, randomised_response(1), strict=True))
    bound = epsilon_lower_bound(sample, neighbour)

    assert bound.event.statistic == 30
    assert 0.8 < bound.epsilon < 1
    assert bound.epsilon < epsilon_lower_bound(*randomised_response(1)).epsilon


@pytest.mark.parametrize("confidence", [0.8, 0.9])
def test_bounds_on_equal_laws_hold_as_often_as_they_say(confidence):
    """Over 300 audits of a mechanism that hides everything, with ten statistics to be tempted by."""
    rng = np.random.default_rng(7)
    wrong = sum(
        epsilon_lower_bound(*rng.normal(size=(2, 200, 10)).round(1), confidence=confidence).epsilon > 0
        for _ in range(300)
    )

    assert wrong <= 300 * (1 - confidence)


def test_more_runs_give_a_better_bound():
    """More runs raise the lower bound, but never above epsilon."""
    few, some, many = (epsilon_lower_bound(*randomised_response(1, runs)).epsilon for runs in (100, 2000, 50_000))

    assert 0 <= few < some < many < 1


def test_equal_constants_give_no_bound():
    """No event tells them apart."""
    assert epsilon_lower_bound(np.ones((10, 2)), np.ones((50, 2))).epsilon == 0


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_event_counts_its_runs(relation):
    """As a plain loop does."""
    values = [3.0, 1.0, 2.0, 2.0, 5.0]
    holds = {"<=": lambda x: x <= 2, ">": lambda x: x > 2, "==": lambda x: x == 2, "!=": lambda x: x != 2}[relation]
    event = Event(statistic=1, relation=relation, threshold=2.0)

    assert event.occurrences(np.array([[0.0, value] for value in values])) == sum(map(holds, values))


@pytest.mark.parametrize(
    ("sample", "neighbour", "confidence"),
    [
        (np.zeros((3, 1)), np.zeros((9, 1)), 0.9),
        (np.zeros(9), np.zeros(9), 0.9),
        (np.zeros((9, 0)), np.zeros((9, 0)), 0.9),
        (np.full((9, 1), np.nan), np.zeros((9, 1)), 0.9),
        (np.zeros((9, 1)), np.zeros((9, 2)), 0.9),
        (np.zeros((9, 1)), np.zeros((9, 1)), 1.0),
        (np.zeros((9, 1)), np.zeros((9, 1)), 0.5),
    ],
    ids=["few-runs", "one-dimension", "no-statistics", "not-a-number", "unlike-statistics", "certainty", "a-coin"],
)
def test_unusable_samples_are_refused(sample, neighbour, confidence):
    """With an error that says what is needed."""
    with pytest.raises(ArgumentError, match=r"statistics|confidence"):
        epsilon_lower_bound(sample, neighbour, confidence=confidence)


def test_few_runs_show_what_they_can_of_a_mechanism_that_tells_everything():
    """The event that always and never happens is chosen, though few runs leave both shares uncertain."""
    never = np.zeros((60, 3))
    bound = epsilon_lower_bound(never, never + np.array([0, 0, 1]))

    each = 0.001 / 6
    assert bound.epsilon == pytest.approx(math.log(each ** (1 / 30) / (1 - each ** (1 / 30))))
    assert bound.event.statistic == 2
