"""Releases on areas in levels: tables, sums, files, and what is refused."""

from fractions import Fraction

import geopandas
import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.methods.areas import level_shares
from tests.plain import UNIT_SQUARE

SIDE = 4
CELLS = [shapely.box(x / SIDE, y / SIDE, (x + 1) / SIDE, (y + 1) / SIDE) for y in range(SIDE) for x in range(SIDE)]
STATES = ["South" if y < 2 else "North" if x < 3 else "Cape" for y in range(SIDE) for x in range(SIDE)]
COUNTIES = [f"{x}" for _ in range(SIDE) for x in range(SIDE)]  # each name four times, once or twice in a state


def counties(**columns):
    """Sixteen squares in three states, given row by row."""
    frame = {"county": COUNTIES, "state": STATES, "id": [f"c{number}" for number in range(16)], **columns}
    return geopandas.GeoDataFrame(frame, geometry=CELLS, crs="EPSG:4326")


def release(points, epsilon=1, **options):
    """A simulated release of points on counties in states."""
    options = {"levels": ["state", "county"], **options}
    return hg.publish(
        points, domain=UNIT_SQUARE, epsilon=epsilon, method=hg.Areas(counties(), **options), rng=hg.simulation_rng(1)
    )


@pytest.fixture(scope="module")
def points():
    """Some thousand points, more of them in the south."""
    return np.random.default_rng(1).random((5000, 2)) ** (1, 1.5)


def true_by_name(points, names):
    """Exact counts by a second way, each point in the first area that has it."""
    number = np.minimum(np.floor(points * SIDE), SIDE - 1).astype(int)
    found = dict.fromkeys(names, 0)
    for column, row in number.tolist():
        found[names[row * SIDE + column]] += 1
    return found


def test_every_level_is_near_the_truth_and_adds_up(points):
    """With much budget, each estimate is within some points of the exact count, and parents are the sums of parts."""
    synopsis = release(points, epsilon=20)
    states, finest = synopsis.table("state"), synopsis.table()
    exact = true_by_name(points, STATES)

    assert states["name"].to_pylist() == ["South", "North", "Cape"]
    estimates = dict(zip(states["name"].to_pylist(), states["estimate"].to_pylist(), strict=True))
    assert estimates == pytest.approx(exact, abs=3)
    sums = dict.fromkeys(exact, 0.0)
    for state, estimate in zip(STATES, finest["estimate"].to_pylist(), strict=True):
        sums[state] += estimate
    assert sums == pytest.approx(estimates)


def test_the_table_comes_in_the_order_of_the_file(points):
    """Though areas of one state lie together in the release; names are paths, with a key where that is not enough."""
    finest = release(points).table()
    names = finest["name"].to_pylist()

    assert finest.column_names == ["name", "estimate", "low", "high", "usable"]
    assert names[2] == "South / 2 (c2)"
    assert [name.partition(" / ")[0] for name in names] == STATES
    assert names[11] == "Cape / 3 (c11)"


def test_whole_numbers_add_up(points):
    """At both levels, without a negative one."""
    synopsis = release(points[:50], epsilon=0.5)
    states, finest = (synopsis.table(level, whole=True) for level in ("state", "county"))
    sums = dict.fromkeys(STATES, 0)
    for state, estimate in zip(STATES, finest["estimate"].to_pylist(), strict=True):
        sums[state] += estimate

    assert min(synopsis.counts) < 0 <= min(finest["estimate"].to_pylist())
    assert sums == dict(zip(states["name"].to_pylist(), states["estimate"].to_pylist(), strict=True))


def test_the_sum_of_all_parts_is_the_parent(points):
    """With the same interval, by another formula."""
    synopsis = release(points)
    south = [name for name in synopsis.partition.names if name.startswith("South")]
    whole, parts = synopsis.total_of(["South"]), synopsis.total_of(south)
    row = synopsis.table("state").slice(0, 1).to_pylist()[0]

    assert (whole.estimate, whole.low, whole.high) == pytest.approx((parts.estimate, parts.low, parts.high))
    assert (whole.estimate, whole.low, whole.high) == pytest.approx((row["estimate"], row["low"], row["high"]))
    assert whole.noise_std == pytest.approx(synopsis.answer_polygons(shapely.box(0, 0, 1, 0.5)).noise_std)


def test_intervals_hold_as_often_as_they_say(points):
    """Over 300 releases of every area and state at a small budget."""
    exact = true_by_name(points, [f"{number}" for number in range(16)])
    by_state = true_by_name(points, STATES)
    held = {"state": [], "county": []}
    method = hg.Areas(counties(), levels=["state", "county"])
    for seed in range(300):
        synopsis = hg.publish(points, domain=UNIT_SQUARE, epsilon=0.1, method=method, rng=hg.simulation_rng(seed))
        for level, truth in (("state", by_state), ("county", exact)):
            table = synopsis.table(level)
            wanted = np.array(list(truth.values()))
            held[level].append((table["low"].to_numpy() <= wanted) & (wanted <= table["high"].to_numpy()))

    for level, answers in held.items():
        # 900 answers of independent states; counties share the noise of their state.
        assert np.mean(answers) == pytest.approx(0.95, abs=0.02), level


