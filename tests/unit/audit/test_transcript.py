"""Draws that are recorded, forced, and added up."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit.transcript import Script, instrumented, loss, same_values, with_other_sizes
from hushgrid.methods.kd import KdTree
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy import budget as budget_module
from hushgrid.privacy import laplace, paths, selection
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release.publish import publish
from tests.plain import UNIT_SQUARE

GRID = UniformGrid(side=2)
FEW = np.array([[0.1, 0.1], [0.1, 0.2], [0.9, 0.9]])
MORE = np.array([*FEW, [0.1, 0.15]])


def released(points, script, method=GRID, **arguments):
    """A release under a script."""
    with instrumented() as use:
        use(script)
        return publish(points, domain=UNIT_SQUARE, epsilon=1, method=method, calibrate=False, **arguments)


def recorded(points, policy="exact", **arguments):
    """What such a release draws."""
    script = Script(simulation_rng(1), policy=policy)
    release = released(points, script, **arguments)
    return release, script.draws


def test_samplers_are_put_back():
    """Wherever they were imported to."""

    def samplers():
        return budget_module.add_noise, paths.add_noise_each, selection.permute_and_flip, laplace.geometric

    before = samplers()
    with instrumented():
        during = samplers()

    assert not set(before) & set(during)
    assert samplers() == before


def test_a_release_without_noise_holds_its_counts():
    """With a script of no noise, the release and its draws hold the true counts, at the rate that was paid."""
    release, (draw,) = recorded(FEW)

    assert release.measurements.leaves.values.tolist() == draw.true_values.tolist() == [2, 0, 0, 1]
    assert draw.public == ((4,), Fraction(1))
    assert not release.simulation


def test_what_was_drawn_is_forced_on_other_data():
    """The counts of one data set come out of another, whose own are noted."""
    first, draws = recorded(FEW, policy="real")
    script = Script(simulation_rng(2), given=draws)
    second = released(MORE, script)
    script.finish()

    assert np.array_equal(first.measurements.leaves.values, second.measurements.leaves.values)
    assert script.draws[0].true_values.tolist() == [3, 0, 0, 1]
    assert script.diverged is None
    assert loss(draws, script.draws) == 1
    assert not same_values(draws, script.draws)


@pytest.mark.parametrize("side", [1, 3])
def test_other_questions_are_noticed(side):
    """Another shape is another draw."""
    script = Script(simulation_rng(2), given=recorded(FEW)[1])
    with pytest.raises(Exception, match="draw 1"):
        released(FEW, script, method=UniformGrid(side=side))

    assert "draw 1" in script.diverged


def test_questions_that_stay_out_are_noticed():
    """A size that nobody asks for."""
    script = Script(simulation_rng(2), given=[*recorded(FEW)[1]] * 2)
    released(FEW, script)
    script.finish()

    assert "stopped after 1" in script.diverged


def test_keys_are_forced_too():
    """Which records of a user are kept is the same."""
    many = np.random.default_rng(0).random((40, 2))
    users = {"user": ["eve"] * 40, "max_per_user": 2}
    _, draws = recorded(many, policy="real", **users)
    script = Script(simulation_rng(9), given=draws)
    released(many[::-1], script, **users)

    assert draws[0].kind == "bits"
    assert same_values(draws, script.draws)


def test_a_cut_costs_at_most_what_it_was_given():
    """Half of epsilon, all of which is reached where every other cut is far worse than the best."""
    method = KdTree(height=1, median_share=0.5, stop_below=0)
    balanced = np.array([[x, 0.5] for x in (0.497, 0.503)] * 60)
    _, draws = recorded(balanced, method=method)
    script = Script(simulation_rng(1), given=draws)
    released(np.array([*balanced, [0.05, 0.5]]), script, method=method)
    cuts = [[draw for draw in part if draw.kind == "choice"] for part in (draws, script.draws)]

    assert 0.49 < loss(*cuts) <= 0.5 + 1e-9
    assert loss(draws, script.draws) <= 1 + 1e-9


def test_a_sign_costs_less_than_a_value():
    """Of counts far from zero nearly nothing."""
    draws = [Script(simulation_rng(1)) for _ in range(2)]
    for script, count in zip(draws, (20, 21), strict=True):
        with instrumented() as use:
            use(script)
            budget = Budget(Fraction(1), bits=script.bits)
            budget.perturb(np.array([count, 0]), Fraction(1))
    first, second = draws[0].draws, draws[1].draws

    assert loss(first, second) == 1
    assert 0 < loss(first, second, by_sign=frozenset([0])) < 1e-8


def test_other_sizes_keep_the_signs():
    """The smallest, and huge ones."""
    _, draws = recorded(FEW, policy="real")
    for changed in with_other_sizes(draws, 0):
        assert np.array_equal(changed[0].released > 0, np.asarray(draws[0].released) > 0)
        assert not np.array_equal(changed[0].released, draws[0].released)
