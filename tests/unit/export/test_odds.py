"""How sure somebody can be, against Bayes' rule in exact numbers."""

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

from hushgrid.export.manifest import percent, sure_at_least, sure_at_most


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(9, 2)], ids=str)
@pytest.mark.parametrize("before", [0.01, 0.5, 0.9])
def test_odds_change_by_the_factor(before: float, epsilon: Fraction) -> None:
    """Multiplied at most, divided at least, by exp(epsilon)."""
    odds = before / (1 - before)
    most, least = sure_at_most(before, epsilon), sure_at_least(before, epsilon)

    assert most / (1 - most) == pytest.approx(odds * math.exp(epsilon))
    assert least / (1 - least) == pytest.approx(odds / math.exp(epsilon))


def test_a_huge_epsilon_promises_nothing() -> None:
    """No overflow, and no certainty claimed that is not there."""
    assert percent(sure_at_most(0.5, Fraction(10**9))) == "almost 100 %"
    assert percent(sure_at_least(0.5, Fraction(10**9))) == "almost 0 %"


@pytest.mark.parametrize("share", [1e-5, 0.004, 0.0999, 0.25, 0.5, 0.731, 0.995, 0.99991])
def test_percentages_are_close(share: float) -> None:
    """To one in twenty of what is lacking to none or all."""
    written = float(percent(share).removesuffix(" %")) / 100

    assert written == pytest.approx(share, abs=0.05 * min(share, 1 - share))


def test_the_odds_of_other_releases_are_right() -> None:
    """In the table of what others chose, the last column follows from ε in the one before."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "choose-epsilon-and-k.md"
    table = page.read_text(encoding="utf-8").partition("| release |")[2].partition("\n\n")[0]
    rows = re.findall(r"\| ([\d.]+)[^|]*\| ([^|]+) \|$", table, re.MULTILINE)

    assert len(rows) > 10
    assert [most for _, most in rows] == [percent(sure_at_most(0.5, Fraction(epsilon))) for epsilon, _ in rows]
    assert [float(epsilon) for epsilon, _ in rows] == sorted(float(epsilon) for epsilon, _ in rows)
