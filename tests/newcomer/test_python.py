"""The same mistakes in Python: the message ends in the arguments that would work."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError, HushgridError, HushgridWarning, InputError, SynopsisFileError
from tests.newcomer.desk import NEW_YORK

POINTS = np.array([[-73.95, 40.75]] * 100)


def publish(points: object = POINTS, **arguments: object) -> hg.Synopsis:
    """Publish with something wrong."""
    given = {"domain": NEW_YORK, "epsilon": 1, "method": "ug", "calibrate": False, "rng": hg.simulation_rng(1)}
    return hg.publish(points, **{**given, **arguments})


MISTAKES: dict[str, tuple[Callable[[], object], type[HushgridError], str]] = {
    "a decimal comma": (lambda: publish(epsilon="1,0"), ArgumentError, "Try epsilon='1.0'."),
    "no epsilon": (lambda: publish(epsilon=0), ArgumentError, "got epsilon=0. Common values are 0.1 to 10; smaller "),
    "a misspelt method": (lambda: publish(method="quad-tree"), ArgumentError, "Try method='quadtree'."),
    "a swapped domain": (
        lambda: hg.Domain(west=35.5, south=139.5, east=35.9, north=140),
        ArgumentError,
        "Try domain=Domain(west=139.5, south=35.5, east=140.0, north=35.9, crs='OGC:CRS84').",
    ),
    "a domain as a tuple": (lambda: publish(domain=(-75, 40, -73, 41)), ArgumentError, "Domain(west=, south=, east="),
    "wrong columns": (
        lambda: publish("rides.parquet"),
        InputError,
        "Try lon='pickup_lon', lat='pickup_lat'.",
    ),
    "a missing file": (lambda: publish("trip.parquet"), InputError, "Try points='trips.parquet'."),
    "a missing release": (lambda: hg.read("trip.dp.parquet"), SynopsisFileError, "Try path='trips.dp.parquet'."),
    "points taken for a release": (lambda: hg.read("trips.parquet"), SynopsisFileError, "hushgrid publish POINTS"),
    "a release taken for points": (lambda: publish("trips.dp.parquet"), InputError, "is a release already"),
    "signs for an array": (lambda: publish(decimal=","), ArgumentError, "and what is in memory is not one"),
    "degrees in a system of metres": (
        lambda: publish(domain=hg.Domain(west=2.2, south=48.8, east=2.4, north=48.9, crs="EPSG:2154")),
        ArgumentError,
        "Try domain=Domain(west=2.2, south=48.8, east=2.4, north=48.9, crs='OGC:CRS84'), crs='EPSG:2154'.",
    ),
    "epsilon in per cent": (lambda: publish(epsilon="50%"), ArgumentError, "Try epsilon=0.5."),
    "no bound on users": (lambda: publish("trips.parquet", user="user"), ArgumentError, "Try max_per_user=10."),
    "confidence in percent": (
        lambda: hg.read("trips.dp.parquet").answer([-74, 40.7, -73.9, 40.8], confidence=95),
        ArgumentError,
        "Try confidence=0.95.",
    ),
}


@pytest.mark.parametrize(("wrong", "kind", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_explained(desk: Path, wrong: Callable[[], object], kind: type[HushgridError], words: str) -> None:
    """By an exception of the right kind, whose message says what to write."""
    with pytest.raises(kind) as caught:
        wrong()

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "given"),
    [({"epsilon": "1,0"}, {}), ({"method": "quad-tree"}, {}), ({"user": "user"}, {"points": "trips.parquet"})],
    ids=["epsilon", "method", "users"],
)
def test_the_arguments_suggested_work(desk: Path, wrong: dict[str, object], given: dict[str, object]) -> None:
    """As they stand in the exception."""
    with pytest.raises(ArgumentError) as caught:
        publish(**given, **wrong)

    assert publish(**given, **{**wrong, **caught.value.instead}).partition.cells > 0


def test_a_warning_points_at_the_call() -> None:
    """However deep in hushgrid it comes from."""
    with pytest.warns(HushgridWarning, match="protects next to nobody") as caught:
        publish(epsilon=50, rng=None)

    assert [warning.filename for warning in caught] == [__file__]


def test_an_error_survives_a_process_boundary() -> None:
    """Pickled and read again, it says the same."""
    error = pickle.loads(pickle.dumps(ArgumentError("epsilon must be above 0.", instead={"epsilon": 1})))

    assert str(error) == "epsilon must be above 0. Try epsilon=1."
    assert error.instead == {"epsilon": 1}
