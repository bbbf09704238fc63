"""`publish` with users: what is counted, what is claimed, what is refused."""

import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.files.verify import verify_file
from hushgrid.methods import METHODS
from hushgrid.methods.baselines import FineGrid, OneCell
from hushgrid.methods.privlet import Privlet
from tests.plain import UNIT_SQUARE

CERTAIN = 10**7  # noise at a K-th of this rate is zero
SIDE = 8


def records(size=4000, seed=1):
    """A few heavy users, many light ones, some rows without an id."""
    rng = np.random.default_rng(seed)
    who = np.minimum(rng.zipf(1.5, size), 300)
    users = pa.array([None if one % 13 == 12 else int(one) for one in who], pa.int64())
    return pa.table({"who": users, "lon": rng.random(size), "lat": rng.random(size)})


def publish(points=None, *, epsilon=CERTAIN, method="ug", user="who", max_per_user=5, **options):
    """A simulated release at user level."""
    return hg.publish(
        records() if points is None else points,
        domain=UNIT_SQUARE,
        epsilon=epsilon,
        method=hg.UniformGrid(side=SIDE) if method == "ug" else method,
        user=user,
        max_per_user=max_per_user,
        calibrate=False,
        rng=hg.simulation_rng(7),
        **options,
    )


def sizes(missing="drop"):
    """Records of each user."""
    who = records()["who"].to_pylist()
    known = list(np.unique([one for one in who if one is not None], return_counts=True)[1])
    return np.array(known + [1] * who.count(None) if missing == "own" else known)


@pytest.mark.parametrize("missing", ["drop", "own"])
@pytest.mark.parametrize("most", [1, 5, 10_000])
def test_counts_are_of_kept_records(most, missing):
    """Without noise, they sum to what each user may keep."""
    synopsis = publish(max_per_user=most, missing_user=missing, epsilon=CERTAIN * most)

    assert synopsis.total == np.minimum(sizes(missing), most).sum()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_claims_epsilon_for_a_user(method, tmp_path):
    """It sees an epsilon K times as small, and its file verifies but for the mark of a simulation."""
    synopsis = publish(epsilon=3, method=method)
    synopsis.save(tmp_path / "a.dp.parquet", allow_simulation=True)
    failed = [check.name for check in verify_file(tmp_path / "a.dp.parquet").checks if not check.ok]

    assert (synopsis.claim.epsilon, synopsis.claim.unit, synopsis.claim.max_per_unit) == (3, "user", 5)
    assert sum(spend.epsilon for spend in synopsis.claim.spends) == Fraction(3, 5)
    assert failed == ["release"]


def test_the_noisy_size_is_of_kept_records():
    """Rows of the file are not looked at, by either source of the size."""
    for size_from in ("rows", "domain"):
        synopsis = publish(method=hg.UniformGrid(c=1e9), size_from=size_from)
        assert synopsis.claim.size.value == np.minimum(sizes(), 5).sum()


def test_the_same_rows_in_any_order_make_the_same_release():
    """The key comes from the generator, the choice from the key and the rows."""
    table = records()
    shuffled = table.take(np.random.default_rng(2).permutation(len(table)))

    for method in ("ug", "staq"):
        first, second = publish(table, epsilon=1, method=method), publish(shuffled, epsilon=1, method=method)
        np.testing.assert_array_equal(first.counts, second.counts)


@pytest.mark.filterwarnings("ignore:epsilon:hushgrid.HushgridWarning")
def test_releases_choose_anew():
    """Two releases of the system's generator keep different records."""
    table = pa.table({"who": [1] * 200, "lon": np.linspace(0, 1, 200), "lat": np.linspace(0, 1, 200)})
    options = {"domain": UNIT_SQUARE, "epsilon": CERTAIN, "method": hg.UniformGrid(side=200)}
    first, second = (hg.publish(table, user="who", max_per_user=20, **options) for _ in range(2))

    assert first.total == second.total == 20
    assert (first.counts != second.counts).any()


def test_scaled_to_a_public_total():
    """Counts that are scaled to a public total sum to it."""
    synopsis = publish(scale_to_total=123_456)

    assert synopsis.total == pytest.approx(123_456)
    assert synopsis.scale.source == "public"


@pytest.mark.parametrize(("options", "cap"), [({}, 50), ({"max_for_total": 17}, 17)], ids=["ten times K", "given"])
def test_scaled_to_a_private_total(options, cap):
    """Without noise, it is the number of records of all users, capped."""
    synopsis = publish(scale_to_total="private", epsilon=CERTAIN * 100, **options)

    assert synopsis.scale.total == np.minimum(sizes(), cap).sum()
    assert synopsis.total == pytest.approx(synopsis.scale.total)
    assert synopsis.claim.epsilon == CERTAIN * 100


def test_the_share_of_records_kept_is_told():
    """Without noise, it is that of all records, capped by user; it is part of epsilon."""
    synopsis = publish(epsilon=CERTAIN * 1000)
    expected = np.minimum(sizes(), 5).sum() / np.minimum(sizes(), 50).sum()

    assert synopsis.claim.total.value == np.minimum(sizes(), 50).sum()
    assert synopsis.kept_share.estimate == synopsis.kept_share.low == synopsis.kept_share.high == expected
    assert synopsis.claim.epsilon == CERTAIN * 1000
    assert synopsis.total == np.minimum(sizes(), 5).sum()  # counts are not scaled


UNTOLD = {
    "not asked for": {"kept_share": False},
    "users counted": {"distinct": True},
}


