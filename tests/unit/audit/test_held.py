"""All that an object holds: found wherever it is, and the same for the same values."""

import functools
import types
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import hushgrid as hg
from hushgrid.audit.held import held
from hushgrid.counting.memory import ArrayPoints

SQUARE = hg.Domain(west=0, south=0, east=1, north=1)


def release(seed=1, points=((0.5, 0.5),), **options):
    """A small release in slices, or of the points as they are."""
    table = pa.table(
        {"lon": [lon for lon, _ in points], "lat": [lat for _, lat in points], "kind": ["a"] * len(points)}
    )
    options = {"method": hg.UniformGrid(side=2), "rng": hg.simulation_rng(seed), "calibrate": False, **options}
    return hg.publish(table, domain=SQUARE, epsilon=1, **options)


def closed_over(value):
    """A function that knows a value."""
    return lambda: value


HIDING = {
    "an attribute": lambda value: {"hidden": value},
    "a list in an attribute": lambda value: {"hidden": [1, (value,)]},
    "points": lambda value: {"hidden": ArrayPoints(np.array([[0.5, value]]))},
    "a closure": lambda value: {"hidden": closed_over(value)},
    "a part of a call": lambda value: {"hidden": functools.partial(print, value)},
    "a method": lambda value: {"hidden": types.MethodType(closed_over(1), [value])},
    "an array of objects": lambda value: {"hidden": np.array([value, "x"], object)},
    "a table": lambda value: {"hidden": pa.table({"x": [value]})},
}


@pytest.mark.parametrize("by", [None, hg.By("kind", values=["a", "b"])])
@pytest.mark.parametrize("hide", HIDING.values(), ids=HIDING)
def test_what_is_hidden_in_a_release_is_found(hide, by):
    """Whatever holds it; the same is no difference."""
    lines = []
    for value in (3, 3, 4):
        made = release(by=by)
        for name, hidden in hide(value).items():
            object.__setattr__(made, name, hidden)
        lines.append(held(made).decode().splitlines())

    assert lines[0] == lines[1]
    assert lines[0] != lines[2]
    assert all(one == other or one.startswith(".hidden") for one, other in zip(lines[0], lines[2], strict=True))


def test_releases_with_other_noise_hold_other_values():
    """And the same noise makes the same release, all the way down."""
    assert held(release(1)) == held(release(1)) != held(release(2))


def test_what_refers_to_itself_ends():
    """Each object is gone through once."""
    around = [Fraction(1, 3)]
    around.append(around)

    assert held(around).decode() == "[0]: Fraction(1, 3)"
