"""Warnings before and after a release, from public figures and released values alone."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from shapely import box

import hushgrid as hg
from hushgrid.errors import HushgridWarning
from hushgrid.release.advice import noise_warning, total_reach, total_warning
from hushgrid.release.request import ReleaseRequest

SQUARE = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(4).random((3000, 2))
WHO = np.repeat(np.arange(1000), 3)


def request(**options) -> ReleaseRequest:
    """A request on the unit square."""
    return ReleaseRequest.of(**{"domain": SQUARE, "epsilon": 1, **options})


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1])
@pytest.mark.parametrize("method", ["ug", "staq", hg.UniformGrid(side=7), "auto"], ids=str)
def test_the_planned_error_of_a_total_is_that_of_its_noise(method, epsilon: float) -> None:
    """Against the noise that a release states of its own total, to within a third."""
    options = {"method": method, "epsilon": epsilon, "public_size": 3000}
    release = hg.publish(POINTS, domain=SQUARE, calibrate=False, rng=hg.simulation_rng(1), **options)
    stated = 1.96 * release.answer(SQUARE.bounds).noise_std

    assert stated / 1.5 < total_reach(request(**options), 3000) < 1.5 * stated


@pytest.mark.parametrize(
    ("options", "size", "expected"),
    [
        ({}, 5000, False),
        ({}, None, False),
        ({"epsilon": "0.001"}, 5000, True),
        ({"epsilon": "0.001", "method": "uniform"}, 5000, False),
        ({"user": "who", "max_per_user": 100}, 5000, False),
        ({"user": "who", "max_per_user": 5000}, 5000, True),
        ({"method": hg.UniformGrid(side=64)}, 100, True),
        ({"method": hg.UniformGrid(side=64)}, 1000, False),
        ({"public_size": 5000, "epsilon": "0.0001"}, None, True),
    ],
)
def test_a_release_of_noise_is_foreseen(options: dict, size: int | None, expected: bool) -> None:
    """By epsilon, records a user, cells, and the number of points if that is public."""
    assert (noise_warning(request(**options), size) is not None) is expected


def test_python_warns_of_noise_and_goes_on() -> None:
    """A warning that filters can turn into an error; simulations are not warned of."""
    options = {"domain": SQUARE, "epsilon": "0.001", "method": "uniform", "public_size": 1000}
    with pytest.warns(HushgridWarning, match=r"of about 1,000 points, the total may be off by 2,800"):
        hg.publish(POINTS, **options)
    hg.publish(POINTS, **options, rng=hg.simulation_rng(1))


@pytest.mark.parametrize("users", [{}, {"user": WHO, "max_per_user": 3}], ids=["records", "users"])
@pytest.mark.parametrize(("shift", "expected"), [(0, False), (5, True)], ids=["inside", "outside"])
def test_a_total_far_below_the_public_size_is_warned_of(users: dict, shift: float, expected: bool) -> None:
    """At both levels, where the gap is clear of the noise; the public size and the way out are named."""
    options = {"method": "ug", "calibrate": False, "public_size": 3000, **users}
    for seed in range(10):
        release = hg.publish(POINTS + shift, domain=SQUARE, epsilon=1, rng=hg.simulation_rng(seed), **options)
        said = total_warning(release)

        assert (said is not None) is expected
        assert said is None or "than the public size of 3,000 says" in said


@pytest.mark.parametrize(("shift", "expected"), [(0, False), (5, True)], ids=["inside", "outside"])
@pytest.mark.parametrize("scale", [None, 9000], ids=["kept", "scaled"])
def test_a_total_of_users_that_says_little_is_warned_of(shift: float, expected: bool, scale: int | None) -> None:
    """Without a public size its own interval tells, also where counts are scaled to a total."""
    options = {"method": "ug", "calibrate": False, "user": WHO, "max_per_user": 3, "scale_to_total": scale}
    for seed in range(10):
        release = hg.publish(POINTS + shift, domain=SQUARE, epsilon=1, rng=hg.simulation_rng(seed), **options)

        assert (total_warning(release) is not None) is expected


HALVES = {"method": hg.Areas([box(0, 0, 0.5, 1), box(0.5, 0, 1, 1)], names=["left", "right"])}
UNSIZED = {
    "one cell": {"method": "uniform"},
    "areas": HALVES,
    "a grid that was given": {"method": hg.UniformGrid(side=4)},
    "sized by the domain": {"method": "ug", "size_from": "domain"},
    "slices": {"by": hg.By("kind", values=["a", "b"])},
    "slices of areas": {"by": hg.By("kind", values=["a", "b"]), **HALVES},
}


@pytest.mark.parametrize("options", UNSIZED.values(), ids=UNSIZED)
@pytest.mark.parametrize(("shift", "expected"), [(0, False), (5, True)], ids=["inside", "outside"])
def test_an_empty_release_of_records_is_warned_of(options: dict, shift: float, expected: bool) -> None:
    """Also where no number of rows was measured that would tell, and of slices."""
    lon, lat = (POINTS + shift).T
    table = pa.table({"lon": lon, "lat": lat, "kind": np.resize(["a", "b"], len(POINTS))})
    for seed in range(5):
        made = {"domain": SQUARE, "epsilon": 1, "calibrate": False, **options}
        said = total_warning(hg.publish(table, **made, rng=hg.simulation_rng(seed)))

        assert (said is not None) is expected
        assert said is None or "the release says little" in said


def test_values_that_the_data_does_not_have_are_warned_of() -> None:
    """Slices called otherwise hold nothing, and look like columns misread."""
    table = pa.table({"lon": POINTS[:, 0], "lat": POINTS[:, 1], "kind": ["bike"] * len(POINTS)})
    by = hg.By("kind", values=["Bike", "Car"])
    release = hg.publish(table, domain=SQUARE, epsilon=1, by=by, calibrate=False, rng=hg.simulation_rng(1))

    assert "written as they are in the data?" in (total_warning(release) or "")


@pytest.mark.parametrize(("total", "expected"), [(30, True), (2900, False), (9000, False)])
@pytest.mark.parametrize("estimate", ["kept-records", "all-records"])
def test_a_public_total_below_what_was_counted_is_warned_of(total: int, expected: bool, estimate: str) -> None:
    """A total in thousands, say; what is within the noise is let pass."""
    users = {"user": WHO, "max_per_user": 3, "scale_to_total": total, "estimate": estimate}
    for seed in range(5):
        release = hg.publish(POINTS, domain=SQUARE, epsilon=2, calibrate=False, **users, rng=hg.simulation_rng(seed))
        said = total_warning(release)

        assert (said is not None) is expected
        assert said is None or "scaled down to the public total of 30, but about" in said


@pytest.mark.parametrize(("written", "expected"), [("%Y-%m-%d %H:%M", False), ("%d.%m.%Y %H:%M", True)])
@pytest.mark.parametrize("users", [{}, {"user": "who", "max_per_user": 3}], ids=["records", "users"])
def test_times_that_nobody_could_read_are_warned_of(written: str, expected: bool, users: dict) -> None:
    """All records of the period are left out then, which looks like an empty month."""
    columns = dict(zip(("lon", "lat"), POINTS.T, strict=True))
    times = [datetime(2026, 3, 1 + n % 28, tzinfo=UTC).strftime(written) for n in range(len(POINTS))]
    table = pa.table({**columns, "who": WHO, "at": times})
    release = hg.publish(table, domain=SQUARE, epsilon=1, method="ug", period="2026-03", time="at", **users)
    said = total_warning(release)

    assert (said is not None) is expected
    assert said is None or "are times written as timestamps, dates or text in ISO 8601" in said
