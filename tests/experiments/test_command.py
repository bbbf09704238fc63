"""The command ``python -m experiments``."""

import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from experiments import trial
from experiments.__main__ import main
from experiments.datasets import DATASETS, PLACES, SMALL_CLUSTERS
from experiments.figures.exhibit import DASH
from experiments.results import Results

QUICK = ["try", "--dataset", SMALL_CLUSTERS, "--method", "ug", "--method", "ag", "--epsilon", "1", "--workers", "1"]


@pytest.fixture(params=[".jsonl", ".parquet"])
def rows(tmp_path, request):
    """Where rows go."""
    return tmp_path / f"rows{request.param}"


def invoke(*arguments):
    """Outcome of a command."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_a_quick_run_can_be_shown(rows):
    """Mean errors by method, and their ratios to AG's, which are 1 for AG."""
    ran = invoke(*QUICK, "--runs", 2, "-o", rows)
    shown = invoke("show", rows)
    lines = [re.sub(r" ± [.\d]+", "", line).split() for line in shown.stdout.splitlines()]
    means = {
        method: [sum(values) / 2 for values in zip(*_errors(rows, method), strict=True)] for method in ("ug", "ag")
    }

    assert ran.exit_code == shown.exit_code == 0
    assert "4 trials run, 0 were there" in ran.stderr
    assert [line[:4] for line in lines[1:]] == [[SMALL_CLUSTERS, "1", name, "2"] for name in ("ag", "ug")]
    assert lines[1][5] == lines[1][7] == "1.00"
    assert lines[2][5] == f"{means['ug'][0] / means['ag'][0]:.2f}"
    assert lines[2][6:8] == [f"{means['ug'][1]:.1f}", f"{means['ug'][1] / means['ag'][1]:.2f}"]


def _errors(rows, method):
    """Mean relative and absolute errors of each run."""
    return [
        (row["relative_mean"], row["absolute_mean"])
        for row in Results(rows).rows()
        if row["method"] == method and row["queries"] == "all"
    ]


def test_a_second_run_adds_what_is_missing(rows):
    """A second run does only the missing trials, and says how many were there."""
    invoke(*QUICK, "--runs", 1, "-o", rows)

    assert "2 trials run, 2 were there" in invoke(*QUICK, "--runs", 2, "-o", rows).stderr


def test_methods_without_ag_are_shown_without_ratios(rows):
    """There is nothing to compare with."""
    invoke("try", "--dataset", SMALL_CLUSTERS, "--method", "ug", "--epsilon", "0.5", "--runs", 1, "-o", rows)

    assert invoke("show", rows).stdout.splitlines()[1].split().count(DASH) == 2


def test_a_missing_data_set_is_a_plain_error(rows, monkeypatch, tmp_path):
    """A missing data set is an error of one line, and no rows are written."""
    monkeypatch.setattr(trial, "DATASETS", {"us_cvs": replace(DATASETS["us_cvs"], path=tmp_path / "us_cvs.parquet")})
    trial._question.cache_clear()
    outcome = invoke("try", "--dataset", "us_cvs", "--method", "ug", "--epsilon", "1", "--runs", 1, "-o", rows)

    assert outcome.exit_code == 1
    assert outcome.stderr.splitlines()[-1].startswith("Error: data set us_cvs needs the file us_cvs.parquet")
    assert not rows.exists()


@pytest.mark.parametrize(
    "bad", [["--epsilon", "0"], ["--method", "nothing"], ["--dataset", "nowhere"], ["--runs", "0"]]
)
def test_bad_arguments_are_refused(rows, bad):
    """Bad arguments are refused before any trial is run."""
    assert invoke(*QUICK, *bad, "-o", rows).exit_code == 2
    assert not rows.exists()


OWN = ["--domain", "-180,-60,180,90", "--largest-query", "192,96"]


def test_a_file_of_ones_own_can_be_tried(rows, tmp_path):
    """Under its own name, with the same errors as the set it is a copy of, and on two processes too."""
    (tmp_path / "mine.parquet").write_bytes(PLACES.path.read_bytes())
    common = ("--method", "uniform", "--epsilon", 1, "--runs", 2, "-o", rows)
    outcome = invoke("try", "--data-file", tmp_path / "mine.parquet", *OWN, "--dataset", "places", *common)
    found = {row["dataset"]: row for row in Results(rows).rows()}

    assert outcome.exit_code == 0, outcome.output
    assert "4 trials run, 0 were there" in outcome.stderr
    assert found["mine"]["relative_mean"] == found["places"]["relative_mean"]
    assert found["mine"]["key"] != found["places"]["key"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "say what to run on"),
        (["--data-file", "HERE"], "needs --domain W,S,E,N and --largest-query"),
        (["--data-file", "HERE", *OWN[:3], "192"], "two values each"),
        (["--data-file", "HERE", *OWN, "--columns", "x"], "two values each"),
        (["--data-file", "HERE", "--domain", "1,2", *OWN[2:]], "four numbers"),
    ],
    ids=["nothing", "file alone", "half a query", "one column", "half a domain"],
)
def test_a_file_that_is_not_described_is_refused(rows, arguments, complaint):
    """The message says what the description lacks."""
    given = [str(PLACES.path) if argument == "HERE" else argument for argument in arguments]
    outcome = invoke("try", *given, "--method", "ug", "--epsilon", 1, "-o", rows)

    assert outcome.exit_code in (1, 2)
    assert complaint in " ".join(outcome.stderr.split())
    assert not rows.exists()
