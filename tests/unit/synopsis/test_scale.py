"""Counts scaled to a total: in answers, cells and files, and checked by verify."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import SynopsisFileError
from hushgrid.files.verify import verify_file
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.claim import CappedTotal, Claim, Spend
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.scale import Scale
from tests.plain import UNIT_SQUARE
from tests.synopses import synopsis_on
from tests.tampering import tamper

RECTS = np.array([[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.7, 0.55], [0.5, 0.5, 0.75, 1.0]])


@pytest.fixture
def plain():
    """A release of kept records."""
    synopsis = synopsis_on(Grid(domain=UNIT_SQUARE, rows=4, columns=4))
    return replace(synopsis, claim=replace(synopsis.claim, unit="user", max_per_unit=5, epsilon=Fraction(5)))


@pytest.fixture
def scaled(plain):
    """A synopsis three times as large."""
    return plain.scaled(Scale.to(round(3 * plain.total), plain.counts, source="public"))


def test_everything_is_multiplied_but_the_measurements(plain, scaled):
    """Counts by the factor, variances by its square; the integers stay."""
    answers, before = scaled.answer(RECTS), plain.answer(RECTS)

    assert scaled.total == pytest.approx(3 * plain.total)
    np.testing.assert_allclose(scaled.count(RECTS), 3 * plain.count(RECTS))
    np.testing.assert_allclose(answers.noise_std, 3 * before.noise_std)
    np.testing.assert_allclose(answers.spread_std**2 - 0.25, 9 * (before.spread_std**2 - 0.25))
    np.testing.assert_allclose(scaled.cells()["count"], 3 * np.array(plain.cells()["count"]))
    np.testing.assert_allclose(scaled.cells()["std_error"], 3 * np.array(plain.cells()["std_error"]))
    assert scaled.measurements is plain.measurements


def test_a_file_keeps_the_scale(scaled, tmp_path):
    """It is read as it was written, and verifies."""
    scaled.save(tmp_path / "a.dp.parquet")
    again = hg.read(tmp_path / "a.dp.parquet")

    assert again.scale == scaled.scale
    np.testing.assert_array_equal(again.counts, scaled.counts)
    np.testing.assert_allclose(again.variances, scaled.variances)
    assert verify_file(tmp_path / "a.dp.parquet").ok


def test_a_release_that_is_not_scaled_has_no_such_key(plain, tmp_path):
    """A file that is not scaled has no new keys: it is what earlier versions wrote."""
    plain.save(tmp_path / "a.dp.parquet")

    def absent(release):
        assert "scale" not in release
        assert "distinct" not in release["claim"]

    tamper(tmp_path / "a.dp.parquet", edit=absent)


FORGED = {
    "another factor": lambda release: release["scale"].update(factor=2.0),
    "another total": lambda release: release["scale"].update(total=7),
    "a private total that nobody paid for": lambda release: release["scale"].update(source="private", cap=50),
}


@pytest.mark.parametrize("edit", FORGED.values(), ids=FORGED)
def test_verify_notices_a_forged_scale(scaled, edit, tmp_path):
    """The factor follows from the measurements and the total, and a private total is paid for."""
    scaled.save(tmp_path / "a.dp.parquet")
    tamper(tmp_path / "a.dp.parquet", edit=edit)
    failed = [check.name for check in verify_file(tmp_path / "a.dp.parquet").checks if not check.ok]

    assert "scale" in failed


def test_a_private_total_must_be_on_the_account(plain, tmp_path):
    """With a spend for it, the file verifies."""
    spends = (Spend(purpose="total", epsilon=Fraction(1, 19), measured=False), *plain.claim.spends)
    claim = replace(plain.claim, spends=spends, epsilon=5 * (1 + Fraction(1, 19)))
    paid = replace(plain, claim=claim)
    paid.scaled(Scale.to(1234, paid.counts, source="private", cap=50)).save(tmp_path / "a.dp.parquet")

    assert verify_file(tmp_path / "a.dp.parquet").ok
    assert hg.read(tmp_path / "a.dp.parquet").claim.total == CappedTotal(value=1234, cap=50)


BROKEN = {
    "an unknown key": {"weight": 1},
    "a factor of zero": {"factor": 0},
    "a negative factor": {"factor": -1.5},
    "a factor whose square is no double": {"factor": 1e200},
    "a factor that nothing could be divided by": {"factor": 1e-300},
    "a total beyond all integers": {"total": 10**40},
    "a text for a factor": {"factor": "2"},
    "an unknown source": {"source": "secret"},
    "a private total without a cap": {"source": "private"},
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_scale_is_an_error(scaled, change, tmp_path):
    """Reading refuses what it does not know."""
    scaled.save(tmp_path / "a.dp.parquet")
    tamper(tmp_path / "a.dp.parquet", edit=lambda release: release["scale"].update(change))

    with pytest.raises(SynopsisFileError, match="scale"):
        hg.read(tmp_path / "a.dp.parquet")


@pytest.mark.parametrize(
    ("total", "counts"),
    [(0, [5.0]), (-20, [5.0]), (100, [0.5]), (100, [-7.0, 2.0]), (100, [0.0])],
    ids=["no total", "negative total", "less than a record", "negative counts", "nothing"],
)
def test_nothing_to_scale_is_no_error(total, counts):
    """Released values decide, and the counts stay as they are."""
    assert Scale.to(total, np.array(counts), source="private", cap=3).factor == 1


def test_words_say_what_is_counted(plain, scaled):
    """Points at record level, kept records at user level, with all that must be known of a scaled total."""
    records = Facts.of(replace(plain, claim=Claim(epsilon=Fraction(1))))
    pairs = replace(plain, claim=replace(plain.claim, distinct=True))
    once = replace(pairs, claim=replace(pairs.claim, max_per_unit=1))
    private = replace(scaled, scale=replace(scaled.scale, source="private", cap=50))
    kept, to_total = Facts.of(plain), Facts.of(scaled)

    assert (records.counted, records.covered, records.caveats, records.per_user) == ("points", "true count", (), "")
    assert (kept.counted, kept.covered, kept.per_user) == ("kept records", "true count of kept records", "5 records")
    assert kept.caveats == (
        "Counts are of kept records, not of all: at most 5 records of each user, chosen at random.",
    )
    assert (to_total.counted, to_total.covered) == ("records in all", "")
    assert (kept.after_bounds(0.9), to_total.after_bounds(0.9)) == ("with 90 % confidence", "by noise alone")
    assert f"a public total of {scaled.scale.total:,}" in to_total.caveats[0]
    assert "at most 50 records of each user" in Facts.of(private).caveats[0]
    assert "33 % of the records were kept" in to_total.caveats[1]
    assert "range by noise alone: it covers neither" in to_total.caveats[2]
    assert (Facts.of(pairs).counted, Facts.of(pairs).per_user) == ("user-area pairs", "5 cells")
    assert "count some users more than once" in Facts.of(pairs).meaning
    assert Facts.of(once).meaning == "Counts are of user-area pairs: a user counts once, in one cell."


def test_the_sentence_names_the_unit_and_the_bound(plain):
    """Users with all their records, and how many of these were kept."""
    one = replace(plain.claim, max_per_unit=1)

    assert "any one user, with all their records," in plain.claim.sentence
    assert plain.claim.sentence.endswith("At most 5 records of each user, chosen at random, were kept.")
    assert one.sentence.endswith("At most 1 record of each user, chosen at random, was kept.")
    assert "each of at most 5 cells" in replace(plain.claim, distinct=True).sentence
    assert "in one cell" in replace(one, distinct=True).sentence
