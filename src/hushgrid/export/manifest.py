"""The manifest: what a release protects and means."""

import math
from dataclasses import replace
from fractions import Fraction

from hushgrid.errors import ArgumentError
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.claim import Unit
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.text import several

LARGEST = 700.0  # of an epsilon whose exponential is a double; beyond, guesses are as good as certain


def sure_at_most(before: float, epsilon: Fraction) -> float:
    """How sure a reader of the release can become.

    `before` is how likely they thought it.

    Bayes' rule: the odds grow by a factor of exp(ε) at most.

    Examples
    --------
    >>> round(sure_at_most(0.5, Fraction(1)), 4)  # e / (1 + e)
    0.7311
    """
    return 1 / (1 + (1 - before) / before * math.exp(-min(float(epsilon), LARGEST)))


def sure_at_least(before: float, epsilon: Fraction) -> float:
    """How sure a reader of the release remains at least.

    Examples
    --------
    >>> round(sure_at_least(0.5, Fraction(1)), 4)  # 1 / (1 + e)
    0.2689
    """
    return 1 - sure_at_most(1 - before, epsilon)


def percent(share: float) -> str:
    """A share in per cent, to two telling digits.

    Examples
    --------
    >>> percent(0.7311), percent(0.0267), percent(0.9), percent(0.99955), percent(1 - 1e-12)
    ('73 %', '2.7 %', '90 %', '99.955 %', 'almost 100 %')
    """
    lacking = min(share, 1 - share)
    if lacking < 1e-6:
        return "almost 100 %" if share > 0.5 else "almost 0 %"
    digits = max(0, 1 - math.floor(math.log10(100 * lacking)))
    return f"{round(100 * share, digits):.8g} %"


BEFORE = (0.01, 0.1, 0.5, 0.9)  # how likely somebody thinks something, before they see the release

ABOUT: dict[Unit, str] = {
    "record": """\
A record is one row of the table that was handed over. **Whoever has several rows is protected less**: with two, the
odds below change by the square of the factor, with k by its k-th power.""",
    "user": """\
A user is whoever has one id in the table that was handed over, with all their rows: the odds below hold for a user
however many rows they have. Whoever has two ids counts as two users.""",
}
WHOSE: dict[Unit, str] = {"record": "a given record of yours is", "user": "you are"}
YOURS: dict[Unit, str] = {"record": "a record of yours was", "user": "you were"}

LEARNED = """\
- *What is true of many.* Where there are many {counted} and where few; that is what the release is for. If it is known
  that you are like the others, it tells about you what it tells about them, whether you are in the data or not.
- *Which of two places.* Whether {yours} at some place or at another: that changes the odds by the square of the
  factor at most, because it is as if one {unit} left and another came.
- *Those who come together.* If it is known that several {unit}s are in the data together or not at all, their factors
  multiply.

They cannot learn more than that about any one {unit}. They find no row, no coordinate and no exact count in the
release: there is none. Points that are drawn from it are made up."""

OUT_OF_SCOPE = """\
- **Other releases of the same data.** Their epsilons add up; a ledger keeps the account.
- **The machine that made the release**: its disks and logs, temporary tables, and how long the run took. Whoever can
  watch it is trusted.
- **Public arguments.** The domain,{slices} the method and its parameters, and every figure that is called public here
  must not have been looked up in the data, and a prior must not have been made from them, but for a release of them. No
  program can see whether they were.
- **Who made the file.** It is the one that was released if its SHA-256 is the one above."""


def manifest_text(release: Synopsis | Slices, *, name: str, sha256: str) -> str:
    """What a release promises, as Markdown.

    All of it follows from released values and public arguments.

    Parameters
    ----------
    release : Synopsis or Slices
        The release; a simulation is an error, because it promises nothing.
    name : str
        Of its file.
    sha256 : str
        Of its bytes.
    """
    if release.simulation:
        msg = "a simulated synopsis protects nobody; there is nothing to state in a manifest."
        raise ArgumentError(msg)
    facts, slices = facts_of(release), about_slices(release)
    sections = {
        "What is protected": "\n\n".join(filter(None, (facts.claim.sentence, facts.period, ABOUT[facts.claim.unit]))),
        "What an attacker can and cannot learn": _odds(facts),
        "What the numbers mean": _numbers(facts, slices),
        "How it was made": _table({"part": "as it was", **_making(facts, slices)}),
        "What is out of scope": OUT_OF_SCOPE.format(slices=" the slices," if slices else ""),
    }
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    return f"# About {_code(name)}\n\n{_table(_heading(facts, name, sha256))}\n\n{body}\n"


