"""The statement: one page about a release, to be signed.

It says what is promised, what somebody can learn, what the file holds and how to check it, in the language of its
readers. Everything follows from the file, but for what its publisher says of themself.
"""

import math
import shlex
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from hushgrid.errors import ArgumentError
from hushgrid.export.language import Language
from hushgrid.export.manifest import BEFORE, percent, sure_at_least, sure_at_most
from hushgrid.export.statement_page import Section, html_page, markdown_text
from hushgrid.files.paths import new_file
from hushgrid.geometry.areas import AreaPartition
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.facts import Facts, total_answer
from hushgrid.synopsis.synopsis import Synopsis

CONFIDENCE = 0.95
LONGEST = {"publisher": 100, "contact": 100, "purpose": 240, "date": 40}  # characters: all of it fits on one page
LONGEST_NAME = 60  # characters that are shown of names in a file, which may be hostile
HTML, MARKDOWN = (".html", ".htm"), (".md", ".markdown")


class Given(NamedTuple):
    """What only the publisher knows; nothing of it is guessed."""

    publisher: str | None = None
    contact: str | None = None
    purpose: str | None = None
    date: str | None = None

    def check(self) -> None:
        """Refuse what would not fit."""
        for name, text in self._asdict().items():
            if text is not None and not 0 < len(text) <= LONGEST[name]:
                msg = f"{name} must be a text of 1 to {LONGEST[name]} characters, so that all fits on one page."
                raise ArgumentError(msg)


