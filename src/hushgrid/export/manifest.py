"""The manifest of a release: what it protects and means, in plain words and odds."""

import math
from fractions import Fraction

from hushgrid.errors import ArgumentError
from hushgrid.synopsis.answer import ONE_NOISE, UNCALIBRATED
from hushgrid.synopsis.claim import Claim, Unit
from hushgrid.synopsis.meaning import caveats, counted, covered, how_made, sign, sized_by, spent
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.version import __version__

LARGEST = 700.0  # of an epsilon whose exponential is a double; beyond, guesses are as good as certain


def sure_at_most(before: float, epsilon: Fraction) -> float:
    """How sure a reader of a release can be of something they thought as likely as `before`.

    Bayes' rule: the odds grow by a factor of exp(ε) at most.

    Examples
    --------
    >>> round(sure_at_most(0.5, Fraction(1)), 4)  # e / (1 + e)
    0.7311
    """
    return 1 / (1 + (1 - before) / before * math.exp(-min(float(epsilon), LARGEST)))


def sure_at_least(before: float, epsilon: Fraction) -> float:
    """How sure a reader of a release remains of something they thought as likely as `before`.

    Examples
    --------
    >>> round(sure_at_least(0.5, Fraction(1)), 4)  # 1 / (1 + e)
    0.2689
    """
    return 1 - sure_at_most(1 - before, epsilon)


def percent(share: float) -> str:
    """A share in per cent, with two digits of what it lacks to none or to all.

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

RECORD = """\
A record is one row of the table that was handed over. **Whoever has several rows is protected less**: with two, the
odds below change by the square of the factor, with k by its k-th power."""
USER = """\
A user is whoever has one id in the table that was handed over, with all their rows: the odds below hold for a user
however many rows they have. Whoever has two ids counts as two users."""

LEARNED = """\
- *What is true of many.* Where there are many {counted} and where few; that is what the release is for. If it is known
  that you are like the others, it tells about you what it tells about them, whether you are in the data or not.
- *Which of two places.* Whether {yours} at some place or at another: that changes the odds by the square of the
  factor at most, because it is as if one {unit} left and another came.
- *Those who come together.* If it is known that several {unit}s are in the data together or not at all, their factors
  multiply.

They cannot learn more than that about {whom}, and they find no row, no coordinate and no exact count in the release:
there is none. Points that are drawn from it are made up."""

WORDS: dict[Unit, dict[str, str]] = {
    "record": {"yours": "a record of yours was", "whom": "any one record"},
    "user": {"yours": "you were", "whom": "any one user"},
}

OUT_OF_SCOPE = """\
- **Other releases of the same data.** Their epsilons add up; a ledger keeps the account.
- **The machine that made the release**: its disks and logs, temporary tables, and how long the run took. Whoever can
  watch it is trusted.
- **Public arguments.** The domain, the method and its parameters, and every figure that is called public here must not
  have been looked up in the data. No program can see whether they were.
- **Who made the file.** It is the one that was released if its SHA-256 is the one above."""


def manifest(synopsis: Synopsis, *, name: str, sha256: str) -> str:
    """What a release promises in plain words, as Markdown; all of it from released values and public arguments.

    Parameters
    ----------
    synopsis : Synopsis
        The release; a simulation is an error, because it promises nothing.
    name : str
        Of its file.
    sha256 : str
        Of its bytes.
    """
    if synopsis.simulation:
        msg = "a simulated synopsis protects nobody; there is nothing to state in a manifest."
        raise ArgumentError(msg)
    claim = synopsis.claim
    facts = _table({"fact": "value", **_facts(synopsis, name, sha256)})
    sections = {
        "What is protected": f"{claim.sentence}\n\n{RECORD if claim.unit == 'record' else USER}",
        "What an attacker can and cannot learn": _odds(synopsis),
        "What the numbers mean": _numbers(synopsis),
        "How it was made": _table({"part": "as it was", **_making(synopsis)}),
        "What is out of scope": OUT_OF_SCOPE,
    }
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    return f"# About {_code(name)}\n\n{facts}\n\n{body}\n"


def _facts(synopsis: Synopsis, name: str, sha256: str) -> dict[str, str]:
    claim, mark = synopsis.claim, synopsis.ledger
    return {
        "release": _code(name),
        "protects": "each record" if claim.unit == "record" else "each user, with all their records",
        "epsilon": f"{float(claim.epsilon):g}, without a delta",
        **(
            {}
            if claim.unit == "record"
            else {"K, the most that one user adds": f"{claim.max_per_unit:,} {_added(claim)}"}
        ),
        "SHA-256": _code(sha256),
        **({} if mark is None else {"ledger": f"entry {mark.entry} of the data set {_code(mark.dataset)}"}),
        **({} if mark is None else {"head of the ledger": _code(mark.head)}),
        "made with": f"hushgrid {__version__}",
    }


def _odds(synopsis: Synopsis) -> str:
    claim = synopsis.claim
    whose = "a given record of yours is" if claim.unit == "record" else "you are"
    rows = {
        percent(
            before
        ): f"{percent(sure_at_least(before, claim.epsilon))} to {percent(sure_at_most(before, claim.epsilon))}"
        for before in BEFORE
    }
    guess = (
        "Anybody may read the release, knowing whatever they know, with any computer. Someone who thinks it "
        f"{percent(0.5)} likely that {whose} in the data can be at most "
        f"**{percent(sure_at_most(0.5, claim.epsilon))}** sure afterwards."
    )
    table = _table({f"how sure that {whose} in the data": "how sure after reading the release", **rows})
    learned = LEARNED.format(counted=counted(synopsis), unit=claim.unit, **WORDS[claim.unit])
    return f"{guess}\n\n{table}\n\nWhat they can learn:\n\n{learned}"


def _numbers(synopsis: Synopsis) -> str:
    meaning = " ".join(caveats(synopsis)) or "Counts are of points, one for each record in the domain."
    width = "They are as wide as they have to be on average over data sets"
    if synopsis.calibration == ONE_NOISE:
        width = "They are as wide as the noise in the count of one area asks"
    elif synopsis.calibration != UNCALIBRATED:
        width = "Their width was found from the release, by publishing made-up points like it"
    return (
        f"{meaning} They are estimates, with noise; {sign(synopsis)}.\n\n"
        f"An interval of 95 % is made to hold the {covered(synopsis)} 95 times in 100. {width}."
    )


def _making(synopsis: Synopsis) -> dict[str, str]:
    domain, claim = synopsis.domain, synopsis.claim
    bounds = zip(("west", "south", "east", "north"), domain.bounds, strict=True)
    return {
        "domain": ", ".join(f"{name} {bound:.10g}" for name, bound in bounds),
        "reference system": _code(domain.crs),
        "method": how_made(synopsis.method),
        "cells": f"{synopsis.partition.cells:,}",
        "sized by": sized_by(claim),
        "budget": spent(claim),
        "noise": "exact discrete Laplace noise on integer counts, from the operating system's random bits",
    }


def _added(claim: Claim) -> str:
    if claim.distinct:
        return "cells" if claim.max_per_unit > 1 else "cell"
    return "records" if claim.max_per_unit > 1 else "record"


def _table(rows: dict[str, str]) -> str:
    """Rows of two columns, the first of them the heading."""
    heading, *others = (f"| {label} | {text.replace('|', '/')} |" for label, text in rows.items())
    return "\n".join([heading, "|---|---|", *others])


def _code(text: str) -> str:
    # A name may hold anything that can be printed; as code, none of it is markup.
    return f"`{text.replace('`', chr(39))}`"
