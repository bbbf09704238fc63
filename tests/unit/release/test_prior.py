"""Publishing with a prior: by every way in, for users, on a ledger."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.counting.engine.address import Address
from hushgrid.errors import ArgumentError, InputError
from hushgrid.release import knowledge
from hushgrid.release.auto import LEFT_OUT
from hushgrid.release.request import ReleaseRequest

SQUARE = hg.Domain(west=0, south=0, east=1, north=1)
CENTRES = np.random.default_rng(8).uniform(0.1, 0.9, (12, 2))


def crowd(rows: int, seed: int) -> np.ndarray:
    """Points around the centres; those of two seeds are alike, and none is the same."""
    rng = np.random.default_rng(seed)
    return np.clip(CENTRES[rng.integers(0, 12, rows)] + rng.normal(0, 0.01, (rows, 2)), 0, 1)


@pytest.fixture
def prior(tmp_path: Path) -> Path:
    """Public points that lie where the private ones do."""
    path = tmp_path / "stations.parquet"
    x, y = crowd(3000, seed=1).T
    pq.write_table(pa.table({"lon": x, "lat": y, "seats": np.arange(3000) % 7}), path)
    return path


def released(points, prior, seed=4, **options) -> hg.Synopsis:
    """A simulated release with a prior."""
    given = {"domain": SQUARE, "epsilon": 1, "calibrate": False, "rng": hg.simulation_rng(seed)} | options
    return hg.publish(points, prior=prior, **given)


def test_a_good_prior_is_believed_and_lowers_errors(prior):
    """Against the truth of a grid of cells, over ten releases."""
    points = crowd(2000, seed=2)
    edges = np.linspace(0, 1, 33)
    truth = np.histogram2d(*points.T, bins=[edges, edges])[0]
    low_x, low_y = np.meshgrid(edges[:-1], edges[:-1], indexing="ij")
    rects = np.stack([low_x, low_y, low_x + 1 / 32, low_y + 1 / 32], axis=-1).reshape(-1, 4)
    errors = {"none": 0.0, prior: 0.0}
    for seed in range(10):
        for source in errors:
            release = released(points, source, seed=seed, epsilon=0.3)
            errors[source] += np.abs(release.count(rects) - truth.ravel()).mean()

    assert release.prior.used
    assert release.prior.name == "stations.parquet"
    assert errors[prior] < 0.8 * errors["none"]


def test_measurements_and_claim_stay_as_they_are(prior):
    """A prior is post-processing: it costs nothing, and nothing more is measured."""
    points = crowd(2000, seed=2)
    without, sharper = released(points, "none"), released(points, prior)

    assert sharper.claim == without.claim
    assert sharper.count(SQUARE.bounds) == pytest.approx(without.count(SQUARE.bounds), rel=0.05)
    assert sharper.partition.cells > without.partition.cells


@pytest.mark.parametrize("way", ["parquet", "frame", "duckdb", "polars"])
@pytest.mark.parametrize("of_users", [False, True], ids=["records", "users"])
def test_every_way_in_gives_the_same_release(prior, tmp_path, way, of_users):
    """Bit for bit, from the same simulated bits."""
    if way == "polars" and of_users:
        pytest.skip("polars has no SHA-256 to bound users by")
    points = crowd(1500, seed=2)
    users = np.arange(1500) // 3
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1], "who": users})
    if way == "parquet":
        pq.write_table(table, tmp_path / "points.parquet")
        given = tmp_path / "points.parquet"
    elif way == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        connection = duckdb.connect()
        given = connection.from_arrow(table)
    else:
        given = pytest.importorskip("polars").from_arrow(table).lazy() if way == "polars" else table
    by_array = {"user": users, "max_per_user": 2} if of_users else {}
    by_column = {"user": "who", "max_per_user": 2} if of_users else {}
    expected, found = released(points, prior, **by_array), released(given, prior, **by_column)

    assert expected.prior.used
    assert found.prior.nats == expected.prior.nats
    assert np.array_equal(found.counts, expected.counts)
    assert np.array_equal(found.prior.leaves, expected.prior.leaves)


def test_counts_scaled_to_a_total_are_sharpened_too(prior):
    """Kept records of users, scaled to a public total."""
    users = np.arange(1500) // 3
    release = released(crowd(1500, seed=2), prior, user=users, max_per_user=2, scale_to_total=9000)

    assert release.prior.used
    assert release.counts.sum() == pytest.approx(9000)


def test_the_request_knows_its_prior_by_its_digest(prior, tmp_path):
    """Two names of one file are one request; other bytes, and other weights, are others."""

    def key(source, **options) -> str:
        request = ReleaseRequest.of(domain=SQUARE, epsilon=1, prior=source, **options)
        return request.for_ledger("trips").key

    copy, other = tmp_path / "copy.parquet", tmp_path / "other.parquet"
    copy.write_bytes(prior.read_bytes())
    pq.write_table(pq.read_table(prior).slice(1), other)

    assert key(prior) == key(str(copy))
    assert len({key(prior), key(other), key(prior, prior_weight="seats"), key(None)}) == 4
    assert key(None) == key("none")
    assert (
        json.loads(ReleaseRequest.of(domain=SQUARE, epsilon=1).for_ledger("trips").text)["parameters"]
        .keys()
        .isdisjoint({"prior", "prior_weight"})
    )


def test_a_prior_is_opened_before_anything_is_charged(tmp_path):
    """A file that is missing costs nothing, and leaves no entry."""
    from hushgrid.ledger.ledger import open_ledger

    path = tmp_path / "city.ledger"
    with open_ledger(path, create=True) as ledger:
        ledger.add_dataset("trips", budget=1, unit="record")
    with pytest.raises(InputError, match="does not exist"):
        hg.publish(crowd(10, 1), domain=SQUARE, epsilon=1, prior=tmp_path / "gone.tif", ledger=path, dataset="trips")
    with open_ledger(path) as ledger:
        account = ledger.book().account("trips")
        assert (account.left, list(ledger.book().entries)) == (Fraction(1), [])


@pytest.mark.parametrize("method", ["ug", "ag", hg.Staq(inference="bayes"), hg.Staq(inference="least-squares")])
def test_other_methods_are_refused(prior, method):
    """With a method that would do."""
    with pytest.raises(ArgumentError, match="prior sharpens releases by staq") as caught:
        hg.publish("gone.parquet", domain=SQUARE, epsilon=1, method=method, prior=prior)
    assert caught.value.instead == {"method": "staq"}


@pytest.mark.parametrize(
    "given",
    [
        {"method": hg.Areas([shapely.box(0.1, 0.1, 0.2, 0.2)])},
        {"method": hg.UniformGrid(side=4), "distinct": True, "user": "rider", "max_per_user": 2},
        {"aim": "5%"},
        {"aim": "5%", "method": "staq"},
    ],
    ids=["areas", "distinct users", "aim", "aim of staq"],
)
def test_what_is_said_to_give_instead_would_do(prior, given):
    """Another method would not, where cells are given or the release is aimed."""
    with pytest.raises(ArgumentError, match=r"Leave out prior, or") as caught:
        hg.publish("gone.parquet", domain=SQUARE, epsilon=1, prior=prior, **given)
    assert caught.value.instead == {}


def test_a_grid_that_auto_took_leaves_the_prior_out_and_says_so(prior):
    """Where a public size is too small for a tree."""
    release = released(crowd(15, seed=2), prior, public_size=15)

    assert (release.method.name, release.prior) == ("ug", None)
    assert LEFT_OUT in release.method.notes


def test_a_weight_without_a_prior_is_refused():
    with pytest.raises(ArgumentError, match="there is no prior"):
        hg.publish("gone.parquet", domain=SQUARE, epsilon=1, prior_weight="seats")


def test_the_usual_prior_is_one_decision(monkeypatch):
    """It holds for longitude and latitude, and for methods that a prior sharpens."""
    town = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
    metres = hg.Domain(west=560_000, south=4_480_000, east=620_000, north=4_530_000, crs="EPSG:32618")
    monkeypatch.setattr(knowledge, "BY_DEFAULT", "places")

    assert ReleaseRequest.of(domain=town, epsilon=1).prior.kind == "places"
    for options in ({"domain": metres}, {"domain": town, "method": "ag"}, {"domain": town, "prior": "none"}):
        assert ReleaseRequest.of(epsilon=1, **options).prior is None


def test_check_names_the_prior_and_its_licence(tmp_path):
    """A dry run says which prior it would use, and lists what is wrong with one."""
    town = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
    found = hg.check([[0, 0]], domain=town, epsilon=1, prior="places")
    wrong = hg.check([[0, 0]], domain=town, epsilon=1, prior=tmp_path / "gone.tif")

    assert found.ok
    assert "GeoNames places (places, CC BY 4.0, GeoNames;" in str(found).replace("\n           ", " ")
    assert found.to_dict()["request"]["prior"]["kind"] == "places"
    assert "does not exist" in str(wrong.problems[0])


def test_progress_is_told_as_without_a_prior(prior):
    """Whole per cents, each once, to the end."""
    told: list[float] = []
    released(crowd(2000, seed=2), prior, progress=told.append, calibrate=True)

    assert told == [step / 100 for step in range(101)]


@pytest.mark.parametrize("link", [None, Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize(
    "points",
    [
        "points.parquet",
        ".",
        *(
            Address(text=text, engine="duckdb")
            for text in ("points.parquet", "po*.parquet", "SELECT lon, lat FROM 'points.parquet'")
        ),
    ],
    ids=str,
)
def test_the_points_are_no_prior_of_themselves(prior, tmp_path, monkeypatch, points, link):
    """It would carry exact counts into the release, by whatever path, and whoever counts."""
    monkeypatch.chdir(tmp_path)
    prior.rename("points.parquet")
    Path("elsewhere").mkdir()
    named = Path("elsewhere", "..", "points.parquet")
    if link is not None:
        named = Path("elsewhere", "public.parquet")
        link(named, Path("points.parquet").absolute())
    with pytest.raises(ArgumentError, match="is the points that are to be published"):
        released(points, named)


def test_a_file_like_the_points_is_a_prior(prior, tmp_path):
    """Nobody can tell it from a public one."""
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "public.parquet").write_bytes(prior.read_bytes())
    assert released(prior, copy / "public.parquet").prior.used


def test_a_word_that_is_misspelled_is_told(tmp_path, monkeypatch):
    """Rather than a file whose name is like it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "place.parquet").touch()
    with pytest.raises(InputError) as caught:
        released(crowd(10, seed=2), "place")
    assert caught.value.instead == {"prior": "places"}
