"""Known attacks: each fails on a sound release, and succeeds on one with the flaw."""

import sys
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from hushgrid.audit import replays
from hushgrid.audit.attacks import FILE_ATTACKS, NOTES, attack_experiments
from hushgrid.audit.check import Setting
from hushgrid.audit.replays import POINTS, RECORDS, overheard, sights
from hushgrid.inference.measurements import Measurements
from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release.publish import publish

SETTING = Setting(methods=("ug",), epsilon=Fraction(1), runs=50)


@pytest.fixture(scope="module")
def sight():
    """A release, and all there is to see of it."""
    return sights(replace(SETTING, rng=simulation_rng(1)))["ug"][0]


def with_column(sight, name, values):
    """A sight whose file has another column."""
    index = sight.table.schema.get_field_index(name)
    return replace(sight, table=sight.table.set_column(index, name, pa.array(values)))


def with_values(sight, change):
    """A sight with other measurements."""
    leaves = sight.release.measurements.leaves
    measurements = Measurements.of_leaves(replace(leaves, values=change(leaves.values)))
    return replace(sight, release=replace(sight.release, measurements=measurements))


FLAWS = {
    "The exact number of records": lambda sight: replace(sight, text=f'{{"rows": {RECORDS}}}'),
    "Coordinates of records": lambda sight: with_column(
        sight, "west", np.where(np.arange(sight.table.num_rows) == 7, POINTS[3, 1], sight.table["west"])
    ),
    "Messages while publishing": lambda sight: replace(sight, said="read a row\n"),
    "Empty cells left out": lambda sight: replace(sight, table=sight.table.slice(1)),
    "Order of rows": lambda sight: replace(sight, table=sight.table.sort_by("count")),
    "Bounds taken from the data": lambda sight: with_column(
        sight, "east", np.minimum(sight.table["east"].to_numpy(), 0.41)
    ),
    "Fractions in measurements": lambda sight: with_values(sight, lambda values: values + 0.5),
    "Noise cut off at zero": lambda sight: with_values(sight, lambda values: np.maximum(values, 0)),
    "A claim that does not add up": lambda sight: replace(sight, complaints=("rates",)),
}


@pytest.mark.parametrize("attack", FILE_ATTACKS, ids=lambda attack: attack.title)
def test_an_attack_on_a_file_succeeds_on_its_flaw_only(sight, attack):
    """Each attack finds its planted flaw, and nothing in a sound release."""
    assert not attack.found(sight)
    assert attack.found(FLAWS[attack.title](sight))


def test_every_attack_on_files_has_its_flaw_here():
    """None goes without a control."""
    assert set(FLAWS) == {attack.title for attack in FILE_ATTACKS}


def test_what_is_printed_logged_or_warned_of_is_overheard(caplog):
    """By any of the ways a program may speak."""
    import logging
    import warnings

    with overheard() as said:
        sys.stdout.write("printed\n")
        sys.stderr.write("complained\n")
        logging.getLogger("hushgrid").warning("logged")
        warnings.warn("warned", stacklevel=1)

    assert said.getvalue().split() == ["printed", "complained", "logged", "warned"]


@pytest.mark.filterwarnings("ignore:epsilon:hushgrid.HushgridWarning")
@pytest.mark.parametrize("title", replays.REPLAYS)
def test_replays_fail_on_a_sound_build(title):
    """No replay of a known attack finds anything."""
    replay, _ = replays.REPLAYS[title]

    assert replay(replace(SETTING, methods=("ug", "staq", "privlet"))) is None


def test_a_record_that_causes_an_error_is_found(monkeypatch):
    """A build that raises an error on one record is found out."""

    def strict(points, **arguments):
        if not np.isfinite(points).all():
            raise ValueError
        return publish(points, **arguments)

    monkeypatch.setattr(replays, "publish", strict)

    assert "causes an error (ValueError)" in replays.one_bad_record(SETTING)


def test_records_outside_that_are_moved_inside_are_found(monkeypatch):
    """Clamped to the domain, one more is counted."""
    monkeypatch.setattr(
        replays, "publish", lambda points, **arguments: publish(np.clip(np.nan_to_num(points), 0, 1), **arguments)
    )

    assert "changes counts" in replays.one_bad_record(SETTING)


def test_an_order_that_matters_is_found(monkeypatch):
    """Records that follow one further to the west are lost."""

    def forgetful(points, **arguments):
        return publish(points[1:][np.diff(points[:, 0]) > 0], **arguments)

    monkeypatch.setattr(replays, "publish", forgetful)

    assert "order" in replays.order_of_records(SETTING)


def test_a_fixed_seed_is_found(monkeypatch):
    """In one process, and in two."""
    monkeypatch.setattr(replays, "publish", lambda points, **arguments: publish(points, **arguments | {"rng": rng()}))
    monkeypatch.setattr(replays, "DRAW", replays.DRAW.replace("SystemBits", "simulation_rng").replace("g()", "g(0)"))

    assert replays.repeated_releases(SETTING) is not None
    assert replays.repeated_processes(SETTING) is not None


def rng():
    """A default seed."""
    return simulation_rng(0)


def test_weights_are_found(monkeypatch):
    """An argument for them is enough."""
    monkeypatch.setattr(replays, "publish", lambda points, *, weights=None, **arguments: None)

    assert "weights" in replays.weights(SETTING)


def test_a_budget_that_never_ends_is_found(monkeypatch):
    """A budget that lets spending go on is found out."""
    monkeypatch.setattr(Budget, "_spend", lambda *_, **__: None)

    assert replays.overdrawn_budget(SETTING) is not None


def test_noise_of_the_clock_is_found(monkeypatch):
    """A generator that is seeded with the time draws something else under the same bits of the system."""

    class Clocked(SystemBits):
        def words(self, count):
            return simulation_rng(time.perf_counter_ns()).words(count)

    monkeypatch.setattr(sys.modules["hushgrid.release.publish"], "SystemBits", Clocked)

    assert "elsewhere" in replays.bits_from_elsewhere(SETTING)


def test_a_generator_that_ignores_the_system_is_found(monkeypatch):
    """One that always draws the same."""
    monkeypatch.setattr(sys.modules["hushgrid.release.publish"], "SystemBits", lambda: simulation_rng(1))

    assert "does not depend" in replays.bits_from_elsewhere(SETTING)


def test_a_ledger_that_draws_again_is_found(monkeypatch):
    """Whatever is asked for is another release."""
    monkeypatch.setattr(replays, "publish", lambda points, **given: publish(points, **{**given, "new_release": True}))

    assert "again" in replays.account_of_a_ledger(SETTING)


def test_notes_are_no_verdicts():
    """What no audit can see is said, and not passed."""
    planned = {experiment.title: experiment for experiment in attack_experiments(SETTING)}

    for title in NOTES:
        (check,) = planned[f"attacks: {title}"].run(1e-3)
        assert check.verdict == "not applicable"
