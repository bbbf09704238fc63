"""What every test runs with: a folder for its state, and noise that can be had again.

Noise of releases is fresh each time, and of ten thousand tests that rarely fail one mostly does. Here it follows from
the name of the test, so that a failure can be had again; `pytest --noise fresh` takes the system's, and any other word
gives other noise.
"""

import hashlib
import os
import ssl
from collections import Counter
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

FRESH = "fresh"


class RepeatableBytes:
    """Bytes that follow from a name, in the process that made them; another one gets the system's."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.drawn: Counter[str] = Counter()
        self.process = os.getpid()

    def instead_of(self, system: Any) -> Any:
        """A source to put in a system's place, and to be taken for it while no name is given.

        Each counts what it drew by itself: others take names of files from one of them, in threads of their own.
        """
        called = system.__name__

        def draw(count: int) -> bytes:
            if self.name is None or os.getpid() != self.process:
                return system(count)
            self.drawn[called] += 1
            return hashlib.shake_128(f"{self.name} {called} {self.drawn[called]}".encode()).digest(count)

        return draw


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the noise be chosen."""
    parser.addoption("--noise", default="1", metavar="WORD", help="where noise of releases follows from; or 'fresh'")


def pytest_configure(config: pytest.Config) -> None:
    """Put repeatable bytes where releases look for the system's."""
    bytes_of_tests = RepeatableBytes()
    config.stash[BYTES] = bytes_of_tests
    config.stash[SYSTEM] = ssl.RAND_bytes, os.urandom
    if config.getoption("--noise") != FRESH:
        ssl.RAND_bytes = bytes_of_tests.instead_of(ssl.RAND_bytes)
        os.urandom = bytes_of_tests.instead_of(os.urandom)
        hypothesis.settings.register_profile("repeatable", derandomize=True)
        hypothesis.settings.load_profile("repeatable")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Put the system's back."""
    ssl.RAND_bytes, os.urandom = config.stash[SYSTEM]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Noise of a test follows from its name."""
    return (yield from _named(item.config, item.nodeid))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """Noise of a fixture follows from its own name, whichever test asked for it first."""
    name = f"{request.node.nodeid} {fixturedef.argname} {getattr(request, 'param_index', '')}"
    return (yield from _named(request.config, name))


def _named(config: pytest.Config, name: str) -> Iterator[None]:
    source = config.stash[BYTES]
    before = source.name, source.drawn
    source.name, source.drawn = f"{config.getoption('--noise')} {name}", Counter()
    try:
        return (yield)
    finally:
        source.name, source.drawn = before


BYTES = pytest.StashKey[RepeatableBytes]()
SYSTEM = pytest.StashKey[Any]()


@pytest.fixture(autouse=True, scope="session")
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder of the session's own for the key that runs are resumed with, in processes that tests start, too."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    del os.environ["XDG_STATE_HOME"]
    if before is not None:
        os.environ["XDG_STATE_HOME"] = before
