"""Whether a release is verified with the width of its intervals."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import SynopsisFileError
from hushgrid.methods import METHODS
from hushgrid.release.calibrate import calibrated
from hushgrid.release.verify import EARLIER_PARAMETERS, verify
from hushgrid.synopsis.answer import UNCALIBRATED, VERSION
from tests.plain import UNIT_SQUARE
from tests.tampering import tamper

POINTS = 0.8 * np.random.default_rng(0).random((3000, 2)) ** 2
EVEN = np.random.default_rng(0).random((3000, 2))
OLDER = Path(__file__).parents[2] / "golden" / "0.1.0" / "staq-belief.dp.parquet"
USERS = {"user": np.arange(3000) // 5, "max_per_user": 2, "epsilon": 5}
RELEASES = {
    **{name: {"method": name} for name in METHODS},
    "auto": {},
    "auto, too few points": {"public_size": 3},
    "exact parameters": {"method": hg.AdaptiveGrid(alpha="1/3")},
    "no private size": {"method": "staq", "public_size": 3000},
    "users": {"method": "staq", **USERS},
    "users, no share of records kept": {"method": "staq", **USERS, "kept_share": False},
    "users, public total": {"method": "ag", **USERS, "scale_to_total": 3000},
    "users, private total": {"method": "staq", **USERS, "scale_to_total": "private", "max_for_total": 10},
}


def publish(points=POINTS, **arguments):
    return hg.publish(points, domain=UNIT_SQUARE, **{"epsilon": 1, **arguments})


def failures(path):
    """Names of the checks that fail."""
    return {check.name for check in verify(path).checks if not check.ok}


def last(path):
    """What was found of the calibration."""
    check = verify(path).checks[-1]
    assert check.name == "calibration"
    return check.ok, check.detail


@pytest.fixture
def path(tmp_path):
    return tmp_path / "town.dp.parquet"


@pytest.mark.parametrize("name", RELEASES)
def test_a_changed_factor_is_noticed(name, path):
    """Of every method; as it was published, the release passes."""
    publish(**RELEASES[name]).save(path)
    assert failures(path) == set()
    assert last(path) == (True, "follows from the release")

    def widen(release):
        release["calibration"]["factors"][17] *= 1.001

    tamper(path, edit=widen)
    assert failures(path) == {"calibration"}


@pytest.mark.parametrize("name", EARLIER_PARAMETERS)
def test_a_tree_of_an_earlier_build_is_opened_and_not_recomputed(name, path):
    """Its parameters say that it was made in another way; a parameter more or less is noticed."""
    earlier = {"height": 4, "c": 10.0, "median_share": 0.3, "split_share": 0.3, "stop_below": 32, "switch": 4}
    publish(method=name).save(path)

    def as_before(release):
        release["method"]["parameters"] = {known: earlier.get(known, "kd") for known in EARLIER_PARAMETERS[name]}

    tamper(path, edit=as_before)
    assert hg.read(path).method.name == name
    assert last(path) == (True, "cannot be recomputed: the method was another one when this was released")

    tamper(path, edit=lambda release: release["method"]["parameters"].pop("height"))
    assert failures(path) == {"calibration"}


def test_a_changed_parameter_of_the_method_is_noticed(path):
    """Factors follow from what the method does with made-up points."""
    publish(method="staq").save(path)
    tamper(path, edit=lambda release: release["method"]["parameters"].update(c=3.0))
    assert failures(path) == {"calibration"}


@pytest.mark.parametrize(
    "parameters", [{"c": -1.0}, {"c": "x"}, {"unknown": 1}, {"first_level": None}, {"growth": 1e300}], ids=str
)
def test_a_method_that_cannot_be_is_noticed(parameters, path):
    """Whatever a file says the parameters were."""
    publish(method="staq").save(path)
    tamper(path, edit=lambda release: release["method"]["parameters"].update(parameters))
    assert failures(path) == {"calibration"}


@pytest.mark.parametrize("wrong", [2**62, -(2**63), 2**63 - 1])
def test_a_measurement_beyond_doubles_is_noticed(wrong, path):
    """Belief propagation cannot tell such a count from those beside it, and that is no crash."""
    publish(POINTS[:300], method="staq", calibrate=False).save(path)
    measured = pq.read_table(path)["measured"].to_pylist()
    measured[0] = wrong
    tamper(path, columns={"measured": measured})

    assert failures(path) == {"counts"}


def test_a_release_without_factors_says_so(path):
    """A release without factors passes, and the check says that it has none."""
    publish(method="ag", calibrate=False).save(path)
    assert last(path) == (True, "none: intervals are as wide as the variances say")


def test_factors_of_areas_follow_from_the_noise(path):
    """Factors of areas pass as the law of the noise has them, and fail when changed."""
    publish(method=hg.Areas([shapely.box(0, 0, 1, 1)])).save(path)
    assert last(path) == (True, "as the law of the noise has it")

    tamper(path, edit=lambda release: release["calibration"]["factors"].__setitem__(4, 9.0))
    assert failures(path) == {"calibration"}


def test_factors_of_an_older_version_cannot_be_recomputed(path):
    """Which is no contradiction; but they do not come with a newer inference."""
    publish(method="ag").save(path)
    tamper(path, edit=lambda release: release["calibration"].pop("version"))
    assert last(path) == (True, "of an older version, which cannot be recomputed")

    publish(method="staq").save(path, overwrite=True)
    tamper(path, edit=lambda release: release["calibration"].pop("version"))
    assert failures(path) == {"calibration"}


def test_factors_of_version_2_are_recomputed(path):
    """By the rule that they were found with; those of even points differ from today's."""
    calibrated(publish(EVEN, method="staq", calibrate=False), version=2).save(path)
    assert hg.read(path).calibration.version == 2
    assert last(path) == (True, "follows from the release")

    tamper(path, edit=lambda release: release["calibration"].update(version=VERSION))
    assert failures(path) == {"calibration"}


