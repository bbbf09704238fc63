"""Defects planted in copies of the build: each is flagged, where it should be, and a sound copy is not."""

import json
import subprocess
import sys

import pytest

from tests.statistical.plants import MORE, SOURCE, TEN, environment, flagged, plant

# Those that go into one copy; exact medians leave no selection to double, and PrivTree has two of its own.
WHERE = {
    "grids divided by true counts": ("taint", "ag"),
    "cuts on true cells": ("taint", "dpcube"),
    "a doubled selection rate": ("loss", "kd"),
    "an inverted fraction in PrivTree's rate": ("loss", "privtree"),
    "areas with a tenth of the noise": ("loss", "areas"),
    "a private total without its cap": ("loss", "ug"),
    "a footer with an exact error": ("taint", "quadtree"),
    "STAQ that decides by true counts": ("taint", "staq"),
}


def test_every_defect_can_still_be_planted():
    """What is to be replaced stands in the source once: found at once, not after half an hour of audits."""
    for name, planted in {**TEN, **MORE}.items():
        for path, old, new in planted.edits:
            assert new != old, (name, path)
            assert (SOURCE / path).read_text().count(old) == 1, (name, path, old)


@pytest.mark.slow
@pytest.mark.parametrize(("edits", "wanted", "part"), [*TEN.values(), *MORE.values()], ids=[*TEN, *MORE])
def test_a_planted_defect_is_flagged(tmp_path, edits, wanted, part):
    """By the experiments that are about it, at the settings of a default audit."""
    assert part in {each[0] for each in flagged(plant(tmp_path, edits), wanted)}


@pytest.mark.slow
def test_a_sound_copy_is_not_flagged(tmp_path):
    """By any of the experiments that find the defects."""
    wanted = "|".join({planted.wanted for planted in (*TEN.values(), *MORE.values())})

    assert flagged(plant(tmp_path, ()), wanted, processes=1) == []


def audited(source):
    """Exit code of `hushgrid audit` on a copy, and what it flags: part and method."""
    command = [sys.executable, "-m", "hushgrid", "audit", "--json"]
    result = subprocess.run(command, env=environment(source), capture_output=True, text=True, check=False)
    checks = json.loads(result.stdout)["checks"]
    return result.returncode, {(check["part"], check["method"]) for check in checks if check["verdict"] == "FLAGGED"}


@pytest.mark.slow
def test_the_default_audit_flags_the_ten_defects(tmp_path):
    """All that do not stand in each other's way in one copy, each where it is; two in copies of their own."""
    together = tuple(edit for name in WHERE for edit in TEN[name].edits)
    code, found = audited(plant(tmp_path / "together", together))

    assert code == 1
    assert found >= set(WHERE.values())
    for name in sorted(set(TEN) - set(WHERE)):
        code, found = audited(plant(tmp_path / name, TEN[name].edits))
        assert code == 1, name
        assert found, name
