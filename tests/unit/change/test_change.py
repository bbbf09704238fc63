"""What changed: every figure against what the two releases say by themselves."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.change.blocks import block_grid
from hushgrid.change.difference import Difference, Terms, fieller
from hushgrid.synopsis.answer import Calibration
from hushgrid.synopsis.claim import PeriodRecord
from tests.districts import SHAPES, districts
from tests.plain import UNIT_SQUARE
from tests.synopses import some_values, synopsis_on

RECTS = np.array([[0.0, 0.0, 0.4, 0.4], [0.55, 0.55, 0.95, 0.95], [0.1, 0.6, 0.3, 0.9]])


@pytest.fixture(scope="module")
def releases():
    """Two releases, in the second of which the north-east has tripled."""
    rng = np.random.default_rng(0)
    points, more = rng.random((4000, 2)), 0.5 + rng.random((2000, 2)) / 2
    return [
        hg.publish(each, domain=UNIT_SQUARE, epsilon=1, method="ag", calibrate=False, rng=hg.simulation_rng(number))
        for number, each in enumerate((points, np.concatenate([points, more])))
    ]


@pytest.fixture(scope="module")
def change(releases):
    """What changed between them."""
    return hg.compare(*releases)


@pytest.mark.parametrize(("names", "said"), [(("2026-03", "2026-Q1"), True), (("2026-02", "2026-03"), False)])
def test_periods_of_different_lengths_are_told(releases, names, said):
    """A quarter has more records than a month for that alone; two months may be compared as they are."""
    periods = [PeriodRecord(name=name, timezone="UTC") for name in names]
    before, after = (replace(each, period=period) for each, period in zip(releases, periods, strict=True))
    caveats = hg.compare(before, after).caveats()

    assert any("is of a month, 2026-03, and the second of a quarter, 2026-Q1" in each for each in caveats) is said


def test_intervals_that_were_not_calibrated_are_told(releases):
    """Methods that choose cells by noise need it; without, kd found changes in 6 of 30 pairs where there were none."""
    before, after = (replace(each, calibration=Calibration(factors=((1.1,) * 5,) * 6)) for each in releases)

    assert any("Not both releases have calibrated" in caveat for caveat in hg.compare(*releases).caveats())
    assert any("Not both releases have calibrated" in caveat for caveat in hg.compare(before, releases[1]).caveats())
    assert hg.compare(before, after).caveats() == ()


def test_counts_are_those_of_the_releases(releases, change):
    """The difference is the one count less the other."""
    found = change.answer(RECTS)

    np.testing.assert_array_equal(found.before, releases[0].count(RECTS))
    np.testing.assert_array_equal(found.after, releases[1].count(RECTS))
    np.testing.assert_array_equal(found.difference, found.after - found.before)


def test_one_rectangle_gives_plain_values(change):
    """The same as in a table of one, where there is nothing to correct for."""
    one, several = change.answer(RECTS[1]), change.answer(RECTS[1:2])

    assert isinstance(one.difference, float)
    assert one.significant is True
    assert one.p_value == several.p_value[0]


def test_rectangles_and_polygons_agree(change):
    """A rectangle is a polygon."""
    rects, polygons = change.answer(RECTS), change.answer_polygons([shapely.box(*rect) for rect in RECTS])

    for name, values in rects.columns().items():
        np.testing.assert_allclose(polygons.columns()[name], values, rtol=1e-6, err_msg=name)


def test_the_interval_leaves_zero_out_where_the_p_value_is_small(change):
    """Both tell the same, place by place."""
    found = change.blocks(20)[1]

    np.testing.assert_array_equal((found.low > 0) | (found.high < 0), found.p_value < 0.05)


def test_intervals_widen_with_confidence(releases, change):
    """What is significant does not depend on it."""
    wide = hg.compare(*releases, confidence=0.999).answer(RECTS)
    found = change.answer(RECTS)

    assert (wide.high - wide.low > found.high - found.low).all()
    np.testing.assert_array_equal(wide.p_value, found.p_value)


def test_holm_finds_no_more_than_benjamini_and_hochberg(releases):
    """Holm's correction finds what Bonferroni's would, and no more than Benjamini and Hochberg's."""
    bh, holm = (hg.compare(*releases, correction=each).blocks(16)[1] for each in ("bh", "holm"))

    assert 0 < holm.significant.sum() < bh.significant.sum()
    assert (bh.significant | ~holm.significant).all()
    assert (holm.significant | (holm.p_value > 0.05 / 256)).all()


def test_ratios_are_there_where_both_counts_are_usable(releases, change):
    """Elsewhere they are missing."""
    grid, found = change.blocks(16)
    usable = np.logical_and(*(each.answer(grid.bounds()).usable for each in releases))

    assert 0 < usable.sum() < grid.cells
    np.testing.assert_array_equal(np.isfinite(found.ratio), usable)
    known = found.columns()
    assert (known["ratio_low"][usable] <= known["ratio"][usable]).all()
    assert (known["ratio"][usable] <= known["ratio_high"][usable]).all()


def test_fieller_holds_ratios_that_cannot_be_told_apart():
    """Its ends are where after - r before is as large as its own half width."""
    before, after, before_half, after_half = (np.array([each]) for each in (90.0, 150.0, 25.0, 30.0))

    for end in fieller(before, after, before_half, after_half)[::2]:
        assert abs(after - end * before)[0] == pytest.approx(np.hypot(after_half, end * before_half)[0])


