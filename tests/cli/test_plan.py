"""`hushgrid plan`: what to expect of a release, before touching any data."""

import builtins
import io
import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from hushgrid.methods.staq import Staq
from hushgrid.planning.plan import epsilon_for, plan
from hushgrid.planning.words import about, rounded_percent
from tests.cli.commands import DOMAIN, Run, assert_refused

GIVEN = ("plan", "--domain", "-74.26,40.48,-73.70,40.92", "--points-about", "20000")


def flat(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def test_people_get_cells_a_table_a_sentence_and_the_assumption(run: Run) -> None:
    """The numbers are the library's, and nothing but the result is written."""
    result = run(*GIVEN, "--epsilon", "0.5")

    made = plan(DOMAIN, points_about=20_000, epsilon="0.5")
    error = made.yardstick
    said = flat(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert all(f"{row.method}: about {about(row.cells)} cells" in said for row in made.methods)
    assert said.count(" small ") == said.count(" large ") == 3
    assert (
        "With about 20,000 points and epsilon 0.5, a rectangle over 1 % of the domain, drawn around some point, would "
        f"hold about {about(error.points)} points. Half of such counts would be off by less than "
        f"{rounded_percent(error.relative_typical_error)}, and 95 % of them by less than "
        f"{rounded_percent(error.relative_reach)}."
    ) in said
    assert "Assumed: a made-up population in clumps of all sizes, 95 % of it in 20 % of the domain" in said
    assert "user" not in said
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_people_are_told_what_a_bound_on_users_costs(run: Run) -> None:
    """A table of other bounds, with both sides of each, and the least by both."""
    said = flat(run(*GIVEN, "--epsilon", "2", "--max-per-user", "10").stdout)

    made = plan(DOMAIN, points_about=20_000, epsilon=2, max_per_user=10)
    assert "With about 20,000 points, no more than 10 of them of one user, and epsilon 2, a rectangle" in said
    assert f"95 % of them by less than {rounded_percent(made.yardstick.relative_reach)}." in said
    assert f"it is least at K = {made.bounds.best.max_per_user}." in said
    for row in made.bounds.rows:
        shares = " ".join(map(rounded_percent, (row.kept, row.noise, row.loss, row.together)))
        assert f" {row.max_per_user:,} {shares} " in said


def test_the_points_of_a_slice_are_as_rough_as_those_of_all(run: Run) -> None:
    """A million about, in 24 slices, are not 41,666 each."""
    said = flat(run(*GIVEN[:-1], "1000000", "--epsilon", "1", "--by", "24").stdout)

    assert "With about 42,000 points and epsilon 0.9," in said


def test_time_and_memory_are_told_for_each_method(run: Run) -> None:
    """In the units people would take; more points take longer, and STAQ takes no more cells than it may."""
    few, many = (run(*GIVEN[:-1], size, "--epsilon", "8").stdout for size in ("20000", "20000000"))

    assert re.search(r"Publishing would take about a second and \d+ MB by staq, .* by ag, .* by ug\.", flat(few))
    assert re.search(
        r"Publishing would take about \d+ seconds and \d\.?\d* GB by staq, .* by ag, .* by ug\.", flat(many)
    )
    assert f"staq: about {about(Staq.most_cells)} cells" in many


def test_json_holds_the_same_values(run: Run) -> None:
    """Every number comes back through a JSON parser as the library has it."""
    figures = {"max_per_user": 3, "size_share": "0.02", "filled": 0.4}
    options = ("--max-per-user", "3", "--size-share", "0.02", "--filled", "0.4")
    parsed = json.loads(run(*GIVEN, "--epsilon", "0.1", *options, "--json").stdout)

    made = plan(DOMAIN, points_about=20_000, epsilon="0.1", **figures)
    assert parsed["exact_epsilon"] == "1/10"
    assert (parsed["max_per_user"], parsed["size_share"], parsed["filled"]) == (3, 0.02, 0.4)
    for row, expected in zip(parsed["methods"], made.methods, strict=True):
        assert (row["method"], row["cells"]) == (expected.method, expected.cells)
        assert (row["seconds"], row["memory"]) == (expected.seconds, expected.memory)
        assert row["cell_kilometres"] == list(expected.cell_kilometres)
        assert row["errors"] == [asdict(error) for error in expected.errors]
    assert parsed["users"]["bounds"] == [asdict(row) for row in made.bounds.rows]


@pytest.mark.parametrize("accuracy", ["20%", "20 %", "0.2"])
def test_an_accuracy_finds_epsilon(run: Run, accuracy: str) -> None:
    """Written as per cent or as a share."""
    said = run(*GIVEN, "--accuracy", accuracy).stdout

    epsilon = epsilon_for(DOMAIN, points_about=20_000, accuracy=0.2)
    assert said.startswith(f"An error below 20 % takes epsilon {epsilon:g}.\n")
    assert f"and epsilon {epsilon:g}," in flat(said)


def test_no_file_is_opened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the code is loaded, a plan needs nothing from the disk."""
    first = run(*GIVEN, "--epsilon", "1")

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a file was opened")

    for module in (builtins, io, os):
        monkeypatch.setattr(module, "open", refuse)
    second = run(*GIVEN, "--epsilon", "1")
    monkeypatch.undo()
    assert second.exit_code == 0
    assert second.stdout == first.stdout


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ((), "either --epsilon or"),
        (("--epsilon", "1", "--accuracy", "5%"), "either --epsilon or"),
        (("--epsilon", "0"), "epsilon"),
        (("--epsilon", "much"), "epsilon"),
        (("--accuracy", "5"), "accuracy"),
        (("--accuracy", "0%"), "accuracy"),
        (("--accuracy", "100%"), "accuracy"),
        (("--accuracy", "nan"), "accuracy"),
        (("--accuracy", "5%%"), "accuracy"),
        (("--accuracy", "good"), "accuracy"),
        (("--epsilon", "1", "--points-about", "0"), "points_about"),
        (("--epsilon", "1", "--points-about", "many"), "points-about"),
        (("--epsilon", "1", "--max-per-user", "0"), "max_per_user"),
        (("--epsilon", "1", "--max-per-user", "few"), "max-per-user"),
        (("--epsilon", "1", "--filled", "2"), "filled"),
        (("--epsilon", "1", "--size-share", "1"), "size_share"),
        (("--epsilon", "1", "--domain", "1,2,3"), "domain"),
    ],
)
def test_bad_options_are_refused_in_one_line(run: Run, options: tuple[str, ...], word: str) -> None:
    """The exit code is 2, and the line names the option."""
    assert_refused(run(*GIVEN, *options), 2, word)


STRIPS = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"half": "west" if number < 4 else "east", "strip": f"strip {number}"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[number, 0], [number + 1, 0], [number + 1, 1], [number, 1], [number, 0]]],
            },
        }
        for number in range(9)
    ],
}
ON_AREAS = ("plan", "--areas", "strips.geojson", "--levels", "half,strip")


def test_areas_get_a_table_of_splits(run: Run, tmp_path: Path) -> None:
    """One row a split, the default and the one given marked, and averages where the number of points is known."""
    (tmp_path / "strips.geojson").write_text(json.dumps(STRIPS))
    result = run(*ON_AREAS, "--epsilon", "0.1", "--level-shares", ".3,.7", "--points-about", "9000")
    values = json.loads(run(*ON_AREAS, "--epsilon", "0.1", "--level-shares", ".3,.7", "--json").stdout)
    header, *rows = (line.split() for line in result.stdout.split("\n\n")[0].splitlines())

    assert (result.exit_code, result.stderr) == (0, "")
    assert " ".join(header) == "--level-shares 2 of half 9 of strip all together"
    assert [row[-1] for row in rows if row[-1] in ("given", "default")] == ["default", "given"]
    assert ["0.3,0.7"] in [row[:1] for row in rows]
    assert rows[-1][:2] == ["strip", "alone"]
    assert "Of about 9,000 points, on average and by the shares given, an area of level half holds 4,500" in flat(
        result.stdout
    )
    given = next(split for split in values["splits"] if split["mark"] == "given")
    assert f"± {given['reaches']['half']:.0f}" in result.stdout
    assert given["shares"] == {"half": 0.3, "strip": 0.7}


ON_AREAS_REFUSED = {
    "an accuracy": (["--accuracy", "5%"], "--accuracy is about rectangles"),
    "no budget": ([], "Give either --epsilon or --accuracy"),
    "shares of more than all": (["--epsilon", "1", "--level-shares", ".5,.6"], "sum to 1, got .5 + .6 = 1.1"),
    "a curve": (["--epsilon", "1", "--curve", "k.png"], "--curve draws what a bound on users costs"),
    "an aim": (["--epsilon", "1", "--aim", "200m"], "aim is about rectangles"),
    "records of users": (["--epsilon", "1", "--records-per-user", "5,40"], "records_per_user is about rectangles"),
    "all records": (["--epsilon", "1", "--estimate", "all-records"], "estimate is about rectangles"),
    "a small domain": (["--epsilon", "1", "--domain", "0,0,5,1"], "reaches outside the domain"),
}


@pytest.mark.parametrize(("options", "words"), ON_AREAS_REFUSED.values(), ids=ON_AREAS_REFUSED)
def test_a_plan_for_areas_that_makes_no_sense_is_refused(run: Run, tmp_path: Path, options, words) -> None:
    """With a sentence that says why."""
    (tmp_path / "strips.geojson").write_text(json.dumps(STRIPS))
    result = run(*ON_AREAS, *options)

    assert result.exit_code in (2, 3)
    assert words in flat(result.stderr)


def test_levels_are_about_areas(run: Run) -> None:
    """Without any, there is nothing to divide among."""
    assert_refused(run(*GIVEN, "--epsilon", "1", "--levels", "half,strip"), 2, "without --areas")


def test_a_domain_may_be_in_metres(run: Run) -> None:
    """Named as publish has it; cells are in its units, and the errors are those of the same square in degrees."""
    asked = ("--points-about", "20000", "--epsilon", "1", "--json")
    metres = json.loads(
        run("plan", "--domain", "580000,4500000,600000,4520000", "--domain-crs", "EPSG:32618", *asked).stdout
    )
    degrees = json.loads(run("plan", "--domain", "0,0,1,1", *asked).stdout)

    for one, other in zip(metres["methods"], degrees["methods"], strict=True):
        assert one["errors"] == other["errors"]
        assert one["cell_width"] == pytest.approx(20_000 * other["cell_width"])
        assert one["cell_kilometres"] is None


def test_a_picture_of_another_kind_is_refused(run: Run) -> None:
    """By the option that was given, and with the command that works."""
    result = run(*GIVEN, "--epsilon", "1", "--curve", "k.jpg")

    assert_refused(result, 2, "--curve must end in .png or .svg or .pdf, got k.jpg.")
    assert result.stderr.rstrip().endswith("--curve k.png")
