"""Releases that a public prior sharpens."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import shapely

import hushgrid as hg
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.files.release import COLUMNS, PRIOR
from hushgrid.files.verify import verify_file
from hushgrid.inference import pooled
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.least_squares import node_sums
from hushgrid.methods.staq import Staq
from hushgrid.priors.sharpen import sharpened
from hushgrid.privacy.budget import Budget
from hushgrid.release.calibrate import calibrated
from hushgrid.release.verify import verify
from hushgrid.synopsis.scale import Scale
from tests.plain import UNIT_SQUARE
from tests.priors import PointsPrior, clustered, good_prior, staq, useless_prior
from tests.tampering import tamper

SCHEMA = pa.schema([*COLUMNS, PRIOR])


@pytest.fixture(scope="module")
def release():
    return staq(clustered(20_000, seed=0))


@pytest.fixture(scope="module")
def sharper(release):
    return sharpened(release, good_prior())


def some_rects(size=300):
    """Small and large rectangles in the unit square."""
    rng = np.random.default_rng(8)
    low, side = rng.random((size, 2)), 2.0 ** rng.uniform(-6, -1, (size, 1))
    return np.concatenate([low * (1 - side), low * (1 - side) + side], axis=1)


def mean_error(synopsis, points, rects):
    """Mean absolute error of rectangles."""
    inside = (points[:, None] >= rects[:, :2]) & (points[:, None] <= rects[:, 2:])
    return np.abs(synopsis.count(rects) - inside.all(axis=2).sum(axis=0)).mean()


def test_a_good_prior_lowers_errors():
    """By a quarter and more, over three releases."""
    points, rects = clustered(20_000, seed=0), some_rects()
    releases = [staq(points, seed=seed) for seed in range(3)]
    before = sum(mean_error(each, points, rects) for each in releases)
    after = sum(mean_error(sharpened(each, good_prior()), points, rects) for each in releases)
    assert after < 0.75 * before


def test_a_useless_prior_is_ignored(release):
    """The counts stay bit for bit, and the release says that the prior was ignored."""
    same = sharpened(release, useless_prior())
    assert not same.prior.used
    assert same.prior.nats < 2
    assert same.counts is release.counts
    assert (same.partition, same.inference) == (release.partition, release.inference)


def test_a_prior_that_needs_no_proof_is_followed(release):
    """As the total of slices is; what was measured still says how far."""
    prior = useless_prior()
    prior.needs_proof = False
    followed = sharpened(release, prior)

    assert followed.prior.used
    assert followed.prior.nats == sharpened(release, useless_prior()).prior.nats


@pytest.mark.parametrize("prior", [good_prior(), useless_prior()], ids=["good", "useless"])
def test_publishing_with_a_prior_is_publishing_and_sharpening(prior):
    """Though what was measured is inferred once."""
    points = clustered(20_000, seed=0)
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(points))
    budgets = (Budget(Fraction(1, 10), bits=hg.simulation_rng(7)) for _ in range(2))
    at_once = Staq().release(counter, next(budgets), prior)
    later = sharpened(Staq().release(counter, next(budgets)), prior)

    assert (at_once.inference, at_once.prior.nats) == (later.inference, later.prior.nats)
    assert np.array_equal(at_once.counts, later.counts)
    assert at_once.method == later.method


def test_some_splits_teach_about_as_much_as_all(release, sharper, monkeypatch):
    """An eighth of the nodes of large levels: nats within a fifth, counts within half a standard error."""
    monkeypatch.setattr(pooled, "MOST_TAUGHT", 64)
    thinned = sharpened(release, good_prior())

    assert thinned.prior.nats == pytest.approx(sharper.prior.nats, rel=0.2)
    asked, found = (each.answer(some_rects(), confidence=0.68) for each in (sharper, thinned))
    off = np.abs(found.estimate - asked.estimate) / (asked.high - asked.low)
    assert 0 < off.mean() < 0.25


def test_the_release_says_which_prior_it_used(release):
    """Name, kind, digest and licence are the prior's."""
    prior = replace(good_prior(), name="Places", kind="places", sha256="ab" * 32, licence="CC BY 4.0")
    record = sharpened(release, prior).prior
    assert (record.name, record.kind, record.sha256, record.licence) == ("Places", "places", "ab" * 32, "CC BY 4.0")
    assert record.used
    assert record.nats > 2


def test_leaves_are_divided_further(release, sharper):
    """Every cell of the release is a cell or a number of cells, and none is negative."""
    assert sharper.partition.cells > release.partition.cells
    before, after = ({tuple(box) for box in each.partition.boxes} for each in (release, sharper))
    assert before < after
    assert sharper.counts.min() >= 0


def test_measurements_and_claim_stay(release, sharper):
    """What was measured, and the tree it was measured on, follow from the sharper release."""
    measured = Evidence(sharper.partition, sharper.measurements, sharper.prior.leaves).measured
    assert measured.partition == release.partition
    for found, expected in (
        (measured.measurements.leaves, release.measurements.leaves),
        (measured.measurements.region_values, release.measurements.region_values),
    ):
        np.testing.assert_array_equal(found.values, expected.values)
        assert [found.rates[index] for index in found.rate_index] == [
            expected.rates[index] for index in expected.rate_index
        ]
    assert sharper.claim == release.claim


def test_counts_follow_from_what_a_file_holds(sharper):
    """To the last bit, whatever was known when it was made."""
    evidence = Evidence(sharper.partition, sharper.measurements, sharper.prior.leaves)
    np.testing.assert_array_equal(INFERENCES["belief-prior"].counts(evidence), sharper.counts)


