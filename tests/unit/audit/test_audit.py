"""The audit as a whole: what it refuses, how it shares its allowance, and the page that it makes."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from html import unescape

import pytest

from hushgrid.audit import audit as audit_module
from hushgrid.audit.audit import FALSE_ALARM, AuditReport, audit, planned
from hushgrid.audit.check import Check, Experiment, Setting, Verdict
from hushgrid.audit.report import CANNOT, report_page, summary
from hushgrid.errors import ArgumentError
from hushgrid.methods import METHODS
from hushgrid.privacy.bits import simulation_rng


@pytest.fixture(scope="module")
def report():
    """A short audit of one method, in memory."""
    return audit(methods=["ug"], runs=50, quick=True, only=in_memory, rng=simulation_rng(2))


def in_memory(title):
    """Whether an experiment needs neither files nor engines, and no method but one."""
    elsewhere = ("CSV", "Parquet", "DuckDB", "polars", "calibrated", "ledger", "areas", "kd", "privtree", "PrivTree")
    return not any(word in title for word in (*elsewhere, "staq", "users"))


@pytest.fixture
def broken(report):
    """An audit with one check flagged."""
    bad = Check(
        part="neighbours",
        title="A <b>title</b>",
        verdict=Verdict.FLAGGED,
        finding="Too much & more.",
        method="ug",
        runs=1000,
        claim=1.0,
        measured=1.5,
    )
    return replace(report, checks=(*report.checks, bad))


def test_a_sound_build_passes(report):
    """Nothing is flagged, and every kind of evidence is there."""
    assert report.ok
    assert report.flagged == ()
    assert {check.part for check in report.checks} == {"taint", "loss", "attacks", "noise", "neighbours"}


def test_the_allowance_is_shared_by_all_tests(report):
    """Every p-value is held against less than its part."""
    limits = {check.least_p for check in report.checks if check.p_value is not None}
    statistical = [check for check in report.checks if check.part in ("noise", "neighbours")]

    assert report.tests == len(statistical)
    assert max(limits) <= FALSE_ALARM / report.tests


def test_progress_rises_from_zero_and_names_what_comes(monkeypatch, report):
    """A share below one, and a title."""
    seen = []
    known = [Experiment(title=f"No. {n}", statistical=1, run=lambda _: report.checks[:1]) for n in range(4)]
    monkeypatch.setattr(audit_module, "planned", lambda _: known)
    audit(progress=lambda *told: seen.append(told))

    assert seen == [(0, "No. 0"), (0.25, "No. 1"), (0.5, "No. 2"), (0.75, "No. 3")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"methods": ["ug", "oracle"]}, "'oracle'"),
        ({"methods": []}, "got none"),
        ({"runs": 10}, "runs=10"),
        ({"runs": 1.5}, "runs=1.5"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "0.001"}, "from 0.01 to 10"),
        ({"epsilon": 50}, "from 0.01 to 10"),
    ],
)
def test_what_cannot_be_audited_is_refused(arguments, words):
    """Before anything is published, and in words that help."""
    with pytest.raises(ArgumentError, match=re.escape(words)):
        audit(**arguments)


def test_the_report_is_plain_json(report):
    """Nothing but values that JSON knows."""
    parsed = json.loads(json.dumps(report.plain(), allow_nan=False))

    assert parsed["ok"] is True
    assert parsed["epsilon"] == "1"
    assert len(parsed["checks"]) == len(report.checks)


def test_the_page_needs_nothing_but_itself(report):
    """No address, no script, and a policy that forbids every request."""
    page = report_page(report)

    assert re.findall(r"https?://|src=|href=|<script|@import|url\(", page) == []
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


def test_the_page_holds_every_check_and_what_it_cannot_show(broken):
    """Titles, findings and verdicts, with marks that HTML would take for its own made harmless."""
    page = report_page(broken)

    assert "<b>title" not in page
    text = unescape(re.sub(r"<[^>]*>", " ", page))
    for check in broken.checks:
        assert unescape(check.finding) in text
    assert page.count("<tr class=") == len(broken.checks)
    assert page.count('<tr class="flagged">') == 1
    assert CANNOT in text


def test_the_summary_says_what_to_do(report, broken):
    """Nothing, or not to publish."""
    assert "Nothing was flagged" in summary(report)
    assert summary(broken).startswith("1 check was flagged")
    assert "Do not publish" in summary(broken)


def test_an_empty_report_is_fine():
    """A report without checks flags nothing."""
    empty = AuditReport(version="0", epsilon=Fraction(1), runs=50, methods=(), checks=(), tests=0)

    assert empty.ok
    assert "Nothing was flagged in 0 checks" in summary(empty)


def test_titles_tell_experiments_apart():
    """Processes find them by their titles."""
    setting = Setting(methods=tuple(METHODS), epsilon=Fraction(1), runs=50)
    titles = [experiment.title for experiment in planned(setting)]

    assert len(titles) == len(set(titles))
    for name in METHODS:
        assert {f"exact: {name}, given sizes", f"neighbours: {name}, a record in an empty spot"} <= set(titles)


def test_processes_find_what_one_process_finds():
    """Every check, in the same order."""
    few = lambda title: title.startswith(("exact: uniform", "noise: Coins", "attacks: Weights"))  # noqa: E731
    options = {"methods": ["uniform"], "runs": 50, "quick": True, "only": few}
    alone, together = audit(**options), audit(**options, processes=2)

    assert [check.title for check in together.checks] == [check.title for check in alone.checks]
    assert together.ok