def facts_of(release: Synopsis | Slices) -> Facts:
    """The facts about a release; of slices, with the cells of all of them."""
    if isinstance(release, Synopsis):
        return Facts.of(release)
    return replace(Facts.of(release.shown()), cells=sum(each.partition.cells for each in release.values()))


def about_slices(release: Synopsis | Slices) -> str:
    """How records are divided; empty where there are no slices."""
    if isinstance(release, Synopsis):
        return ""
    words = release.by.words()
    return f"{several(len(release), 'slice')}, {words[0].lower()}{words[1:-1]}"


def _heading(facts: Facts, name: str, sha256: str) -> dict[str, str]:
    mark = facts.ledger
    return {
        "fact": "value",
        "release": _code(name),
        "protects": facts.protects,
        "epsilon": f"{float(facts.claim.epsilon):g}, without a delta",
        **({"K, the most that one user adds": facts.per_user} if facts.per_user else {}),
        "SHA-256": _code(sha256),
        **({} if mark is None else {"ledger": f"entry {mark.entry} of the data set {_code(mark.dataset)}"}),
        **({} if mark is None else {"head of the ledger": _code(mark.head)}),
        "made with": facts.made_with,
    }


def _odds(facts: Facts) -> str:
    whose, epsilon = WHOSE[facts.claim.unit], facts.claim.epsilon
    after = {
        percent(before): f"{percent(sure_at_least(before, epsilon))} to {percent(sure_at_most(before, epsilon))}"
        for before in BEFORE
    }
    guess = (
        "Anybody may read the release, knowing whatever they know, with any computer. Someone who thinks it "
        f"{percent(0.5)} likely that {whose} in the data can be at most "
        f"**{percent(sure_at_most(0.5, epsilon))}** sure afterwards."
    )
    table = _table({f"how sure that {whose} in the data": "how sure after reading the release", **after})
    learned = LEARNED.format(counted=facts.counted, unit=facts.claim.unit, yours=YOURS[facts.claim.unit])
    return f"{guess}\n\n{table}\n\nWhat they can learn:\n\n{learned}"


def _numbers(facts: Facts, slices: str) -> str:
    meaning = facts.meaning or "Counts are of points, one for each record in the domain."
    if slices:
        meaning += (
            f" Records are divided into {slices}. What lies in none of them is not counted, and nothing lies in two."
        )
    return (
        f"{meaning} They are estimates, with noise; {facts.sign}.\n\n"
        + (f"An interval of 95 % is made to hold the {facts.covered} 95 times in 100. " if facts.covered else "")
        + f"{facts.width}."
    )


def _making(facts: Facts, slices: str) -> dict[str, str]:
    return {
        "domain": facts.region,
        "reference system": _code(facts.domain.crs),
        "method": facts.how_made,
        **({"slices": slices} if slices else {}),
        "cells": f"{facts.cells:,}{', of all slices together' if slices else ''}",
        **({"prior": facts.prior} if facts.prior else {}),
        "sized by": facts.sized_by,
        "budget": facts.budget,
        "noise": "exact discrete Laplace noise on integer counts, from the operating system's random bits",
    }


def _table(rows: dict[str, str]) -> str:
    """A table of two columns, its heading first."""
    heading, *others = (f"| {label} | {text.replace('|', '/')} |" for label, text in rows.items())
    return "\n".join([heading, "|---|---|", *others])


def _code(text: str) -> str:
    # A name may hold anything that can be printed; as code, none of it is markup.
    return f"`{text.replace('`', chr(39))}`"
