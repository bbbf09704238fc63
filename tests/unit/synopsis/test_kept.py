"""The share of records kept: its interval, its words, and its place in files."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import SynopsisFileError
from hushgrid.files.verify import verify_file
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.kept import KeptShare, Noisy
from tests.plain import UNIT_SQUARE
from tests.tampering import tamper

KEPT, TOTAL, MOST, CAP = 4000, 10_000, 5, 50
NOISES = {"a noisy total": (1, 800), "both noisy": (300, 700), "noisy counts": (400, 1)}  # scales of Laplace noise


def shares(scales, *, said=1.0, runs=4000):
    """Shares from noisy numbers, whose noise is said to be that many times as large as it is."""
    rng = np.random.default_rng(3)
    of_kept, of_total = scales
    for _ in range(runs):
        kept, total = KEPT + rng.laplace(scale=of_kept), TOTAL + rng.laplace(scale=of_total)
        yield KeptShare.of(
            Noisy(value=kept, variance=2 * (said * of_kept) ** 2),
            Noisy(value=total, variance=2 * (said * of_total) ** 2),
            most=MOST,
            cap=CAP,
        )


@pytest.mark.parametrize("scales", NOISES.values(), ids=NOISES)
def test_the_interval_holds_the_share_as_often_as_it_says(scales):
    """Within four standard errors of 95 %; said to be of noise a third too small, it does not."""
    error = 4 * np.sqrt(0.95 * 0.05 / 4000)
    held = np.mean([share.low <= KEPT / TOTAL <= share.high for share in shares(scales)])
    too_few = np.mean([share.low <= KEPT / TOTAL <= share.high for share in shares(scales, said=2 / 3)])

    assert abs(held - 0.95) < error
    assert too_few < 0.95 - error


@pytest.mark.parametrize(("kept", "total"), [(400.0, -30.0), (400.0, 100.0), (-5.0, 4.0)])
def test_noise_that_drowns_the_total_is_said(kept, total):
    """Then all that is known is that a share is at most one, and at least K over the cap."""
    share = KeptShare.of(Noisy(value=kept, variance=100.0), Noisy(value=total, variance=1e6), most=MOST, cap=CAP)

    assert (share.low, share.high, share.is_known) == (MOST / CAP, 1.0, False)
    assert share.low <= share.estimate <= share.high
    assert "lost in the noise" in share.words


def test_words_have_the_share_its_interval_and_the_cap():
    """In whole per cent, or two digits where there are few."""
    most = Noisy(value=1_000_000, variance=0.0)
    about = KeptShare.of(Noisy(value=430_000, variance=25e6), most, most=2, cap=1000)
    few = KeptShare.of(Noisy(value=4_321, variance=0.0), most, most=2, cap=None)

    assert about.words == (
        "About 43 % of the records were kept (42 to 44 % with 95 % confidence), "
        "counting at most 1,000 of each user; the share of all records is no larger."
    )
    assert few.words == "About 0.43 % of the records were kept (0.43 to 0.43 % with 95 % confidence), by that total."


POINTS = np.random.default_rng(1).random((3000, 2))
USERS = np.arange(3000) // 15
HALVES = hg.Areas([shapely.box(0, 0, 0.4, 1), shapely.box(0.4, 0, 1, 1)])


def published(**options):
    """A release at user level."""
    options = {"method": hg.UniformGrid(side=4), "epsilon": 20, "calibrate": False, **options}
    return hg.publish(POINTS, domain=UNIT_SQUARE, user=USERS, max_per_user=5, **options)


@pytest.mark.parametrize("method", [hg.UniformGrid(side=4), HALVES, "staq", "ag"], ids=["ug", "areas", "staq", "ag"])
def test_the_noise_of_both_numbers_is_that_of_the_release(method):
    """By its claim and its measurements; scaling changes nothing."""
    release = published(method=method)
    claim, cells = release.claim, len(release.measurements.leaves.values)
    total = Noisy(value=claim.total.value, variance=discrete_laplace_variance(Fraction(20, 50 * 50)))
    every = 2 * claim.spends[-1].epsilon ** -2  # about the variance of one count
    by_cell = KeptShare.of(Noisy(value=release.total, variance=float(cells * every)), total, most=5, cap=50)

    assert release.kept_share.estimate == pytest.approx(by_cell.estimate)
    assert release.kept_share.high - release.kept_share.low <= by_cell.high - by_cell.low + 1e-3
    assert release.kept_share.low < 1 / 3 < release.kept_share.high or abs(release.kept_share.estimate - 1 / 3) < 0.1


def test_a_file_keeps_the_total(tmp_path):
    """It is read as it was written, verifies, and tells the same share."""
    release = published()
    release.save(tmp_path / "a.dp.parquet")
    again = hg.read(tmp_path / "a.dp.parquet")

    assert again.claim == release.claim
    assert again.kept_share == release.kept_share
    assert release.kept_share.words in Facts.of(again).caveats
    assert verify_file(tmp_path / "a.dp.parquet").ok


FORGED = {
    "no total, though paid for": lambda claim: claim.pop("total"),
    "a total of records that are all kept": lambda claim: claim.update(unit="record"),
    "a total of users": lambda claim: claim.update(distinct=True),
    "not paid for": lambda claim: claim["spends"][0].update(purpose="counts"),
}


@pytest.mark.parametrize("edit", FORGED.values(), ids=FORGED)
def test_verify_notices_a_forged_total(edit, tmp_path):
    """It goes with a spend, at user level."""
    published().save(tmp_path / "a.dp.parquet")
    tamper(tmp_path / "a.dp.parquet", edit=lambda release: edit(release["claim"]))

    assert "total" in [check.name for check in verify_file(tmp_path / "a.dp.parquet").checks if not check.ok]


def test_verify_notices_a_scale_to_another_total(tmp_path):
    """Counts are scaled to the total that was paid for."""
    release = published(scale_to_total="private")
    other = replace(release.claim, total=replace(release.claim.total, cap=7))
    replace(release, claim=other).save(tmp_path / "a.dp.parquet")

    assert "total" in [check.name for check in verify_file(tmp_path / "a.dp.parquet").checks if not check.ok]


BROKEN = {
    "no cap": {"value": 3},
    "a cap of zero": {"value": 3, "cap": 0},
    "an unknown key": {"value": 3, "cap": 4, "of": 1},
}


@pytest.mark.parametrize("total", BROKEN.values(), ids=BROKEN)
def test_a_broken_total_is_an_error(total, tmp_path):
    """Reading refuses what it does not know."""
    published().save(tmp_path / "a.dp.parquet")
    tamper(tmp_path / "a.dp.parquet", edit=lambda release: release["claim"].update(total=total))

    with pytest.raises(SynopsisFileError, match="total"):
        hg.read(tmp_path / "a.dp.parquet")