def test_the_table_has_the_areas_of_a_level_in_the_order_of_the_file():
    """With the estimates of both tables."""
    before, after = (synopsis_on(districts(), values=some_values(len(SHAPES), seed)) for seed in (1, 2))

    table = hg.compare(before, after).table()

    assert table["name"].to_pylist() == before.table()["name"].to_pylist()
    np.testing.assert_allclose(table["before"], before.table()["estimate"])
    np.testing.assert_allclose(table["after"], after.table()["estimate"])
    with pytest.raises(hg.ArgumentError, match="level must be one of area"):
        hg.compare(before, after).table(level="state")


def test_the_grid_has_bounds_and_the_answers_for_them(change):
    """Block by block, from the south-west."""
    table = change.grid(7)
    bounds = np.stack([table[name] for name in ("west", "south", "east", "north")], axis=1)

    assert table.num_rows == 49
    np.testing.assert_array_equal(table["p_value"], change.answer(bounds).p_value)


def test_blocks_look_square():
    """At 60 degrees north a degree of longitude is half as long as one of latitude."""
    grid = block_grid(hg.Domain(west=0, south=59, east=4, north=61), 40)

    assert (grid.columns, grid.rows) == (40, 40)


@pytest.mark.parametrize("longest", [0, 401, 2.5, "many"])
def test_a_grid_of_no_blocks_or_too_many_is_refused(change, longest):
    """As is half a block."""
    with pytest.raises(hg.ArgumentError, match="from 1 to 400"):
        change.grid(longest)


def test_the_usual_grid_is_finer_where_more_is_known():
    """With a hundred times the budget blocks are smaller."""
    points = np.random.default_rng(0).random((20_000, 2))

    def cells(epsilon):
        method = hg.UniformGrid(side=64)
        releases = (
            hg.publish(points, domain=UNIT_SQUARE, epsilon=epsilon, method=method, rng=hg.simulation_rng(seed))
            for seed in (1, 2)
        )
        return hg.compare(*releases).blocks()[0].cells

    assert cells(0.1) < cells(10)


def test_a_doubling_would_be_found_on_the_usual_grid():
    """In most blocks of even points, whichever these are."""
    points = np.random.default_rng(0).random((20_000, 2))
    before, after = (
        hg.publish(each, domain=UNIT_SQUARE, epsilon=1, method="ag", calibrate=False, rng=hg.simulation_rng(seed))
        for seed, each in enumerate((points, np.concatenate([points, points])))
    )

    grid, found = hg.compare(before, after).blocks()

    assert grid.cells >= 64
    assert found.significant.mean() > 0.8


def difference_of(differences, significant, **terms):
    """Differences of which some are significant."""
    values = np.array(differences, float)
    names = ("before", "after", "low", "high", "ratio", "ratio_low", "ratio_high", "p_value")
    return Difference(
        difference=values, significant=np.array(significant), terms=Terms(**terms), **dict.fromkeys(names, values)
    )


OF_FINDINGS = "at most 5 % of such findings are false alarms on average."
SENTENCES = {
    "both": (
        [5, -5, 9, 1],
        [1, 1, 1, 0],
        "In 2 of 4 counties the number rose by more than noise explains, in 1 it fell; ",
    ),
    "up": ([5, 1], [1, 0], "In 1 of 2 counties the number rose by more than noise explains, in none it fell; "),
    "down": ([-5, 1], [1, 0], "In 1 of 2 counties the number fell by more than noise explains, in none it rose; "),
}


@pytest.mark.parametrize(("differences", "significant", "sentence"), SENTENCES.values(), ids=SENTENCES.keys())
def test_one_sentence_tells_what_changed(differences, significant, sentence):
    """For whoever reads no table."""
    found = difference_of(differences, np.array(significant, bool))

    assert found.sentence("county") == sentence + OF_FINDINGS


def test_the_sentence_says_when_nothing_changed():
    """Without a word about false alarms."""
    found = difference_of([5, 1], [False, False])

    assert found.sentence() == "In none of 2 places did the number change by more than noise explains."


def test_the_sentence_says_what_holm_promises():
    """Another rate, of any false alarm at all."""
    found = difference_of([1], [True], rate=0.01, correction="holm")

    assert found.sentence().endswith("the chance that any of these is a false alarm is at most 1 %.")


def test_the_surest_change_comes_first(change):
    """Then the next, down to what says nothing."""
    found = change.blocks(12)[1]

    assert (np.diff(found.p_value[found.by_evidence()]) >= 0).all()


def test_the_repr_shows_no_counts(change):
    """It names both releases."""
    assert repr(change).startswith("<Change from <Synopsis by ag: epsilon=1,")


@pytest.mark.parametrize("none", [[], np.empty((0, 4))], ids=["a list", "an array"])
def test_no_rectangles_have_no_answers(releases, change, none):
    """Of a release, a change and a series: nothing, and no error from inside."""
    series = hg.Series(dict(zip(("2026-01", "2026-02"), releases, strict=True)))

    assert releases[0].count(none).shape == releases[0].answer(none).estimate.shape == (0,)
    assert change.answer(none).difference.shape == (0,)
    assert series.answer(none).estimate.shape == (2, 0)


def test_a_grid_of_a_whole_number_is_one_however_it_is_written(change):
    """As numpy and spreadsheets write them."""
    assert change.grid(4.0).equals(change.grid(4))


def test_rectangles_of_a_series_are_checked_as_all_others(releases):
    """With their row, in our own words."""
    with pytest.raises(hg.ArgumentError, match=r"rectangle 1 .* is inverted"):
        hg.Series({"one": releases[0]}).answer([[0, 0, 1, 1], [1, 0, 0, 1]])
    with pytest.raises(hg.ArgumentError, match="rectangles must be numbers"):
        hg.Series({"one": releases[0]}).answer(["west"])
