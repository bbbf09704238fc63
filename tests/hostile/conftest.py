"""How many inputs were tried, and a watch over how long each takes."""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

INPUTS = "hostile inputs"
LONGEST = 120  # seconds on a busy machine; no input here takes one on an idle one


class Tried:
    """A counter of inputs; each has so many seconds, after which it counts as a hang."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._properties = request.node.user_properties
        self.inputs = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """One more input."""
        self.inputs += 1
        signal.alarm(LONGEST)
        try:
            yield
        finally:
            signal.alarm(0)

    def at_least(self, inputs: int) -> None:
        """Guard: the loop above did not come to an early end."""
        assert self.inputs >= inputs
        self._properties.append((INPUTS, self.inputs))


@pytest.fixture
def tried(request: pytest.FixtureRequest) -> Iterator[Tried]:
    """The number of inputs a test has tried."""

    def hang(*_: object) -> None:
        pytest.fail(f"an input took longer than {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, hang)
    yield Tried(request)
    signal.signal(signal.SIGALRM, before)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many inputs each file of tests has tried."""
    totals: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == INPUTS:
                totals[report.nodeid.partition("::")[0]] += value
    if totals:
        terminalreporter.section(INPUTS)
        for name, total in [*sorted(totals.items()), ("all", totals.total())]:
            terminalreporter.write_line(f"{total:8,} {name}")
