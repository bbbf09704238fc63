"""The suites: what each table and figure is made from."""

import math
from fractions import Fraction

import pytest
from click.testing import CliRunner

from experiments.__main__ import main
from experiments.commands import run as run_module
from experiments.datasets import DATASETS, REAL
from experiments.results import Results
from experiments.suites import SUITES
from experiments.suites.suite import ALL_EPSILONS, COVERED_RUNS, ROADS, RUNS, SIDES, sides_around
from experiments.trial import QUERIES, Trial
from experiments.workload import WORKLOADS
from hushgrid.methods import METHODS

NAMES = {
    *("datasets", "table2", "kd", "hierarchies", "ag_first_level", "ag_parameters", "final", "times"),
    *("dimensions", "coverage", "scale", "ablation", "accuracy", "workloads", "aim", "exchangeability", "priors"),
    "slices",
    "months",
}
ROWS = {
    "workloads": len(WORKLOADS),
    "aim": len(WORKLOADS),
    "exchangeability": 1,
    "months": 1,
}  # of a trial; of others, one a query size and one for all
BOTH = [(name, mode) for name in SUITES for mode in ("full", "quick")]


def keys(name, mode="full"):
    """Keys of a suite's trials."""
    return {trial.key for trial in getattr(SUITES[name], mode)}


def sizes(name, dataset, epsilon, method, parameter):
    """Sizes of a method in a suite."""
    return {
        trial.parameters[parameter]
        for trial in SUITES[name].full
        if (trial.dataset, trial.epsilon, trial.method) == (dataset, epsilon, method) and parameter in trial.parameters
    }


def suggested_side(size, epsilon):
    """Guideline 1 in whole numbers: the largest m with m - 1/2 at most the root of N ε / 10."""
    evidence = size * Fraction(str(epsilon)) / 10
    side = math.isqrt(int(evidence)) + 1
    while (side - Fraction(1, 2)) ** 2 > evidence:
        side -= 1
    return max(1, side)


def test_every_table_and_figure_has_a_suite():
    """By the name that the report knows."""
    assert set(SUITES) == NAMES
    assert all(suite.title for suite in SUITES.values())


@pytest.mark.parametrize(("name", "mode"), BOTH)
def test_trials_are_valid(name, mode):
    """Each names a data set that is known, and parameters that its method takes, and comes once."""
    trials = getattr(SUITES[name], mode)

    assert all(trial.dataset in DATASETS and trial.epsilon > 0 and trial.seconds > 0 for trial in trials)
    assert len(keys(name, mode)) == len(trials)
    assert trials or name == "datasets"


@pytest.mark.parametrize("mode", ["full", "quick"])
def test_no_release_is_made_twice(mode):
    """A release is calibrated in every suite or in none, so that its rows are the same ones."""
    trials = [trial for name in SUITES for trial in getattr(SUITES[name], mode) if isinstance(trial, Trial)]
    releases = {(t.dataset, t.method, repr(t.build()), t.epsilon, t.seed, t.workload_seed) for t in trials}

    assert len(releases) == len({trial.key for trial in trials})


def test_quick_suites_run_anywhere():
    """On sets that are bundled or generated, and far fewer trials."""
    quick = [trial for suite in SUITES.values() for trial in suite.quick]

    assert all(DATASETS[trial.dataset].at_hand for trial in quick)
    assert sum(trial.seconds for trial in quick) < 180


def test_a_full_run_is_expected_to_take_about_an_hour():
    """On two processes, with every data set there is; not much more."""
    trials = {trial.key: trial for suite in SUITES.values() for trial in suite.full}

    assert sum(trial.seconds for trial in trials.values()) / 2 < 3900


def test_suites_share_trials():
    """What several figures show is run once."""
    assert keys("accuracy") < keys("ablation")
    assert keys("ag_first_level") < keys("final")
    assert keys("table2") < keys("final")


def test_table_two_tries_sizes_on_both_sides_of_the_suggested_one():
    """For UG and AG, on every set and with every budget; the suggestion by a second way of computing."""
    for dataset in REAL:
        for epsilon in ALL_EPSILONS:
            side = suggested_side(DATASETS[dataset].size, epsilon)
            tried = sizes("table2", dataset, epsilon, "ug", "side")
            tried_first = sizes("table2", dataset, epsilon, "ag", "first_side")
            assert tried == {near for near in SIDES if side <= 4 * near and near <= 4 * side}
            assert tried_first == {near for near in SIDES if side <= 16 * near and near <= side}


@pytest.mark.parametrize(
    ("size", "epsilon", "side"),
    [(1_600_000, 1, 400), (1_000_000, 1, 316), (900_000, 1, 300), (9_000, 1, 30), (1_600_000, 0.1, 126)],
)
def test_the_second_way_gives_the_sizes_of_the_paper(size, epsilon, side):
    """Those of Table II, which the sizes tried lie around."""
    assert suggested_side(size, epsilon) == side
    assert min(sides_around(side)) < side / 2
    assert max(sides_around(side)) > side * 2


