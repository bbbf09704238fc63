"""The locked requirements of `make demo` and of the tests agree."""

import re
import tomllib

import pytest

from tests.packaging.environment import CORE, EVERYTHING, ROOT

EXTRAS = ROOT / "requirements-extras.lock"


def pins(path):
    """Every package with its version, its markers and its hashes."""
    return set(re.split(r"\n(?=\w)", path.read_text().strip()))


def names(requirements):
    """Names of packages as locks spell them."""
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


@pytest.mark.parametrize(("small", "large"), [(CORE, EXTRAS), (EXTRAS, EVERYTHING)], ids=["core", "extras"])
def test_a_lock_is_part_of_the_next(small, large):
    """Setting up the next environment changes no version of the one before."""
    assert pins(small) < pins(large)


def test_the_demo_brings_what_the_pages_after_it_need():
    """Polygons, pictures and the server."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    assert names(extras["gis"] + extras["plots"] + extras["server"]) <= names(pins(EXTRAS))
