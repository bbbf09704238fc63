"""A release aimed at places: each counted by itself, all else around them."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.errors import ArgumentError, HushgridWarning, InputError, SynopsisFileError
from hushgrid.files.release import parse_release
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import exact_epsilon
from hushgrid.release.aim import places_aimed_at
from hushgrid.release.request import ReleaseRequest
from tests.plain import UNIT_SQUARE

RNG = np.random.default_rng(5)
POINTS = np.clip(np.concatenate([RNG.normal([0.3, 0.4], 0.04, (6000, 2)), RNG.random((3000, 2))]), 0, 1)
# One inside a cell, one over many cells, one with a hole that another place fills.
RING = shapely.box(0.6, 0.6, 0.8, 0.8).difference(shapely.box(0.65, 0.65, 0.7, 0.7))
SHAPES = {
    "corner": shapely.box(0.9, 0.05, 0.92, 0.07),
    "centre": shapely.Point(0.3, 0.4).buffer(0.06),
    "ring": RING,
    "heart": shapely.box(0.65, 0.65, 0.7, 0.7),
}
PLACES = list(SHAPES.values())


def geojson(shapes=SHAPES):
    """Places as a text of GeoJSON."""
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": json.loads(shapely.to_geojson(shape))}
        for name, shape in shapes.items()
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


def released(epsilon=1, seed=3, **more):
    """A simulated release aimed at the places."""
    options = {"domain": UNIT_SQUARE, "aim": PLACES, "calibrate": False, **more}
    return hg.publish(POINTS, epsilon=epsilon, rng=hg.simulation_rng(seed), **options)


@pytest.fixture(scope="module")
def synopsis():
    """One release, for all that only read it."""
    return released()


def true_counts(shapes):
    """Points in polygons, by shapely."""
    return np.array([np.count_nonzero(shapely.contains_xy(shape, *POINTS.T)) for shape in shapes])


def test_every_point_is_counted_once_in_a_place_or_around_them():
    """At an epsilon without noise, places and all around them sum to all points."""
    exactly = released(epsilon=10**6, method=hg.Staq(deepest=6))

    assert exactly.places.values.values.tolist() == true_counts(PLACES).tolist()
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(POINTS)).outside(exactly.places.areas)
    assert counter.total() == counter.rows() == len(POINTS) - true_counts(PLACES).sum()
    assert exactly.total == pytest.approx(len(POINTS), rel=1e-3)


def test_rows_that_are_not_points_are_outside_of_all_places():
    """One of them changes the noisy size around the places by one, and nothing else."""
    rows = np.vstack([POINTS[:10], [[np.nan, 0.5], [7.0, 0.5]]])
    areas = released().places.areas
    one, other = (PointCounter(UNIT_SQUARE, ArrayPoints(each)).outside(areas) for each in (rows, rows[:10]))

    assert one.rows() == other.rows() + 2
    assert one.total() == other.total()


def test_places_have_their_own_counts_whoever_asks(synopsis):
    """By name, as polygons and, where they are boxes, as rectangles."""
    counts = synopsis.places.counts

    assert synopsis.table()["estimate"].to_pylist() == counts.tolist()
    np.testing.assert_allclose(synopsis.count_polygons(PLACES), counts, atol=1e-6)
    assert synopsis.count(PLACES[0].bounds) == pytest.approx(counts[0], abs=1e-6)
    assert synopsis.total_of(["2", "3"]).estimate == counts[2] + counts[3]


def test_answers_add_up(synopsis):
    """Leaves to the total, quarters to the whole, a place and what is around it to what both lie in."""
    bounds = synopsis.partition.bounds()
    quarters = [(x, y, x + 0.5, y + 0.5) for x in (0, 0.5) for y in (0, 0.5)]
    around = shapely.box(0.2, 0.3, 0.4, 0.5)

    np.testing.assert_allclose(synopsis.count(bounds), synopsis.counts, atol=1e-6)
    np.testing.assert_allclose(synopsis.answer(bounds).noise_std ** 2, synopsis.variances, rtol=1e-6, atol=1e-6)
    assert synopsis.count(quarters).sum() == pytest.approx(synopsis.total)
    assert synopsis.count(UNIT_SQUARE.bounds) == pytest.approx(synopsis.total)
    parts = [PLACES[1], around.difference(PLACES[1])]
    assert synopsis.count_polygons(parts).sum() == pytest.approx(synopsis.count_polygons(around))


def test_nothing_of_what_is_around_lies_in_places():
    """A tree that was made without the places gives them points; the same tree around them does not."""
    made = released(epsilon=100, method=hg.Staq(deepest=6))
    around, values = made.around_places, made.places.values
    empty = replace(made.places, values=replace(values, values=np.zeros_like(values.values)))

    assert around.count_polygons(PLACES[2]) != 0
    assert around.with_places(empty).count_polygons(PLACES[2]) == pytest.approx(0, abs=1e-6)


def test_places_have_the_whole_budget_and_so_has_what_is_around_them(synopsis):
    """No record is counted under both, so that the account of each is whole."""
    claim = synopsis.claim

    assert synopsis.places.rate == claim.epsilon == 1
    assert sum(spend.epsilon for spend in claim.spends) == 1
    budget = Budget(exact_epsilon(1), bits=hg.simulation_rng(1))
    apart = budget.apart()
    apart.measure(np.zeros(1, np.int64), exact_epsilon(1))
    assert (budget.claim().epsilon, apart.claim().epsilon) == (0, 1)


def test_users_pay_for_each_of_their_records():
    """A user has at most K records in places and around them together; a private total is paid for by both."""
    users = np.arange(len(POINTS)) // 9
    kept = released(user=users, max_per_user=3, scale_to_total="private")
    (total,) = (spend.epsilon for spend in kept.claim.spends if spend.purpose == "total")

    assert 3 * (kept.places.rate + total) == kept.claim.epsilon == 1
    assert kept.table()["estimate"].to_pylist() == pytest.approx((kept.factor * kept.places.counts).tolist())
    np.testing.assert_allclose(kept.count_polygons(PLACES), kept.factor * kept.places.counts, atol=1e-6)
    assert kept.count(UNIT_SQUARE.bounds) == pytest.approx(kept.total)


def test_a_file_holds_the_places_and_verify_finds_it_consistent(tmp_path):
    """Read again, it answers the same; a place that is changed, or cheaper than claimed, is found."""
    path = tmp_path / "stations.dp.parquet"
    made = hg.publish(POINTS, domain=UNIT_SQUARE, epsilon=1, aim=PLACES)
    made.save(path)
    again = hg.read(path)
    rects = RNG.random((50, 2)) * 0.7
    rects = np.hstack([rects, rects + 0.2])

    assert hg.verify(path).ok
    assert [check.detail for check in hg.verify(path).checks if check.name == "places"] == [
        "noise on each of 4 worth 1, a claim of 1"
    ]
    np.testing.assert_array_equal(again.answer(rects).high, made.answer(rects).high)
    assert again.table() == made.table()
    assert "4 places were counted by themselves" in str(hg.describe(path))
    values = made.places.values
    for changed in (
        replace(values, values=values.values + np.array([0, 9, 0, 0])),
        replace(values, rates=(values.rates[0] * 2,)),
    ):
        replace(made, places=replace(made.places, values=changed)).save(path, overwrite=True)
        assert not hg.verify(path).ok


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"values":[', b'"values":[1,'), (b'"rate":"1"', b'"rate":"0"'), (b'"places":{"areas"', b'"places":{"areaz"')],
)
def test_damaged_places_are_refused(tmp_path, synopsis, old, new):
    """Each with an error of the file, before anything is built of them."""
    path = tmp_path / "a.dp.parquet"
    synopsis.save(path, allow_simulation=True)
    footer = pq.read_metadata(path).metadata
    changed = footer[b"hushgrid"].replace(old, new, 1)
    assert changed != footer[b"hushgrid"]
    table, out = pq.ParquetFile(path), pa.BufferOutputStream()
    with pq.ParquetWriter(out, table.schema_arrow.remove_metadata(), store_schema=False) as writer:
        writer.write_table(table.read().replace_schema_metadata(None))
        writer.add_key_value_metadata({**footer, b"hushgrid": changed})

    with pytest.raises(SynopsisFileError):
        parse_release(out.getvalue().to_pybytes(), name="a.dp.parquet")


def test_intervals_hold_in_places_and_elsewhere():
    """95 of 100, of places exactly by the law of their noise; without the calibrated widths elsewhere."""
    low = RNG.random((300, 2)) * 0.8
    rects = np.hstack([low, low + 0.2])
    inside = np.array([np.count_nonzero(((r[:2] <= POINTS) & (r[2:] >= POINTS)).all(axis=1)) for r in rects])
    held_places, held = [], []
    for seed in range(40):
        made = released(epsilon=0.2, seed=seed)
        answer = made.answer_polygons(PLACES)
        held_places.append((answer.low <= true_counts(PLACES)) & (true_counts(PLACES) <= answer.high))
        if seed < 5:
            answer = made.answer(rects)
            held.append((answer.low <= inside) & (inside <= answer.high))

    assert 0.9 <= np.mean(held_places) <= 0.99  # 160 of them: three standard errors
    assert 0.9 <= np.mean(held) <= 1


def test_places_of_files(tmp_path):
    """GeoJSON and GeoParquet, by name; what is no polygon, or is not there, is refused."""
    names = tmp_path / "stations.geojson"
    names.write_text(geojson())
    assert places_aimed_at(str(names)).names == tuple(SHAPES)
    table = pa.table({"name": list(SHAPES), "geometry": shapely.to_wkb(PLACES).tolist()})
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), tmp_path / "stations.parquet")
    assert places_aimed_at(tmp_path / "stations.parquet").names == tuple(SHAPES)
    assert places_aimed_at("200m") is None

    names.write_text(geojson({"somewhere": shapely.Point(0.5, 0.5)}))
    with pytest.raises(ArgumentError, match="Point"):
        ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, aim=names)
    with pytest.raises(InputError, match=r"none\.geojson cannot be read"):
        ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, aim="none.geojson")


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"aim": [shapely.box(0, 0, 0.5, 0.5), shapely.box(0.4, 0.4, 0.6, 0.6)]}, "overlap"),
        ({"aim": [shapely.box(0.5, 0.5, 1.5, 0.6)]}, "outside the domain"),
        ({"method": "ug"}, "aim is for the methods"),
        ({"by": hg.By("kind", values=["a"])}, "together with by"),
        ({"prior": "places"}, "together with prior"),
        ({"user": "who", "max_per_user": 2, "estimate": "all-records"}, "all-records"),
        ({"aim": hg.Areas({"geometry": PLACES, "a": list("aabb"), "b": list("cdef")}, levels=["a", "b"])}, "levels"),
    ],
)
def test_what_does_not_go_together_is_refused(more, complaint):
    """Before anything is opened."""
    with pytest.raises(ArgumentError, match=complaint):
        ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, **{"aim": PLACES, **more})


def test_engines_are_refused():
    """They do not count what lies outside of areas."""
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"lon": POINTS[:, 0], "lat": POINTS[:, 1]}).lazy()
    with pytest.raises(ArgumentError, match="cannot be aimed at places"):
        hg.publish(frame, domain=UNIT_SQUARE, epsilon=1, aim=PLACES)


def test_the_file_of_the_points_is_no_file_of_places(tmp_path):
    """Places must be public."""
    path = tmp_path / "points.parquet"
    shapes = shapely.to_wkb([shapely.box(0.1, 0.1, 0.2, 0.2)]).tolist()
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
    pq.write_table(pa.table({"geometry": shapes}).replace_schema_metadata({"geo": json.dumps(geo)}), path)
    with pytest.raises(ArgumentError, match=r"the aim .* is the points"):
        hg.publish(path, domain=UNIT_SQUARE, epsilon=1, aim=path)


def test_a_ledger_tells_places_apart():
    """One place more is another request."""
    settings = [
        ReleaseRequest.of(domain=UNIT_SQUARE, epsilon=1, aim=aim).for_ledger("trips").parameters
        for aim in (PLACES, PLACES[:3])
    ]
    assert settings[0]["aim"] != settings[1]["aim"]


def test_a_plan_shows_the_trade_on_both_workloads():
    """In places, and in rectangles of three sizes, beside STAQ."""
    cells = [
        shapely.box(x, y, x + 0.005, y + 0.005) for x in np.arange(0.1, 0.9, 0.1) for y in np.arange(0.1, 0.9, 0.1)
    ]
    made = hg.plan(UNIT_SQUARE, points_about=50_000, epsilon=0.1, aim=cells).aim

    assert [each.rectangle for each in made.errors] == ["places", "small", "medium", "large"]
    assert made.errors[0].aimed < 0.6 * made.errors[0].staq
    assert made.places == 64
    assert "64 places" in made.words


def test_one_place_is_spoken_of_as_one():
    """In the words of a plan, and in advice against it."""
    made = hg.plan(UNIT_SQUARE, points_about=4, epsilon=1, aim=shapely.box(0.1, 0.1, 0.4, 0.4)).aim

    assert "Aimed at 1 place:" in made.words
    assert "the count of the place" in made.advice


def test_too_many_places_are_warned_of_in_plan_check_and_release():
    """Of 400 places with 9,000 points at a tenth, most counts would be noise."""
    cells = [shapely.box(x, y, x + 0.02, y + 0.02) for x in np.arange(0, 1, 0.05) for y in np.arange(0, 1, 0.05)]
    options = {"domain": UNIT_SQUARE, "epsilon": 0.1, "calibrate": False}
    warned = "400 places are many for so few points"

    assert warned in hg.plan(UNIT_SQUARE, points_about=9000, epsilon=0.1, aim=cells).aim.advice
    assert any(warned in text for text in hg.check(POINTS, **options, public_size=9000, aim=cells).warnings)
    with pytest.warns(HushgridWarning, match=warned):
        hg.publish(POINTS, **options, aim=cells)  # simulations are not warned of
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not hg.check(POINTS, **options, aim=cells).warnings  # no size is known
        hg.publish(POINTS, **options, aim=PLACES)