def test_the_prior_is_kept_as_whole_numbers(sharper):
    """Sums over nodes are within a 32nd of the prior's evidence there, not only those of leaves."""
    tree = sharper.partition
    side = tree.boxes[:, 2:] / 2**16
    low = tree.boxes[:, :2] / 2**16
    points = good_prior().points
    nodes = np.random.default_rng(1).choice(tree.nodes, 50)
    expected = [2 * ((points >= low[node]) & (points < side[node])).all(axis=1).sum() for node in nodes]
    found = node_sums(tree, sharper.prior.leaves)[nodes] / 32
    assert np.abs(found - expected).max() <= 1 / 32


def test_noise_is_that_of_what_was_measured(release, sharper):
    """A prior changes no noise; spread is of leaves that were measured."""
    rects = some_rects()
    before, after = release.answer(rects), sharper.answer(rects)
    np.testing.assert_allclose(after.noise_std, before.noise_std, rtol=1e-9)
    many = np.concatenate([rects] * 8)  # enough for the tables of corners
    np.testing.assert_allclose(sharper.answer(many).spread_std[: len(rects)], after.spread_std, rtol=1e-6)


def test_polygons_have_the_answers_of_rectangles(sharper):
    """Estimate and both deviations."""
    rects = some_rects()
    by_rect, by_polygon = sharper.answer(rects), sharper.answer_polygons(shapely.box(*rects.T))
    for name in ("estimate", "noise_std", "spread_std"):
        np.testing.assert_allclose(getattr(by_polygon, name), getattr(by_rect, name), rtol=1e-6, atol=1e-6)


def test_standard_errors_are_shares_of_a_measured_leafs(release, sharper):
    """Squares of a leaf's parts, each times how many there are of its size, average to the leaf's."""
    nodes = sharper.evidence.measured_nodes[release.partition.leaves]
    first, stop = (edge[nodes] for edge in sharper.partition.runs)
    for leaf in np.flatnonzero(stop - first > 1)[:20]:
        parts = slice(first[leaf], stop[leaf])
        assert np.sqrt(sharper.variances[parts]).sum() == pytest.approx(np.sqrt(release.variances[leaf]))


def test_files_of_sharper_releases_are_read_and_verified(sharper, tmp_path):
    """Everything comes back, and follows from the rest."""
    path = tmp_path / "sharp.dp.parquet"
    full = calibrated(sharper)
    full.save(path, allow_simulation=True)
    found = hg.read(path)
    np.testing.assert_array_equal(found.counts, full.counts)
    np.testing.assert_array_equal(found.prior.leaves, full.prior.leaves)
    assert replace(found.prior, leaves=None).__dict__ == replace(full.prior, leaves=None).__dict__
    assert [check.name for check in hg.verify(path).checks if not check.ok] == ["release"]  # it is a simulation


def test_a_prior_beside_a_method_that_has_none_is_found_out(sharper, tmp_path):
    """A calibrated file that names another method is inconsistent, and no unexpected error."""
    path = tmp_path / "s.dp.parquet"
    calibrated(sharper).save(path, allow_simulation=True)
    tamper(path, edit=lambda release: release["method"].update(name="ug", parameters={}))
    report = verify(path)

    assert [check.name for check in report.checks if not check.ok and check.name == "calibration"] == ["calibration"]


def test_files_name_priors_that_were_ignored(release, tmp_path):
    """With what they gained, and without a column."""
    path = tmp_path / "same.dp.parquet"
    same = sharpened(release, useless_prior())
    same.save(path, allow_simulation=True)
    assert hg.read(path).prior.__dict__ == same.prior.__dict__


def test_another_prior_in_the_file_is_found_out(sharper, tmp_path):
    """Counts no longer follow."""
    path = tmp_path / "sharp.dp.parquet"
    sharper.save(path, allow_simulation=True)
    tamper(path, columns={"prior": np.roll(sharper.prior.leaves, 7)}, schema=SCHEMA)
    assert not next(check for check in verify_file(path).checks if check.name == "counts").ok


@pytest.mark.parametrize("leaves", [-1, 2**60], ids=["negative", "huge"])
def test_impossible_priors_in_files_are_refused(sharper, tmp_path, leaves):
    """They would break sums."""
    path = tmp_path / "sharp.dp.parquet"
    sharper.save(path, allow_simulation=True)
    tamper(path, columns={"prior": np.full(sharper.partition.cells, leaves)}, schema=SCHEMA)
    with pytest.raises(hg.SynopsisFileError, match="belief-prior"):
        hg.read(path)


def test_scaled_releases_stay_scaled(release):
    """Counts of a sharper one sum to the same total."""
    scaled = release.scaled(Scale.to(50_000, release.counts, source="public"))
    assert sharpened(scaled, good_prior()).total == pytest.approx(50_000)


def test_a_limit_on_cells_holds():
    """There is no room for all that the prior would divide."""
    release = staq(clustered(20_000, seed=0), max_cells=2000)
    assert sharpened(release, good_prior()).partition.cells <= 2000


def test_other_releases_are_refused(sharper):
    """Of another method, of another inference, and those that are sharp already."""
    points = clustered(500, seed=0)
    others = [
        hg.publish(points, domain=sharper.domain, epsilon=1, method=method, rng=hg.simulation_rng(1))
        for method in ("ug", hg.Staq(inference="bayes"))
    ]
    for release in (*others, sharper):
        with pytest.raises(hg.ArgumentError, match="a prior sharpens releases of staq"):
            sharpened(release, good_prior())


def test_priors_of_nothing_and_of_much_are_taken(release):
    """A prior without evidence is ignored; one with far too much is scaled down."""
    assert not sharpened(release, PointsPrior(np.empty((0, 2)))).prior.used

    class Heavy(PointsPrior):
        def evidence(self, levels, codes):
            return 1e12 * super().evidence(levels, codes)

    assert sharpened(release, Heavy(good_prior().points)).counts.min() >= 0