@pytest.mark.parametrize("options", UNTOLD.values(), ids=UNTOLD)
def test_no_share_is_told(options):
    """Where it was not asked for, or there is none; nothing is spent on it."""
    synopsis = publish(**options)

    assert synopsis.kept_share is None
    assert "total" not in {spend.purpose for spend in synopsis.claim.spends}


@pytest.mark.parametrize("total", [100_000, "private"])
def test_a_total_that_counts_are_scaled_to_tells_the_share(total):
    """At no further cost, and whatever counts were multiplied by."""
    with_share, without = (publish(scale_to_total=total, kept_share=told) for told in (True, False))
    everyone = 100_000 if total != "private" else with_share.scale.total

    assert with_share.claim == without.claim
    assert with_share.kept_share.estimate == pytest.approx(np.minimum(sizes(), 5).sum() / everyone)


ON_PUBLIC_GRIDS = {"ug": (hg.UniformGrid(side=8), 8), "identity": (FineGrid(side=5), 5), "uniform": (OneCell(), 1)}


@pytest.mark.parametrize(("method", "side"), ON_PUBLIC_GRIDS.values(), ids=ON_PUBLIC_GRIDS)
def test_distinct_users_in_each_cell(method, side):
    """With room for every cell of a user, each cell counts the users that were there."""
    synopsis = publish(method=method, distinct=True, max_per_user=SIDE**2, epsilon=CERTAIN * SIDE**2)
    table = records()
    who = table["who"].to_numpy(zero_copy_only=False)
    place = (np.array(table["lat"]) * side).astype(int) * side + (np.array(table["lon"]) * side).astype(int)
    pairs = {(int(one), int(cell)) for one, cell in zip(who, place, strict=True) if not np.isnan(one)}
    expected = np.bincount([cell for _, cell in pairs], minlength=side**2)

    np.testing.assert_array_equal(synopsis.counts, expected)
    assert synopsis.claim.distinct
    assert synopsis.inference == "direct"


def test_distinct_bounds_the_cells_of_a_user():
    """Nobody counts in more than K of them."""
    table = pa.table({"who": [1] * 500, "lon": np.tile(np.linspace(0, 1, 50), 10), "lat": np.repeat(0.5, 500)})
    counts = publish(table, distinct=True, max_per_user=3).counts

    assert sorted(counts.tolist())[-4:] == [0, 1, 1, 1]


REFUSED = {
    "no bound": ({"max_per_user": None}, "user needs max_per_user"),
    "a bound without users": ({"user": None}, "max_per_user is about users"),
    "rows without ids, without users": (
        {"user": None, "max_per_user": None, "missing_user": "own"},
        "missing_user is about users",
    ),
    "a total without users": (
        {"user": None, "max_per_user": None, "scale_to_total": 5},
        "scale_to_total is about users",
    ),
    "a bound of zero": ({"max_per_user": 0}, "max_per_user must be a whole number"),
    "a bound that is no number": ({"max_per_user": "ten"}, "max_per_user must be a whole number"),
    "a true bound": ({"max_per_user": True}, "max_per_user must be a whole number"),
    "an unknown rule": ({"missing_user": "guess"}, "'drop' or 'own'"),
    "a negative total": ({"scale_to_total": -5}, "scale_to_total must be a whole number of at least 1 or 'private'"),
    "a cap without a private total": ({"max_for_total": 5, "kept_share": False}, "scale_to_total='private'"),
    "a size that leaves nothing beside the share kept": ({"size_share": "0.98"}, "leaves nothing for counts"),
    "a size that leaves nothing beside a total": (
        {"size_share": "0.95", "scale_to_total": "private"},
        "leaves nothing for counts",
    ),
    "a cap of zero": ({"scale_to_total": "private", "max_for_total": 0}, "max_for_total must be a whole number"),
    "a cap below what is kept": (
        {"max_for_total": 4},
        "than max_per_user=5 keeps. Give a larger one, or leave it out: then it is 50",
    ),
    "a private total below what is kept": (
        {"scale_to_total": "private", "max_for_total": 4},
        "would count fewer records",
    ),
    "distinct without users": ({"user": None, "max_per_user": None, "distinct": True}, "needs user and max_per_user"),
    "distinct on no public grid": ({"distinct": True, "method": "ag"}, "needs a public grid"),
    "distinct on a grid sized by data": ({"distinct": True, "method": hg.UniformGrid()}, "needs a public grid"),
    "distinct on the sums of a wavelet": ({"distinct": True, "method": Privlet(side=8)}, "needs a public grid"),
    "distinct and a total": ({"distinct": True, "scale_to_total": 9}, "Leave scale_to_total out"),
}


@pytest.mark.parametrize(("options", "words"), REFUSED.values(), ids=REFUSED)
def test_arguments_that_make_no_sense_are_refused_before_reading(options, words):
    """The message says what would work; the data is not looked at."""
    with pytest.raises(ArgumentError, match=re.escape(words)):
        publish("no such file.parquet", **options)


def test_no_users_and_no_rows_are_no_errors():
    """Nothing about the data can stop a release."""
    empty = records().slice(0, 0)
    nobody = pa.table({"who": pa.nulls(50, pa.int32()), "lon": np.linspace(0, 1, 50), "lat": np.linspace(0, 1, 50)})

    for points in (empty, nobody):
        for method in ("ug", "staq", "auto"):
            for total in (None, 100, "private"):
                assert publish(points, epsilon=1, method=method, scale_to_total=total).claim.epsilon == 1
