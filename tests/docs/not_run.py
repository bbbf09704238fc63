"""The lines of shell that are not run where they stand, each with the reason and the tests that cover it."""

import re
from dataclasses import dataclass

from tests.docs.page import ROOT


@dataclass(frozen=True)
class Exemption:
    """Lines that begin so, why they are not run, and where what they do is tested."""

    begins: str
    reason: str


EXEMPTIONS = (
    Exemption("make demo", "sets up an environment; what it runs: tests/cli/test_demo.py, tests/packaging"),
    Exemption("make test", "this is it: tests"),
    Exemption("pytest", "would run itself: tests"),
    Exemption("make check", "runs before the tests: tests"),
    Exemption("make docs", "builds this site: tests/docs/test_site.py"),
    Exemption("make reproduce", "takes an hour; a small run of it: tests/experiments"),
    Exemption("make bench", "measures for minutes; what it compares: tests/experiments"),
    Exemption("pip install", "needs the network; wheels are installed and tried: tests/packaging"),
    Exemption("python -m pip install", "needs the network; wheels are installed and tried: tests/packaging"),
    Exemption("git clone", "needs the network; a clean copy is built: tests/packaging"),
    Exemption("cd hushgrid", "enters the clone: tests/packaging"),
)


def exemption(line: str) -> Exemption | None:
    """The exemption that a line of shell falls under, if any."""
    return next((each for each in EXEMPTIONS if re.match(rf"{re.escape(each.begins)}(?!\S)", line)), None)


def covered(reason: str) -> bool:
    """Whether a reason names tests that exist.

    Examples
    --------
    >>> covered("needs a cluster: tests/docs/page.py"), covered("too long"), covered("see tests/nowhere.py")
    (True, False, False)
    """
    named = re.findall(r"tests(?:/[\w/]+(?:\.py)?)?", reason)
    return bool(named) and all((ROOT / name).exists() for name in named)
