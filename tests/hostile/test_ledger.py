"""Ledgers whose chain of hashes holds, and whose events are strange: a LedgerError, or an account of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from hushgrid.ledger.book import GENESIS, link
from hushgrid.ledger.event import Opened, Reserved, encode
from tests.hostile.conftest import Tried
from tests.hostile.outcomes import STRANGE, command, strange_paths
from tests.ledger.places import asked, file_place, new_ledger, tampering


def events() -> list[dict[str, Any]]:
    """A data set and a reservation."""
    request = asked()
    opened = Opened(dataset=request.dataset, budget=request.epsilon * 3, unit=request.unit)
    reserved = Reserved(entry=1, dataset=request.dataset, epsilon=request.epsilon, request=request.text)
    abandoned = {"kind": "abandoned", "entry": 1, "reason": "tired", "charged": True, "time": opened.time}
    return [json.loads(encode(opened)), json.loads(encode(reserved)), abandoned]


def write(place: str, texts: list[str]) -> None:
    """Events, chained as if hushgrid had written them."""
    head = GENESIS
    with tampering(place) as transaction:
        transaction.run("DELETE FROM hushgrid_events")
        for number, text in enumerate(texts, start=1):
            head = link(head, number, text)
            insert = "INSERT INTO hushgrid_events (number, event, hash) VALUES (:number, :event, :hash)"
            transaction.run(insert, number=number, event=text, hash=head)


def use(place: str, tried: Tried) -> None:
    """Every command that reads a ledger."""
    with tried.one():
        for name in ("show", "history", "verify"):
            for options in ([], ["--json"]):
                command("ledger", name, "--ledger", place, *options)


def strange_events(step: int, folder: Path, tried: Tried) -> None:
    place = new_ledger(file_place(folder))
    cases = [
        (number, key, strange)
        for number, event in enumerate(events())
        for key in (*event, "more")
        for strange in STRANGE
    ]
    for number, key, strange in cases[::step]:
        changed = events()
        changed[number][key] = strange
        write(place, [json.dumps(event) for event in changed])
        use(place, tried)


def test_strange_values_in_events(tmp_path: Path, tried: Tried) -> None:
    """Budgets of 500 digits, names that command a terminal, entries at the end of the integers; one case of 19."""
    strange_events(19, tmp_path, tried)
    tried.at_least(35)


@pytest.mark.slow
def test_every_strange_value_in_events(tmp_path: Path, tried: Tried) -> None:
    """All of them, everywhere; one case of 2."""
    strange_events(2, tmp_path, tried)
    tried.at_least(300)


TEXTS = [
    "",
    "[]",
    "[" * 60_000,
    '{"a":' * 10_000,
    "null",
    "{}",
    "\\ud800",
    '{"kind":"opened"}',
    "9" * 10_000,
    "x" * 10**6,
]


def test_events_that_are_none(tmp_path: Path, tried: Tried) -> None:
    """Deep nesting, long numbers, and texts that are no JSON."""
    place = new_ledger(file_place(tmp_path))
    for text in TEXTS:
        write(place, [text])
        use(place, tried)
    tried.at_least(10)


def test_paths_that_are_no_files(tmp_path: Path, tried: Tried) -> None:
    """Folders, pipes, devices, links to themselves and to nowhere, and names too long."""
    for path in strange_paths(tmp_path, "x.ledger").values():
        with tried.one():
            assert command("ledger", "show", "--ledger", path).exit_code == 5
    tried.at_least(10)
