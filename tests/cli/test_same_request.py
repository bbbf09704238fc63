"""Python and the command line ask for the same release by the same options, with the same defaults and warnings."""

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.cli.commands.publish import publish_command as command
from hushgrid.errors import ArgumentError, HushgridWarning
from hushgrid.release import publish as front_door
from hushgrid.release.delivery import Charge
from hushgrid.release.options import DEFAULTS
from hushgrid.release.request import ReleaseRequest
from tests.cli.commands import DOMAIN, Run

GIVEN = ["--domain", ",".join(map(str, DOMAIN.bounds)), "--epsilon", "0.5", "-o", "out.dp.parquet"]
USERS = ["--user-column", "who", "--max-per-user", "3"]
METRES = hg.Domain(west=560_000, south=4_480_000, east=620_000, north=4_530_000, crs="EPSG:32618")
LEDGER = ["--dataset", "trips", "--ledger", "my.ledger"]
SAME: dict[str, tuple[list[str], dict[str, Any]]] = {
    "defaults": ([], {}),
    "columns": (["--lon", "x", "--lat", "y"], {"lon": "x", "lat": "y"}),
    "geometry": (["--geometry", "where"], {"geometry": "where"}),
    "points in metres": (["--crs", "EPSG:32618"], {"crs": "EPSG:32618"}),
    "all in metres": (
        ["--domain", "560000,4480000,620000,4530000", "--crs", "EPSG:32618", "--domain-crs", "EPSG:32618"],
        {"domain": METRES},
    ),
    "a grid in metres": (
        ["--domain", "560000,4480000,620000,4530000", "--grid-crs", "EPSG:32618"],
        {"domain": METRES, "crs": "OGC:CRS84"},
    ),
    "signs of CSV": (["--delimiter", "tab", "--decimal", ","], {"delimiter": "\t", "decimal": ","}),
    "method": (["--method", "ag"], {"method": "ag"}),
    "users": (USERS, {"user": "who", "max_per_user": 3}),
    "users without id": ([*USERS, "--missing-user", "own"], {"user": "who", "max_per_user": 3, "missing_user": "own"}),
    "public total": ([*USERS, "--scale-to-total", "9"], {"user": "who", "max_per_user": 3, "scale_to_total": 9}),
    "private total": (
        [*USERS, "--scale-to-total", "private", "--max-for-total", "5"],
        {"user": "who", "max_per_user": 3, "scale_to_total": "private", "max_for_total": 5},
    ),
    "all records": (
        [*USERS, "--estimate", "all-records"],
        {"user": "who", "max_per_user": 3, "estimate": "all-records"},
    ),
    "no share of records kept": (
        [*USERS, "--no-kept-share"],
        {"user": "who", "max_per_user": 3, "kept_share": False},
    ),
    "distinct users": (
        [*USERS, "--distinct-users", "8"],
        {"user": "who", "max_per_user": 3, "distinct": True, "method": hg.UniformGrid(side=8)},
    ),
    "public size": (["--public-size", "400"], {"public_size": 400}),
    "size of the domain": (["--size-from", "domain"], {"size_from": "domain"}),
    "limit on cells": (["--max-cells", "5000"], {"max_cells": 5000}),
    "share of the size": (["--size-share", "1/20"], {"size_share": "0.05"}),
    "a prior": (["--prior", "places"], {"prior": "places"}),
    "slices by kind": (
        ["--by", "kind", "--values", "car,bike", "--other"],
        {"by": hg.By("kind", values=["car", "bike"], other=True)},
    ),
    "slices of time within kinds": (
        [
            "--by",
            "kind",
            "--values",
            "1,2",
            "--time",
            "at",
            "--slices",
            "week",
            "--from",
            "2026-01-05",
            "--to",
            "2026-01-19",
            "--timezone",
            "Asia/Tokyo",
            "--time-unit",
            "ms",
        ],
        {
            "by": [
                hg.By("kind", values=[1, 2]),
                hg.By.time(
                    "at", "week", start="2026-01-05", end="2026-01-19", timezone="Asia/Tokyo", unit="milliseconds"
                ),
            ]
        },
    ),
    "not calibrated": (["--no-calibrate"], {"calibrate": False}),
    "a ledger": (LEDGER, {"dataset": "trips", "ledger": "my.ledger"}),
    "the ledger at hand": (["--dataset", "trips"], {"dataset": "trips"}),
    "another release": ([*LEDGER, "--new-release"], {"dataset": "trips", "ledger": "my.ledger", "new_release": True}),
    "a run cut off": ([*LEDGER, "--resume", "7"], {"dataset": "trips", "ledger": "my.ledger", "resume": 7}),
}


