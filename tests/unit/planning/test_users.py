"""Both sides of K: what is lost by keeping few records of a user, and the noise that many take."""

from pathlib import Path

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.planning.plan import plan
from hushgrid.planning.users import RecordsPerUser, draw_bounds

CITY = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)


@pytest.mark.parametrize(("typical", "many"), [(5, 40), (1, 3), (20, 20), (2, 300)])
def test_records_of_users_have_the_quantiles_given(typical: float, many: float) -> None:
    numbers = RecordsPerUser(typical=typical, many=many).numbers

    assert np.quantile(numbers, 0.5) == pytest.approx(typical, rel=0.05)
    assert np.quantile(numbers, 0.9) == pytest.approx(many, rel=0.05)
    assert numbers.min() >= 1


def test_what_is_kept_is_what_a_draw_keeps() -> None:
    """The share agrees with users drawn at random from the same law."""
    drawn = np.maximum(np.rint(np.random.default_rng(3).lognormal(np.log(5), np.log(8) / 1.2815515655, 400_000)), 1)
    records = RecordsPerUser(typical=5, many=40)

    for most in (1, 5, 20, 100):
        assert records.kept(most) == pytest.approx(np.minimum(drawn, most).sum() / drawn.sum(), rel=0.05)


def test_both_sides_of_k_are_weighed() -> None:
    """More noise with more records kept, less lost; the least by both is neither the smallest nor the largest."""
    bounds = plan(CITY, points_about=60_000, epsilon=1, max_per_user=30, records_per_user=(5, 40)).bounds
    kept, noise, loss = (np.array([getattr(row, name) for row in bounds.rows]) for name in ("kept", "noise", "loss"))
    tried = [row.max_per_user for row in bounds.rows]

    assert tried[:7] == [1, 2, 5, 10, 20, 30, 50]
    assert np.all(np.diff(noise) >= 0)
    assert np.all(np.diff(loss) <= 0)
    np.testing.assert_allclose(kept + loss, 1)
    assert bounds.records_about == round(60_000 / bounds.records.kept(30))
    assert tried[0] < bounds.best.max_per_user < tried[-1]
    assert bounds.to_dict()["recommended"] == bounds.best.max_per_user


def test_few_records_are_not_all_kept_for_the_least_loss() -> None:
    """Where every rectangle is mostly noise, the total still tells bounds apart."""
    for size in (50, 500, 5000):
        bounds = plan(CITY, points_about=size, epsilon="0.5", max_per_user=10).bounds
        assert bounds.rectangle == "large"
        assert bounds.best.max_per_user <= 50


def test_the_noise_is_that_of_the_plan_itself() -> None:
    """For the bound that was planned, up to the rehearsal of another number of points."""
    made = plan(CITY, points_about=60_000, epsilon=1, max_per_user=10)
    row = next(row for row in made.bounds.rows if row.max_per_user == 10)

    assert row.noise == pytest.approx(made.yardstick.relative_reach, rel=0.5)


def test_more_budget_affords_more_records() -> None:
    few, many = (plan(CITY, points_about=60_000, epsilon=epsilon, max_per_user=10).bounds for epsilon in (0.5, 8))

    assert few.best.max_per_user < many.best.max_per_user


def test_users_with_one_record_each_need_no_more() -> None:
    bounds = plan(CITY, points_about=60_000, epsilon=1, max_per_user=5, records_per_user=(1, 1)).bounds

    assert bounds.best.max_per_user == 1
    assert all(row.kept == 1 for row in bounds.rows)


@pytest.mark.parametrize("given", [(0, 5), (40, 5), (5,), ("a", "b"), 7, (5, 10**9)])
def test_odd_numbers_of_records_are_refused(given: object) -> None:
    with pytest.raises(ArgumentError, match="records_per_user is two numbers"):
        plan(CITY, points_about=5000, epsilon=1, max_per_user=5, records_per_user=given)  # type: ignore[call-overload]


def test_the_curve_is_drawn(tmp_path: Path) -> None:
    bounds = plan(CITY, points_about=5000, epsilon=1, max_per_user=5).bounds

    draw_bounds(bounds, tmp_path / "k.svg")

    drawn = (tmp_path / "k.svg").read_text()
    assert "K = " in drawn or "<use" in drawn  # letters may be drawn as glyphs
    assert f"{bounds.best.max_per_user:,}" in bounds.sentence
