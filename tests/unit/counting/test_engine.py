"""What an engine says while it works is not passed on."""

import logging

import pytest

from hushgrid.counting.engine.engine import working
from hushgrid.errors import EngineError


def said_on_the_root(place: str) -> None:
    """A message on the root logger, as from a file of a library."""
    logging.getLogger().handle(logging.LogRecord("root", logging.ERROR, place, 1, "rows: 12.34567", None, None))


def test_what_a_gateway_logs_is_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    """While an engine works, and where it breaks off; what others log is."""

    @working("Spark")
    def breaking_off() -> None:
        said_on_the_root("lib/py4j/clientserver.py")
        said_on_the_root("lib/other.py")
        raise ConnectionResetError

    with pytest.raises(EngineError):
        breaking_off()

    assert len(caplog.records) == 1


def test_afterwards_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """The filter goes with the work, also where work lies within work."""
    with working("Spark"):
        with working("Spark"):
            pass
        said_on_the_root("lib/py4j/clientserver.py")
    said_on_the_root("lib/py4j/clientserver.py")

    assert len(caplog.records) == 1