def test_privlet_is_run_wherever_the_best_size_of_ug_may_be():
    """The final comparison shows it on that size."""
    for dataset in REAL:
        for epsilon in ALL_EPSILONS:
            on = [sizes("final", dataset, epsilon, method, "side") for method in ("ug", "privlet")]
            assert on[0] == on[1]


@pytest.mark.parametrize("mode", ["full", "quick"])
@pytest.mark.parametrize("name", ["kd", "kd-hybrid", "quadtree"])
def test_trees_are_run_as_their_paper_has_them_and_as_we_do(name, mode):
    """Everywhere both, and they are not the same."""
    trials = getattr(SUITES["kd"], mode)
    ours, papers = ([trial for trial in trials if trial.method == each] for each in (name, f"{name}-paper"))

    assert len(ours) == len(papers) > 0
    assert ours[0].build() == METHODS[name]()
    assert papers[0].build() == METHODS[name].paper() != METHODS[name]()


def test_the_sizes_that_the_paper_names_on_road_are_run():
    """U96 and U400 at ε = 1, on both sets that stand for road, as often as all that is compared."""
    for dataset in ROADS:
        assert {96, 384, 400, 512} <= sizes("kd", dataset, 1.0, "ug", "side")


def test_every_method_is_asked_the_same_rectangles():
    """Run by run, so that comparisons are paired; and no two runs the same."""
    trials = [trial for suite in SUITES.values() for trial in suite.full if isinstance(trial, Trial)]

    assert all(trial.workload_seed == trial.seed for trial in trials)
    assert {trial.seed for trial in SUITES["table2"].full} == set(range(RUNS))


def test_intervals_are_calibrated_in_some_runs_only():
    """Those that coverage looks at; the made-up set has none."""
    trials = [trial for trial in SUITES["final"].full if trial.calibrate]

    assert {trial.seed for trial in trials} == set(range(COVERED_RUNS))
    assert all(not trial.parameters and trial.dataset in REAL for trial in trials)


def test_hierarchies_divide_their_base_grid():
    """Every base grid is a multiple of what is built on it."""
    trials = [trial for trial in SUITES["hierarchies"].full if trial.method == "hierarchy" and trial.parameters]

    assert len({(trial.dataset, trial.parameters["side"]) for trial in trials}) == 3
    for trial in trials:
        assert trial.parameters["side"] % trial.parameters["branching"] ** (trial.parameters["levels"] - 1) == 0


def test_coverage_is_tried_for_every_method():
    """With calibrated intervals, on every set."""
    trials = SUITES["coverage"].full

    assert {trial.method for trial in trials} == {*METHODS, "auto"} - {"aimed"}  # that one is made for one scale
    assert {trial.dataset for trial in trials} == set(REAL)
    assert all(trial.calibrate for trial in trials)


def invoke(*arguments):
    """Outcome of a command."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_a_quick_suite_runs_and_is_resumed(tmp_path):
    """One row a query size and one for all; a second run finds them, and `show` shows the suite alone."""
    rows = tmp_path / "rows.jsonl"
    command = ("run", "dimensions", "datasets", "--quick", "--workers", 1, "-o", rows)
    first, second = invoke(*command), invoke(*command)
    number = len(SUITES["dimensions"].quick)

    assert f"{number} trials run, 0 were there" in first.stderr
    assert f"0 trials run, {number} were there" in second.stderr
    assert len(SUITES["dimensions"].select(Results(rows).rows())) == number * len(QUERIES)
    assert SUITES["kd"].select(Results(rows).rows()) == []
    assert invoke("show", rows, "--suite", "dimensions").exit_code == 0


def test_data_sets_that_are_not_at_hand_are_left_out_and_named(tmp_path, monkeypatch):
    """A run names the data sets that are missing, and goes on without them."""
    monkeypatch.setattr(run_module, "DATASETS", dict.fromkeys(DATASETS, Missing))
    outcome = invoke("run", "accuracy", "--workers", 1, "-o", tmp_path / "rows.jsonl")

    assert outcome.exit_code == 0
    assert "left out, because it is not at hand: us_cvs" in outcome.stderr
    assert "0 trials run" in outcome.stderr


class Missing:
    """A data set whose points cannot be had."""

    at_hand = False


@pytest.mark.slow
def test_all_quick_suites_run(tmp_path):
    """Every quick suite runs, and finds its rows."""
    rows = tmp_path / "rows.jsonl"
    outcome = invoke("run", "--quick", "-o", rows)
    found = Results(rows).rows()

    assert outcome.exit_code == 0, outcome.output
    for name, suite in SUITES.items():
        assert {row["key"] for row in suite.select(found)} == keys(name, "quick")
        assert len(suite.select(found)) == len(suite.quick) * ROWS.get(name, len(QUERIES))