@pytest.mark.parametrize(("typed", "called"), SAME.values(), ids=SAME)
def test_both_ask_for_the_same(typed, called, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request and what pays for it are equal, whichever way they were given."""
    asked: list[tuple[ReleaseRequest, Charge | None]] = []

    def deliver(job: ReleaseRequest, _points: object, *, charge: Charge | None, **_other: object) -> hg.Synopsis:
        asked.append((job, charge))
        raise ArgumentError

    monkeypatch.setattr(front_door, "deliver", deliver)
    run("publish", "points.parquet", *GIVEN, *typed)
    with pytest.raises(ArgumentError):
        hg.publish("points.parquet", **{"domain": DOMAIN, "epsilon": 0.5, **called})

    by_command, by_python = asked
    assert by_command == by_python
    assert by_command[0].for_ledger("trips") == by_python[0].for_ledger("trips")  # with the digest of its prior


def test_every_option_is_on_the_command_line() -> None:
    """Nothing can be asked for in Python alone; `distinct` is called --distinct-users there."""
    options = {parameter.name for parameter in command.params}

    assert DEFAULTS.keys() - options == {"distinct"}
    assert {parameter.section for parameter in command.params if parameter.param_type_name == "option"} == {
        "Points", "Privacy", "Method", "Slices", "Ledger", "Engine", "Check", "Output", "Recipe",
    }  # fmt: skip


def test_help_shows_every_option_with_its_default() -> None:
    """`help(hg.publish)` and editors list options that the function takes by `**`."""
    shown = inspect.signature(hg.publish).parameters

    assert shown.keys() >= DEFAULTS.keys()
    assert all(shown[name].default == value for name, value in DEFAULTS.items())
    headings = re.findall(r"^    (\w[\w, ]*) : ", hg.publish.__doc__, re.MULTILINE)
    assert {name for heading in headings for name in heading.split(", ")} == shown.keys()


def test_an_unknown_option_is_an_error_with_a_guess() -> None:
    """As Python has it for a function that lists its own."""
    with pytest.raises(TypeError, match=r"max_per_usr.*Did you mean .max_per_user"):
        hg.publish([[0.5, 0.5]], domain=DOMAIN, epsilon=1, max_per_usr=3)


def test_both_warn_of_a_domain_that_misses_the_rows(run: Run) -> None:
    """Swapped columns, told by Python's warnings and on stderr in the same words."""
    rows = np.random.default_rng(0).uniform((40.5, -74.2), (40.9, -73.8), (5_000, 2))
    Path("swapped.csv").write_text("lon,lat\n" + "\n".join(f"{x},{y}" for x, y in rows))
    result = run("publish", "swapped.csv", *GIVEN)
    with pytest.warns(HushgridWarning, match="far fewer points") as warned:
        hg.publish("swapped.csv", domain=DOMAIN, epsilon=0.5)

    assert warned[0].filename == __file__
    assert result.exit_code == 0, result.output
    assert f"hushgrid: warning: {warned[0].message}" in result.stderr


def test_both_warn_of_an_epsilon_that_hardly_protects(run: Run) -> None:
    """Simulations are not warned of: they protect nobody whatever epsilon is."""
    Path("one.csv").write_text("lon,lat\n-74,40.7\n")
    result = run("publish", "one.csv", *GIVEN, "--epsilon", "50", "--method", "uniform")
    with pytest.warns(HushgridWarning, match="epsilon 50 protects next to nobody") as warned:
        hg.publish("one.csv", domain=DOMAIN, epsilon=50, method="uniform")

    assert warned[0].filename == __file__
    assert f"hushgrid: warning: {warned[0].message}" in result.stderr
    hg.publish("one.csv", domain=DOMAIN, epsilon=50, method="uniform", rng=hg.simulation_rng(1))


def test_both_find_the_ledger_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no ledger is named, HUSHGRID_LEDGER names it, and else there is a usual name."""
    monkeypatch.delenv("HUSHGRID_LEDGER", raising=False)
    assert Charge.of(ledger=None, dataset="trips").ledger == "hushgrid.ledger"
    monkeypatch.setenv("HUSHGRID_LEDGER", "city.ledger")
    assert Charge.of(ledger=None, dataset="trips").ledger == "city.ledger"
    assert Charge.of(ledger="mine.ledger", dataset="trips").ledger == "mine.ledger"
