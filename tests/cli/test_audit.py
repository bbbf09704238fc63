"""`hushgrid audit`: the audit of the installed build."""

import json
from pathlib import Path

import pytest

from hushgrid.audit import audit as audit_module
from hushgrid.audit.check import Check, Experiment, Verdict
from tests.cli.commands import Run, assert_refused


def planned(verdict: Verdict) -> Experiment:
    """An experiment whose result is known."""
    check = Check(part="attacks", title="A planted check", verdict=verdict, finding="This was found.")
    return Experiment(title=check.title, statistical=1, run=lambda _error: (check,))


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> object:
    """Make the audit consist of one check."""

    def plant(verdict: Verdict) -> None:
        monkeypatch.setattr(audit_module, "planned", lambda _setting: iter([planned(verdict)]))

    return plant


@pytest.mark.slow
def test_a_sound_build_ends_with_code_0(run: Run) -> None:
    """The checks on stdout, what they mean on stderr, and a page."""
    result = run("audit", "--quick", "--method", "uniform", "--runs", 50, "-o", "audit.html")

    assert result.exit_code == 0, result.output
    assert "FLAGGED" not in result.stdout
    assert "Order of rows" in result.stdout
    assert "cannot prove" in result.stderr
    assert "<title>Privacy audit" in Path("audit.html").read_text()


def test_a_flagged_check_ends_with_code_1(run: Run, outcome) -> None:
    """A flagged check is printed with what was found, and the exit code is 1."""
    outcome(Verdict.FLAGGED)
    result = run("audit")

    assert result.exit_code == 1
    assert "FLAGGED: A planted check. This was found." in result.stdout
    assert "Do not publish" in result.stderr


@pytest.mark.parametrize("verdict", Verdict)
def test_json_holds_every_check(run: Run, outcome, verdict: Verdict) -> None:
    """JSON holds every check and the exit code says the verdict, whatever it is."""
    outcome(verdict)
    result = run("audit", "--json", "--epsilon", "0.5", "--runs", 100)
    parsed = json.loads(result.stdout)

    assert result.exit_code == (verdict is Verdict.FLAGGED)
    assert parsed["ok"] is (verdict is not Verdict.FLAGGED)
    assert parsed["epsilon"] == "1/2"
    assert [check["verdict"] for check in parsed["checks"]] == [str(verdict)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "oracle"], ["oracle", "ug"]),
        (["--runs", "1"], ["runs", "50"]),
        (["--epsilon", "-1"], ["epsilon"]),
        (["-o", "nowhere/audit.html"], ["nowhere"]),
    ],
)
def test_bad_options_are_refused_at_once(run: Run, options: list[str], words: list[str]) -> None:
    """A bad option ends with exit code 2 and one line."""
    assert_refused(run("audit", *options), 2, *words)


def test_a_report_is_not_replaced_unasked(run: Run, outcome) -> None:
    """A report that exists is replaced only with --overwrite."""
    outcome(Verdict.PASSED)
    Path("audit.html").write_text("mine")

    assert_refused(run("audit", "-o", "audit.html"), 2, "audit.html")
    assert run("audit", "-o", "audit.html", "--overwrite").exit_code == 0
    assert Path("audit.html").read_text() != "mine"