@dataclass(frozen=True, kw_only=True)
class Balance:
    """The account of a data set, as its ledger has it.

    Parameters
    ----------
    charged : str
        What this release cost.
    budget, spent, reserved, left : str
        Of the data set, as short decimals or fractions.
    head : str
        Hash of the ledger's last event.
    """

    charged: str
    budget: str
    spent: str
    reserved: str
    left: str
    head: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Statement:
    """One page about a release, to be signed; printing it shows Markdown.

    Parameters
    ----------
    synopsis : Synopsis
        The release; a simulation is an error, because it promises nothing.
    file, sha256 : str
        Name of its file, and of its bytes.
    language : Language
        What it is written in.
    given : Given
        What only the publisher knows.
    balance : Balance, optional
        The state of the ledger that it was charged to.
    """

    synopsis: Synopsis
    file: str
    sha256: str
    language: Language
    given: Given
    balance: Balance | None = None

    def __post_init__(self) -> None:
        if self.synopsis.simulation:
            msg = "a simulated synopsis protects nobody; there is nothing to state about it."
            raise ArgumentError(msg)
        self.given.check()

    def __repr__(self) -> str:
        return self.to_markdown()

    @property
    def facts(self) -> Facts:
        """The facts about the release."""
        return Facts.of(self.synopsis)

    @property
    def total(self) -> Answer:
        """The estimated total, with its interval."""
        return total_answer(self.synopsis, confidence=CONFIDENCE)

    @property
    def odds(self) -> list[dict[str, float]]:
        """How sure somebody can be that a unit is in the data."""
        epsilon = self.synopsis.claim.epsilon
        return [
            {"before": each, "at_least": sure_at_least(each, epsilon), "at_most": sure_at_most(each, epsilon)}
            for each in BEFORE
        ]

    def to_markdown(self) -> str:
        """The statement as Markdown, without the drawing."""
        return markdown_text(self.language, code(self.file), self.heading(), self.sections(), self.facts.made_with)

    def to_html(self) -> str:
        """The statement as one self-contained page of A4, with a drawing of the release."""
        return html_page(
            self.language, code(self.file), self.heading(), self.sections(), self.facts.made_with, self.synopsis
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the statement, as HTML or Markdown by the ending of the path."""
        place = Path(path)
        check_ending(place)
        text = self.to_html() if place.name.lower().endswith(HTML) else self.to_markdown()
        with new_file(place, overwrite=overwrite) as out:
            out.write(text.encode())

    def to_dict(self) -> dict[str, Any]:
        """What the statement says, as values for JSON."""
        claim, total, mark, share = self.synopsis.claim, self.total, self.synopsis.ledger, self.synopsis.kept_share
        return {
            "file": self.file,
            "sha256": self.sha256,
            **self.given._asdict(),
            "language": self.language.sentences["lang"],
            "guarantee": claim.sentence,
            "unit": claim.unit,
            "max_per_unit": claim.max_per_unit,
            "epsilon": float(claim.epsilon),
            "exact_epsilon": str(claim.epsilon),
            "odds": self.odds,
            "domain": asdict(self.synopsis.domain),
            "cells": self.synopsis.partition.cells,
            "method": self.synopsis.method.name,
            "counted": self.facts.counted,
            "kept_share": None if share is None else {**vars(share), "confidence": CONFIDENCE},
            "total": {"estimate": total.estimate, "low": total.low, "high": total.high, "confidence": CONFIDENCE},
            "ledger": None if mark is None else {**vars(mark), "balance": self.balance and asdict(self.balance)},
            "made_with": self.facts.made_with,
        }

    def heading(self) -> dict[str, str]:
        """Labels and texts at the top of the page."""
        say, claim = self.language.say, self.synopsis.claim
        known = {name: text or say("not_stated") for name, text in self.given._asdict().items()}
        return {
            **{say(name): " ".join(text.split()) for name, text in known.items()},
            say("protects"): say(f"protects_{claim.unit}"),
            say("epsilon"): say("epsilon_value", epsilon=self.language.number(float(claim.epsilon))),
            say("sha256"): f"`{self.sha256}`",
        }

    def sections(self) -> list[Section]:
        """Everything below the heading."""
        say, unit, file = self.language.say, self.synopsis.claim.unit, code(shlex.quote(self.file))
        guarantee = say(f"guarantee_{unit}", factor=self._factor(self.synopsis.claim.epsilon))
        return [
            Section(say("guarantee"), [f"{guarantee} {say(f'several_{unit}')}"]),
            Section(say("odds"), [say("odds_meaning")], table=self._odds_table()),
            Section(say("contents"), [" ".join(self._contents())]),
            Section(say("account"), self._account()),
            Section(say("check"), [f"{say('check_sha256', file=file)} {say('check_verify', file=file)}"]),
            Section(
                say("limits"),
                bullets=[say(f"limits_{each}") for each in ("many", "together", "releases", "machine", "arguments")],
            ),
        ]

    def _factor(self, epsilon: Fraction) -> str:
        """The factor as exp(ε), and as a number where one can read it."""
        exponent = float(epsilon)
        written = f"exp({self.language.number(exponent)})"
        return f"{written} = {self.language.number(math.exp(exponent), 3)}" if exponent < 100 else written

    def _odds_table(self) -> list[list[str]]:
        say, unit = self.language.say, self.synopsis.claim.unit
        before = [self._percent(row["before"]) for row in self.odds]
        after = [
            say("range", low=self._percent(row["at_least"]), high=self._percent(row["at_most"])) for row in self.odds
        ]
        return [[say(f"odds_before_{unit}"), *before], [say("odds_after"), *after]]

    def _percent(self, share: float) -> str:
        # Rounded as in the manifest: "73 %", or "almost 100 %".
        almost, _, number = percent(share).removesuffix(" %").rpartition(" ")
        written = self.language.say("percent", number=self.language.localised(number))
        return self.language.say("almost", percent=written) if almost else written

    def _whole_percent(self, share: float) -> str:
        """A share that was estimated: in whole per cents, and below ten to two digits."""
        number = self.language.number(round(100 * share)) if share >= 0.1 else self.language.number(100 * share, 2)
        return self.language.say("percent", number=number)

    def _contents(self) -> list[str]:
        say, number, domain = self.language.say, self.language.number, self.synopsis.domain
        bounds = zip(("west", "south", "east", "north"), domain.bounds, strict=True)
        held: dict[str, str] = {name: number(bound, 10) for name, bound in bounds}
        held |= {"cells": number(self.synopsis.partition.cells), "crs": domain.crs}
        if isinstance(self.synopsis.partition, AreaPartition):
            cells = say("contents_areas", **held)
        else:
            cells = say("contents_cells", method=code(self.synopsis.method.name), **held)
        total, low, high = (round(float(each)) for each in (self.total.estimate, self.total.low, self.total.high))
        key = "total" if self.synopsis.scale is None else "total_scaled"
        written = say(key, total=number(total), low=number(low), high=number(high))
        return [cells, self._counted(), *self._kept(), written, say("noise")]

    def _counted(self) -> str:
        """What the counts are counts of."""
        claim = self.synopsis.claim
        if claim.unit == "record":
            return self.language.say("counted_points")
        kind = "distinct" if claim.distinct else "kept" if self.synopsis.scale is None else "scaled"
        return self.language.say(f"counted_{kind}", bound=self.language.number(claim.max_per_unit))

    def _kept(self) -> list[str]:
        """Which share of the records was kept, where the release tells."""
        say, share = self.language.say, self.synopsis.kept_share
        if share is None:
            return []
        if not share.is_known:
            return [say("kept_unknown")]
        estimate, low, high = (self._whole_percent(each) for each in (share.estimate, share.low, share.high))
        known = {"share": estimate, "range": say("range", low=low, high=high)}
        if share.cap is None:
            return [say("kept_share", **known)]
        return [say("kept_share_capped", cap=self.language.number(share.cap), **known)]

    def _account(self) -> list[str]:
        say, mark = self.language.say, self.synopsis.ledger
        if mark is None:
            return [say("account_none")]
        entry = {"entry": self.language.number(mark.entry), "dataset": code(mark.dataset)}
        if self.balance is None:
            return [say("account_marked", **entry)]
        figures = {name: self.language.localised(text) for name, text in asdict(self.balance).items() if name != "head"}
        return [say("account_state", **entry, **figures), say("account_head", head=self.balance.head)]


def check_ending(path: Path) -> None:
    """Refuse a path that does not say which format is wanted."""
    if not path.name.lower().endswith((*HTML, *MARKDOWN)):
        msg = f"a statement is written as .html or .md, got {path}."
        raise ArgumentError(msg, instead={"output": path.with_suffix(HTML[0])})


def code(name: str) -> str:
    """A name that can stand between backquotes, whatever is in it.

    Examples
    --------
    >>> code("a`b") + code("c" + chr(10))
    "a'bc?"
    """
    shown = "".join(each if each.isprintable() else "?" for each in name.replace("`", "'"))
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"