def test_the_budget_goes_to_levels_by_their_shares(points):
    """As given, or by the cube root of the number of areas."""
    given = release(points, shares=[Fraction(1, 5), 0.8])
    default = release(points)

    assert [spend.epsilon for spend in given.claim.spends] == [Fraction(1, 5), Fraction(4, 5)]
    first, second = (float(spend.epsilon) for spend in default.claim.spends)
    assert (first + second, second / first) == pytest.approx((1, (16 / 3) ** (1 / 3)), rel=1e-5)
    for synopsis in (given, default):
        assert sum(spend.epsilon for spend in synopsis.claim.spends) == 1


def test_a_file_keeps_levels_and_order(points, tmp_path):
    """What is read gives the same tables."""
    synopsis = release(points)
    synopsis.save(tmp_path / "a.dp.parquet", allow_simulation=True)
    again = hg.read(tmp_path / "a.dp.parquet")

    assert again.partition == synopsis.partition
    assert again.table("state", whole=True).equals(synopsis.table("state", whole=True))
    assert again.table().equals(synopsis.table())


def test_flat_areas_have_a_table_too(points):
    """Intervals are those of one Laplace noise, but for the rounding of counts."""
    flat = hg.publish(points, domain=UNIT_SQUARE, epsilon=0.01, method=hg.Areas(CELLS), rng=hg.simulation_rng(1))
    row = flat.table().slice(15, 1).to_pylist()[0]

    assert row["name"] == "15"
    assert row["high"] - row["estimate"] == pytest.approx(-np.log(0.05) / 0.01, rel=0.01)


REFUSED = {
    "a share too few": ({"shares": [1]}, "got 1 shares for 2 levels"),
    "shares that do not sum to one": ({"shares": [0.3, 0.8]}, "must be above 0 and sum to 1, got 0.3 \\+ 0.8 = 1.1"),
    "a share of nothing": ({"shares": [0, 1]}, "must be above 0"),
    "a level that is no property": (
        {"levels": ["land", "county"]},
        "'land' must be a property of the areas, or a column of a GeoDataFrame; there are: ",
    ),
    "names that are no property": ({"names": "called"}, "'called' must be a property"),
    "the same level twice": ({"levels": ["state", "state"]}, "names that tell them apart"),
}


@pytest.mark.parametrize(("options", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(options, words, points):
    """Before anything is read, with what there is."""
    with pytest.raises(ArgumentError, match=words):
        release(points, **options)


@pytest.mark.parametrize("empty", ["", "  ", None, np.nan])
def test_a_feature_without_a_level_is_named(empty):
    """By its number."""
    with pytest.raises(ArgumentError, match=r"feature 3 has no 'state'\. Give it one"):
        hg.Areas(counties(state=[*STATES[:3], empty, *STATES[4:]]), levels=["state", "county"])


ASKED = {
    "nobody": (["Norht"], "no area called 'Norht'. Did you mean 'North'"),
    "several": (["0"], "several areas are called '0': "),
    "one in another": (["South", "South / 2 (c2)"], "would be counted twice: it lies in 'South' and in"),
}


@pytest.mark.parametrize(("names", "words"), ASKED.values(), ids=ASKED)
def test_sums_of_what_is_not_clear_are_refused(names, words, points):
    """With what may be meant."""
    with pytest.raises(ArgumentError, match=words.replace("(", r"\(")):
        release(points).total_of(names)


def test_a_release_on_cells_has_no_table(points):
    """It says what to ask instead."""
    with pytest.raises(ArgumentError, match=r"has no named areas\. Ask it about districts by answer_polygons"):
        hg.publish(points, domain=UNIT_SQUARE, epsilon=1, method="ug", rng=hg.simulation_rng(1)).table()


def test_distinct_users_are_counted_on_one_level(points):
    """Somebody in two counties would count twice in their state."""
    users = np.arange(len(points)) % 100
    with pytest.raises(ArgumentError, match="one level of areas"):
        hg.publish(
            points,
            domain=UNIT_SQUARE,
            epsilon=1,
            method=hg.Areas(counties(), levels=["state", "county"]),
            user=users,
            max_per_user=3,
            distinct=True,
        )


def test_shares_are_exact():
    """Whatever they are written as."""
    assert level_shares(["1/3", "2/3"], ["a", "b"]) == (Fraction(1, 3), Fraction(2, 3))


def test_an_area_without_an_outline_is_left_out_with_a_word():
    """Nothing can be counted in it."""
    shapes = [shapely.Polygon(), *CELLS[1:]]
    with pytest.warns(hg.HushgridWarning, match=r"left out: 0 \(feature 0\)"):
        areas = hg.Areas(counties().set_geometry(shapes), levels=["state", "county"])

    assert areas.public_partition(UNIT_SQUARE).cells == 15


def test_a_frame_names_its_areas():
    """By the column called name, or the one that is said; numbers of a format without whole ones are such."""
    assert hg.Areas(counties(Name=[f"n{number}" for number in range(16)])).names[3] == "n3"
    assert hg.Areas(counties(code=np.arange(16) * 1.0), names="code").names[:2] == ("0", "1")
    with pytest.raises(ArgumentError, match=r"say which column names the areas, names=COLUMN; there are: county"):
        hg.Areas(counties())