def test_a_newer_version_of_calibration_is_refused(path):
    """The message says to upgrade."""
    publish(method="ug").save(path)
    tamper(path, edit=lambda release: release["calibration"].update(version=VERSION + 1))
    with pytest.raises(SynopsisFileError, match="upgrade"):
        verify(path)


def test_factors_of_a_method_of_ones_own_cannot_be_recomputed(path):
    """The method that is told is taken to find them, and nobody else has it."""
    synopsis = publish(method="ug", calibrate=False)
    named = replace(synopsis, method=replace(synopsis.method, name="mine"))
    assert calibrated(named).calibration == UNCALIBRATED

    calibrated(named, hg.UniformGrid()).save(path)
    assert last(path) == (True, "cannot be recomputed: the method 'mine' is not known to hushgrid")


def test_other_contradictions_come_first(path):
    """Factors are not looked at where counts are wrong."""
    publish(method="ug").save(path)
    counts = pq.read_table(path)["count"].to_numpy().copy()
    counts[3] += 1
    tamper(path, columns={"count": counts})
    assert failures(path) == {"counts"}
    assert "calibration" not in {check.name for check in verify(path).checks}


class TestOlderInference:
    """A release of `belief`, whose counts other machines found otherwise."""

    def test_it_is_read_and_said_what_can_be(self):
        """Counts within a few standard errors, and factors that cannot be recomputed."""
        details = {check.name: check.detail for check in verify(OLDER).checks}

        assert verify(OLDER).ok
        assert "within 3 standard errors: those of the older inference 'belief' differ" in details["counts"]
        assert details["calibration"] == "of an older version, which cannot be recomputed"
        assert hg.read(OLDER).slopes.any()

    def test_a_count_far_off_is_still_noticed(self, path):
        """A count that is off by four standard errors fails the check."""
        shutil.copy(OLDER, path)
        table = pq.read_table(path)
        counts, errors = (table[name].to_numpy().copy() for name in ("count", "std_error"))
        counts[5] += 4 * errors[5]
        tamper(path, columns={"count": counts})

        assert failures(path) == {"counts"}

    def test_it_is_no_longer_published(self, path):
        """The option keeps its name, the file names the version."""
        publish(method=hg.Staq(inference="belief"), calibrate=False).save(path)
        footer = json.loads(pq.read_metadata(path).metadata[b"hushgrid"])

        assert footer["inference"] == "belief-2"
        assert footer["method"]["parameters"]["inference"] == "belief"
