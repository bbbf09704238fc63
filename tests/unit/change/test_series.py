"""Releases over time: every figure against what each release says by itself, and gaps that stay gaps."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.synopsis.claim import PeriodRecord
from tests.districts import SHAPES
from tests.plain import UNIT_SQUARE

RECTS = np.array([[0.0, 0.0, 0.4, 0.4], [0.55, 0.55, 0.95, 0.95]])


def release(number, **options):
    """A release of some points, each with noise of its own."""
    points = np.random.default_rng(number).random((500 * (1 + number), 2))
    given = {"domain": UNIT_SQUARE, "epsilon": 1, "method": "ug", "rng": hg.simulation_rng(number)} | options
    return hg.publish(points, calibrate=False, **given)


@pytest.fixture(scope="module")
def months():
    """Releases of January, February and May, not in order."""
    return {name: release(number) for number, name in enumerate(("2026-05", "2026-01", "2026-02"))}


def test_answers_are_those_of_the_releases_and_gaps_are_gaps(months):
    """Periods are in the order of the calendar, and March and April are there without numbers."""
    series = hg.Series(months)
    found = series.answer(RECTS, confidence=0.9)

    assert found.periods == series.periods == ("2026-01", "2026-02", "2026-03", "2026-04", "2026-05")
    assert found.known.tolist() == [True, True, False, False, True]
    assert list(series) == ["2026-01", "2026-02", "2026-05"]
    for row, period in enumerate(found.periods):
        for name in ("estimate", "low", "high"):
            values = getattr(found, name)[row]
            if period in months:
                np.testing.assert_array_equal(values, getattr(months[period].answer(RECTS, confidence=0.9), name))
            else:
                assert np.isnan(values).all()


def test_one_rectangle_and_polygons_are_places_too(months):
    """A rectangle is a place of its own, and as a polygon it has the same counts."""
    series = hg.Series(months)
    one, polygons = series.answer(RECTS[0]), series.answer_polygons([shapely.box(*rect) for rect in RECTS])

    assert one.estimate.shape == (5, 1)
    np.testing.assert_array_equal(one.estimate[:, 0], series.answer(RECTS).estimate[:, 0])
    np.testing.assert_allclose(polygons.estimate, series.answer(RECTS).estimate, rtol=1e-6)


def test_named_areas_make_a_table_with_nulls_in_gaps():
    """A row for each period and area."""
    areas = hg.Areas({"geometry": list(SHAPES.values()), "name": list(SHAPES)}, names="name")
    quarters = {name: release(number, method=areas) for number, name in enumerate(("2025-Q4", "2026-Q2"))}
    series = hg.Series(quarters)
    table = series.table()

    assert series.on_same_areas
    assert table.column_names == ["period", "name", "estimate", "low", "high", "usable"]
    assert table.num_rows == 3 * len(SHAPES)
    for period in ("2025-Q4", "2026-Q1", "2026-Q2"):
        rows = [row for row in table.to_pylist() if row["period"] == period]
        if period not in quarters:
            assert all(row["estimate"] is row["usable"] is None for row in rows)
            continue
        own = quarters[period].table().to_pylist()
        assert [row["name"] for row in rows] == [row["name"] for row in own]
        assert [row["estimate"] for row in rows] == [row["estimate"] for row in own]


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path, months):
    """Names with other words in them; other files are passed over."""
    for name, synopsis in months.items():
        synopsis.save(tmp_path / f"trips of {name}.dp.parquet", allow_simulation=True)
    (tmp_path / "notes.txt").write_text("x")
    from_folder, from_files = hg.Series(tmp_path), hg.Series(sorted(tmp_path.glob("*.parquet")))

    assert from_folder.periods == from_files.periods == hg.Series(months).periods
    np.testing.assert_array_equal(from_folder.answer(RECTS).estimate, hg.Series(months).answer(RECTS).estimate)


def test_names_without_periods_keep_their_order(months):
    """Nothing is known to be missing between them; nor between a month and a year."""
    first, second, third = months.values()

    assert hg.Series({"before": first, "after": second}).periods == ("before", "after")
    assert hg.Series({"2026-05": first, "2024": second, "x": third}).periods == ("2026-05", "2024", "x")


def test_a_name_that_contradicts_its_release_is_refused(months):
    """A month under the name of another would be told as that one."""
    january, may = (
        replace(months[name], period=PeriodRecord(name=name, timezone="UTC")) for name in ("2026-01", "2026-05")
    )

    assert hg.Series({"2026-01": january, "2026-05": may}).periods[-1] == "2026-05"
    assert hg.Series({"before": january, "after": may}).periods == ("before", "after")
    for names in (("2026-05", "2026-01"), ("2026", "2025"), ("2026-05", "after")):
        with pytest.raises(hg.ArgumentError, match=r"counts records of 2026-0\d, and its name says 202"):
            hg.Series(dict(zip(names, (january, may), strict=True)))


def test_what_is_no_series_is_refused_by_name(tmp_path, months):
    """With the reason, and which ones it is about."""
    first, second, _ = months.values()
    elsewhere = release(7, domain=hg.Domain(west=0, south=0, east=2, north=1))

    with pytest.raises(hg.ArgumentError, match="at least one release"):
        hg.Series({})
    with pytest.raises(hg.ArgumentError, match=r"two releases are of 2026-05: a 2026-05 and b 2026-05"):
        hg.Series({"a 2026-05": first, "b 2026-05": second})
    with pytest.raises(hg.ArgumentError, match=r"2026-01 and 2026-02 are not a series: .* domains differ"):
        hg.Series({"2026-01": first, "2026-02": elsewhere})
    with pytest.raises(hg.ArgumentError, match="more than 10,000 periods"):
        hg.Series({"1900-01-01": first, "2026-01-01": second})
    with pytest.raises(hg.InputError, match="is not a folder"):
        hg.Series(tmp_path / "gone")
    with pytest.raises(hg.InputError, match="holds no release"):
        hg.Series(tmp_path)
