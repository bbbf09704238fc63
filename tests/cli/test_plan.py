"""`hushgrid plan`: what to expect of a release, before touching any data."""

import builtins
import io
import json
import os

import pytest

from hushgrid.cli.plan import percent
from hushgrid.plan import epsilon_for, plan
from tests.cli.commands import DOMAIN, Run, assert_refused

GIVEN = ("plan", "--domain", "-74.26,40.48,-73.70,40.92", "--points-about", "200000")


def flat(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def test_people_get_cells_a_table_a_sentence_and_the_assumption(run: Run) -> None:
    """The numbers are the library's, and nothing but the result is written."""
    result = run(*GIVEN, "--epsilon", "0.5")

    made = plan(DOMAIN, points_about=200_000, epsilon="0.5")
    error = made.yardstick
    said = flat(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert all(f"{row.method}: {row.cells:,} cells" in said for row in made.methods)
    assert said.count(" small ") == said.count(" large ") == 2
    assert (
        "With about 200,000 points and epsilon 0.5, the count of a rectangle over 1 % of the domain that holds about "
        f"10,000 points would be off by about {percent(error.relative_std_error)} (95 % of the time by less than "
        f"{percent(error.relative_reach)})."
    ) in said
    assert "Assumed: the points fill 20 % of the domain evenly" in said
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_json_holds_the_same_values(run: Run) -> None:
    """Every number comes back through a JSON parser as the library has it."""
    result = run(*GIVEN, "--epsilon", "0.1", "--size-share", "0.02", "--filled", "0.4", "--json")

    parsed = json.loads(result.stdout)
    made = plan(DOMAIN, points_about=200_000, epsilon="0.1", size_share="0.02", filled=0.4)
    assert parsed["exact_epsilon"] == "1/10"
    assert (parsed["size_share"], parsed["filled"]) == (0.02, 0.4)
    for row, expected in zip(parsed["methods"], made.methods, strict=True):
        assert (row["method"], row["cells"]) == (expected.method, expected.cells)
        assert row["cell_kilometres"] == list(expected.cell_kilometres)
        for values, error in zip(row["errors"], expected.errors, strict=True):
            assert values == {name: getattr(error, name) for name in values}
            assert values["relative_reach"] == error.relative_reach


@pytest.mark.parametrize("accuracy", ["5%", "5 %", "0.05"])
def test_an_accuracy_finds_epsilon(run: Run, accuracy: str) -> None:
    """Written as per cent or as a share."""
    said = run(*GIVEN, "--accuracy", accuracy).stdout

    epsilon = epsilon_for(DOMAIN, points_about=200_000, accuracy=0.05)
    assert said.startswith(f"An error below 5 % takes epsilon {epsilon:g}.\n")
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
        (("--epsilon", "1", "--filled", "2"), "filled"),
        (("--epsilon", "1", "--size-share", "1"), "size_share"),
        (("--epsilon", "1", "--domain", "1,2,3"), "domain"),
    ],
)
def test_bad_options_are_refused_in_one_line(run: Run, options: tuple[str, ...], word: str) -> None:
    """Exit code 2, and the option named."""
    assert_refused(run(*GIVEN, *options), 2, word)
