"""An estimate of all records: what is counted, claimed and refused, and what intervals hold."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.counting.by_user.tallies import UserTally
from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.verify import verify_file
from hushgrid.release.all_records import best_cap
from hushgrid.synopsis.all_records import REGION_SIDE, AllRecords, mean_inside
from hushgrid.synopsis.facts import Facts
from tests.plain import UNIT_SQUARE
from tests.tampering import tamper

CERTAIN = 10**9  # noise at a K-th of a share of this rate is zero
MOST = 4
WEST, EAST = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0)


def crowd(seed=1):
    """Users of the west with two records each, and of the east with forty."""
    rng = np.random.default_rng(seed)
    sizes = np.repeat([2, 40], [1500, 300])
    users = np.repeat(np.arange(len(sizes)), sizes)
    points = rng.random((len(users), 2)) * (0.5, 1) + np.where(users < 1500, 0, 0.5)[:, None] * (1, 0)
    return points, users


def publish(*, epsilon=CERTAIN, calibrate=False, seed=3, **options):
    """A simulated release of all records."""
    points, users = crowd()
    options = {"method": hg.UniformGrid(side=8), "estimate": "all-records", "max_per_user": MOST} | options
    rng = hg.simulation_rng(seed)
    return hg.publish(points, domain=UNIT_SQUARE, epsilon=epsilon, user=users, calibrate=calibrate, rng=rng, **options)


@pytest.fixture(scope="module")
def release():
    """A release with ordinary noise."""
    return publish(epsilon=2)


def test_without_noise_regions_have_all_their_records():
    """Kept records alone would give the east 1,200 of 4,200; it has 12,000 of 15,000."""
    exact = publish()
    kept = publish(estimate="kept-records")

    assert exact.total == pytest.approx(15_000)
    assert exact.count([WEST, EAST]) == pytest.approx([3000, 12_000], rel=0.01)
    assert kept.count([WEST, EAST]) == pytest.approx([3000, 1200])


def test_a_cap_bounds_what_counts_of_each_user():
    """The total counts at most the cap of each user, and the release says so."""
    capped = publish(max_for_total=10)

    assert capped.total == pytest.approx(1500 * 2 + 300 * 10)
    assert capped.count([WEST, EAST]) == pytest.approx([3000, 3000], rel=0.01)
    assert Facts.of(capped).counted == "records (at most 10 of each user)"
    assert "At most" in Facts.of(publish(epsilon=1, max_for_total=4000)).meaning
    assert "About 300 users have 11 or more" in Facts.of(capped).meaning


def test_a_public_total_is_met_and_what_lies_beyond_the_cap_is_told():
    """At a cap of 10, three fifths of the records lie beyond."""
    found = publish(scale_to_total=15_000, max_for_total=10)

    assert found.total == pytest.approx(15_000)
    assert "About 60 % of them (60 to 60 % with 95 % confidence) are beyond 10 of a user" in Facts.of(found).meaning
    assert Facts.of(found).covered == "true count of records in all"


def test_the_budget_is_spent_as_the_documentation_says(release):
    """A twentieth, a tenth, a fifth and the rest; the sum is epsilon exactly."""
    claim = release.claim
    shares = {spend.purpose: spend.epsilon * MOST / claim.epsilon for spend in claim.spends}

    assert shares == {
        "users": Fraction(1, 20),
        "total": Fraction(1, 10),
        "regions": Fraction(1, 5),
        "counts": Fraction(13, 20),
    }
    assert claim.epsilon == 2


@pytest.mark.parametrize("method", ["ug", "ag", "staq", "kd", "privlet", hg.UniformGrid(side=5)], ids=str)
@pytest.mark.parametrize("total", [None, 15_000])
def test_files_verify_and_answer_as_before(method, total, tmp_path):
    """On partitions that follow the regions and on others."""
    made = publish(epsilon=50, method=method, scale_to_total=total)
    made = replace(made, claim=replace(made.claim, simulation=False))
    made.save(tmp_path / "a.dp.parquet")
    read, rects = hg.read(tmp_path / "a.dp.parquet"), np.array([WEST, EAST, (0.1, 0.2, 0.33, 0.9)])

    assert [check.name for check in verify_file(tmp_path / "a.dp.parquet").checks if not check.ok] == []
    assert read.total == pytest.approx(made.scale.total)
    for name, value in vars(made.answer(rects)).items():
        np.testing.assert_array_equal(getattr(read.answer(rects), name), value)


FORGED = {
    "another ratio": lambda known: known["ratios"].__setitem__(7, 1.5),
    "another measurement": lambda known: known["regions"].__setitem__(7, 10**7),
    "other users": lambda known: known["users"].__setitem__(3, 10**6),
    "narrower intervals": lambda known: known.update(uneven=0.0),
}


@pytest.mark.parametrize("edit", FORGED.values(), ids=FORGED)
def test_verify_notices_what_does_not_follow(release, edit, tmp_path):
    """Ratios and variances follow from what was measured."""
    release.save(tmp_path / "a.dp.parquet", allow_simulation=True)
    tamper(tmp_path / "a.dp.parquet", edit=lambda footer: edit(footer["scale"]["all_records"]))

    assert "all records" in [check.name for check in verify_file(tmp_path / "a.dp.parquet").checks if not check.ok]


BROKEN = {
    "a region too few": lambda known: known["regions"].pop(),
    "a bin too few": lambda known: known["users"].pop(),
    "a ratio of zero": lambda known: known["ratios"].__setitem__(0, 0.0),
    "a negative variance": lambda known: known.update(uneven=-1.0),
    "an unknown key": lambda known: known.update(colour="blue"),
}


@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused(release, edit, tmp_path):
    """Before anything is computed from it."""
    release.save(tmp_path / "a.dp.parquet", allow_simulation=True)
    tamper(tmp_path / "a.dp.parquet", edit=lambda footer: edit(footer["scale"]["all_records"]))

    with pytest.raises(SynopsisFileError, match=r"a\.dp\.parquet cannot be read"):
        hg.read(tmp_path / "a.dp.parquet")


REFUSED = {
    "without users": ({"user": None, "max_per_user": None}, "estimate is about users"),
    "distinct": ({"distinct": True}, "distinct counts users"),
    "another word": ({"estimate": "all"}, "estimate must be 'kept-records' or 'all-records'"),
    "a cap below K": ({"max_for_total": MOST - 1}, "would count fewer records"),
    "nothing left": ({"size_share": "0.7", "method": "ug"}, "leaves nothing for counts"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_estimated_is_refused(options, message):
    """From arguments alone."""
    points, users = crowd()
    given = {"user": users, "max_per_user": MOST, "estimate": "all-records", "method": hg.UniformGrid(side=4)}

    with pytest.raises(ArgumentError, match=message):
        hg.publish(points, domain=UNIT_SQUARE, epsilon=1, **(given | options))


def test_areas_are_refused_with_a_way_out():
    """Regions correct cells; areas are not cells."""
    shapely = pytest.importorskip("shapely")
    points, users = crowd()
    areas = hg.Areas([shapely.box(*WEST), shapely.box(*EAST)])

    with pytest.raises(ArgumentError, match="ask the release about them, or scale"):
        hg.publish(
            points, domain=UNIT_SQUARE, epsilon=1, user=users, max_per_user=2, estimate="all-records", method=areas
        )


def test_intervals_are_wider_than_noise_alone_and_hold_the_truth():
    """Over several releases: the truth is that of the cap that was chosen."""
    points, users = crowd()
    sizes = np.bincount(users)[users]
    rng = np.random.default_rng(5)
    low = rng.random((200, 2)) * 0.7
    rects = np.concatenate([low, low + rng.random((200, 2)) * 0.3], axis=1)
    held = []
    for seed in range(4):
        release = publish(epsilon=4, seed=seed, method="staq")
        weights = np.minimum(1, release.scale.cap / sizes)
        inside = ((points[:, None] >= rects[:, :2]) & (points[:, None] <= rects[:, 2:])).all(axis=2)
        truth, answer = weights @ inside, release.answer(rects)
        held.append((answer.low <= truth) & (truth <= answer.high))
        plain = replace(release, scale=replace(release.scale, all_records=None)).answer(rects)
        assert (answer.high - answer.low > plain.high - plain.low).all()

    assert np.mean(held) > 0.93


def test_the_whole_domain_is_off_by_its_total_alone():
    """The further from all, the more the share of an area is uncertain, too."""
    known = AllRecords(
        users=(), regions=(), ratios=(), uneven=9.0, regional=(1.0, 3.0), region_sizes=(50.0, 100.0), total_error=0.01
    )
    none, small, half, whole = known.variances(np.array([0.0, 10.0, 5000.0, 10_000.0]), 10_000.0)

    assert none == 0
    assert small == pytest.approx(10 * 0.999 * (9 + 0.2 + 0.3) + 0.01)
    assert half == pytest.approx(5000 * 0.5 * 13 + 2500)
    assert whole == pytest.approx(10_000)


def test_means_inside_rectangles_are_those_of_a_fine_grid():
    """Whatever regions a rectangle cuts."""
    rng = np.random.default_rng(2)
    values, fine = rng.random(REGION_SIDE**2), 64
    rects = np.sort(rng.integers(0, fine + 1, (50, 2, 2)), axis=1).reshape(50, 4)
    rects = rects[(rects[:, 2] > rects[:, 0]) & (rects[:, 3] > rects[:, 1])]
    cells = np.kron(values.reshape(REGION_SIDE, REGION_SIDE), np.ones((4, 4)))
    expected = [cells[south:north, west:east].mean() for west, south, east, north in rects]

    np.testing.assert_allclose(mean_inside(values, rects / fine, UNIT_SQUARE), expected)


def test_the_cap_follows_users_who_stand_out_of_the_noise():
    """A few hundred with very many records raise it, and a few do not."""
    tally = UserTally.of(UNIT_SQUARE, most=10, cap=None)
    users = np.zeros(len(tally.starts), np.int64)
    users[:6] = 2000
    heavy = np.eye(len(users), dtype=np.int64)[tally.starts.index(512)]
    rates = {"users_rate": Fraction(1, 20), "total_rate": Fraction(1, 10)}
    caps = [tally.caps[best_cap(tally, users + some * heavy, **rates)] for some in (0, 20, 400)]

    assert caps[0] == caps[1] == min(tally.caps)
    assert caps[2] >= 512


def test_the_guarantee_says_what_counts_beside_kept_records(release):
    """Kept are at most K; the total and the regions count more."""
    assert (
        f"In the total and in regions, at most {release.claim.total.cap} of each user count." in release.claim.sentence
    )
    assert "regions" not in publish(estimate="kept-records").claim.sentence


def test_a_check_and_a_plan_know_the_estimate():
    """The check says what would be counted; the plan has less of the budget for details."""
    points, users = crowd()
    given = {"user": users, "max_per_user": MOST, "estimate": "all-records"}
    found = hg.check(points, domain=UNIT_SQUARE, epsilon=1, points_about=4000, **given)
    errors = [
        hg.plan(UNIT_SQUARE, points_about=4000, epsilon=1, max_per_user=MOST, estimate=estimate).yardstick.reach
        for estimate in ("kept-records", "all-records")
    ]

    assert "corrected by regions for 35 % of the budget" in " ".join(str(found).split())
    assert found.to_dict()["request"]["estimate"] == "all-records"
    assert errors[0] < errors[1]


def test_releases_of_all_records_are_not_compared(release):
    """Their errors go together, which no test of a change knows."""
    with pytest.raises(ArgumentError, match="have errors that go together"):
        hg.compare(release, publish(epsilon=2, seed=9))
