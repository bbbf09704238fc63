"""The manifest and the registry entry say what the release says, and nothing that it does not."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import yaml

import hushgrid as hg
from hushgrid.export.manifest import manifest_text
from hushgrid.export.registry import registry_entry
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.claim import LedgerMark
from tests.slices import some_slices
from tests.synopses import synopsis_on

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(7).random((5000, 2))
USERS = np.random.default_rng(8).integers(0, 700, 5000)
SHA256 = "ab" * 32
MARK = LedgerMark(dataset="trips | of `2026`", entry=12, head="cd" * 32)

LEVELS: dict[str, dict[str, Any]] = {
    "records": {},
    "users": {"user": USERS, "max_per_user": 3},
    "users, scaled": {"user": USERS, "max_per_user": 3, "scale_to_total": "private"},
    "distinct users": {"user": USERS, "max_per_user": 3, "distinct": True, "method": hg.UniformGrid(side=4)},
    "a public size": {"public_size": 5000, "calibrate": False},
}


@pytest.fixture(scope="module", params=LEVELS.values(), ids=LEVELS)
def synopsis(request: pytest.FixtureRequest) -> hg.Synopsis:
    """A release, charged to a ledger."""
    options = {"method": "ug", **request.param}
    return replace(hg.publish(POINTS, domain=DOMAIN, epsilon=Fraction(1, 2), **options), ledger=MARK)


def said(synopsis: hg.Synopsis | hg.Slices) -> str:
    """The manifest on one line."""
    return " ".join(manifest_text(synopsis, name="trips.dp.parquet", sha256=SHA256).split())


def registered(synopsis: hg.Synopsis | hg.Slices) -> dict[str, Any]:
    """The registry entry as a reader has it."""
    text = registry_entry(synopsis, name="trips.dp.parquet", sha256=SHA256, published="2026-01-31")
    entry: dict[str, Any] = yaml.safe_load(text)
    return entry


def test_the_manifest_states_the_promise(synopsis: hg.Synopsis) -> None:
    """Epsilon, unit, K, the sentence of the claim, the odds, the hash and the entry."""
    text, claim = said(synopsis), synopsis.claim

    assert claim.sentence in text
    assert "| epsilon | 0.5, without a delta |" in text
    assert f"{100 * math.exp(0.5) / (1 + math.exp(0.5)):.0f} %** sure afterwards" in text
    assert SHA256 in text
    assert f"entry 12 of the data set `trips / of '2026'` | | head of the ledger | `{MARK.head}`" in text
    assert ("K, the most that one user adds | 3" in text) == (claim.unit == "user")
    assert ("Whoever has several rows is protected less" in text) == (claim.unit == "record")


def test_the_manifest_says_what_is_counted_and_how(synopsis: hg.Synopsis) -> None:
    """What counts and intervals mean, the method, the domain with its reference system, and where the size is from."""
    text = said(synopsis)
    meant = {
        "record": "Counts are of points",
        "user": "Counts are of user-area" if synopsis.claim.distinct else "Counts are of kept",
    }

    assert meant[synopsis.claim.unit] in text
    assert ("scaled to a noisy total" in text) == (synopsis.scale is not None)
    assert ("An interval of 95 %" in text) == (synopsis.scale is None)
    assert ("by noise alone" in text) == (synopsis.scale is not None)
    assert (synopsis.kept_share is None) == (synopsis.claim.unit == "record" or synopsis.claim.distinct)
    assert synopsis.kept_share is None or synopsis.kept_share.words in text
    assert "| method | ug" in text
    assert "west 0, south 0, east 1, north 1 | | reference system | `OGC:CRS84`" in text
    assert f"| cells | {synopsis.partition.cells:,} |" in text
    assert "| sized by |" in text
    for title in ("What an attacker can and cannot learn", "What is out of scope"):
        assert f"## {title}" in text


def test_a_noisy_size_is_not_shown(synopsis: hg.Synopsis) -> None:
    """Only a declared size may be read as a number of points."""
    size = synopsis.claim.size
    if size is not None:
        shown = f"{size.value:,}" in said(synopsis)
        assert shown == (size.source == "public") or str(synopsis.partition.cells) == str(size.value)


def test_the_registry_entry_has_the_fields_of_the_registry(synopsis: hg.Synopsis) -> None:
    """Those that its records have, in sections of the same names."""
    entry = registered(synopsis)
    deployment = entry["deployment"]

    assert set(entry) == {"url_slug", "deployment"}
    assert entry["url_slug"] == "trips-2026"
    assert list(deployment) == [
        *("basic", "dp_variant", "privacy_loss", "deployment_model"),
        *("accounting", "implementation", "administrative"),
    ]
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_unit"] == f"{synopsis.claim.unit.capitalize()}-level"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert deployment["basic"]["publication_date"] == "2026-01-31"
    assert deployment["deployment_model"]["access_type"] == "Non-interactive"
    assert SHA256 in deployment["implementation"]["mechanisms"]
    assert MARK.head in deployment["deployment_model"]["release_type_details"]


def test_without_a_ledger_none_is_named() -> None:
    """A release on no account says so."""
    synopsis = hg.publish(POINTS, domain=DOMAIN, epsilon=1, method="ug", calibrate=False)

    assert "head of the ledger" not in said(synopsis)
    assert "no ledger was kept" in registered(synopsis)["deployment"]["deployment_model"]["release_type_details"]


@pytest.mark.parametrize("paper", [said, registered])
def test_a_simulation_has_no_papers(paper: Any) -> None:
    """A simulation promises nothing, so its papers are refused."""
    synopsis = hg.publish(POINTS, domain=DOMAIN, epsilon=1, method="ug", rng=hg.simulation_rng(1))

    with pytest.raises(hg.ArgumentError, match="simulated"):
        paper(synopsis)


@pytest.mark.parametrize("kind", ["nested", "areas"])
def test_papers_of_slices_are_about_all_of_them(kind: str) -> None:
    """What divides records, the cells of all, the guarantee of all; nothing of one slice alone."""
    slices = some_slices(kind)
    text, entry = said(slices), registered(slices)["deployment"]
    cells = sum(each.partition.cells for each in slices.values())

    assert slices.claim.sentence in text
    assert text.count("3 slices, by kind (car, bike and =bus; other values are not counted)") == 2
    assert "What lies in none of them is not counted" in text
    assert f"| cells | {cells}, of all slices together |" in text
    assert "The domain, the slices, the method and its parameters" in text
    assert entry["basic"]["description"].startswith(f"A map of {cells} cells")
    assert "It has 3 slices, by kind" in entry["basic"]["description"]
    assert entry["privacy_loss"]["privacy_parameters"]["epsilon"] == 1
    assert "the slices" in entry["implementation"]["preprocessing_and_hyperparameter_tuning"]


def test_one_slice_of_one_cell_is_written_as_one() -> None:
    """Wherever numbers of slices and cells are told."""
    one = synopsis_on(Grid(domain=DOMAIN, rows=1, columns=1))
    release = hg.Slices(by=hg.By("kind", values=["car"]), parts={"car": one})

    assert "divided into 1 slice, by kind (car" in said(release)
    assert hg.describe(release).in_words()["structure"] == "1 slice of 1 cell each"


def test_papers_without_slices_do_not_speak_of_any(synopsis: hg.Synopsis) -> None:
    """Neither the account nor the entry."""
    assert "slice" not in said(synopsis)
    assert "slice" not in str(registered(synopsis))
