"""The statement: one page about a release, to be signed.

It says what is promised, what somebody can learn, what the file holds and how to check it, in the language of its
readers. Everything follows from the file, except what its publisher adds.
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
from hushgrid.geometry.domain import BOUNDS
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.facts import Facts, total_answer
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.text import shown

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
        Of the data set, or of the period that pays, as short decimals or fractions.
    head : str
        Hash of the ledger's last event.
    periods, lifetime : int and str, optional
        How many periods have spent, and what somebody in all of them has to bear, where each has a budget.
    """

    charged: str
    budget: str
    spent: str
    reserved: str
    left: str
    head: str
    periods: int | None = None
    lifetime: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Statement:
    """One page about a release, to be signed; printing it shows Markdown.

    Parameters
    ----------
    synopsis : Synopsis
        The release, or one that stands for its slices; a simulation is an error, because it promises nothing.
    file, sha256 : str
        Name of its file, and of its bytes.
    language : Language
        What it is written in.
    given : Given
        What only the publisher knows.
    balance : Balance, optional
        The state of the ledger that it was charged to.
    slices : Slices, optional
        All slices of the release.
    """

    synopsis: Synopsis
    file: str
    sha256: str
    language: Language
    given: Given
    balance: Balance | None = None
    slices: Slices | None = None

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
        if self.slices is not None:
            return self.slices.total_of_all(confidence=CONFIDENCE)
        return total_answer(self.synopsis, confidence=CONFIDENCE)

    @property
    def cells(self) -> int:
        """How many cells have a count, of all slices together."""
        parts = [self.synopsis] if self.slices is None else self.slices.values()
        return sum(each.partition.cells for each in parts)

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
        """The statement as one page of A4, with a drawing of the release."""
        parts = self.language, code(self.file), self.heading(), self.sections(), self.facts.made_with
        return html_page(*parts, self.synopsis, picture=self._picture())

    def _picture(self) -> str:
        """What is drawn: the release, the total of its slices, or the first of them."""
        if self.slices is None or self.slices.total is not None:
            return self.language.say("picture")
        return self.language.say("picture_slice", name=code(self.slices.names[0]))

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
            "cells": self.cells,
            **({} if self.slices is None else {"by": self.slices.by.to_dict(), "slices": list(self.slices.names)}),
            "method": self.synopsis.method.name,
            "counted": self.facts.counted,
            "kept_share": None if share is None else {**vars(share), "confidence": CONFIDENCE},
            "total": {"estimate": total.estimate, "low": total.low, "high": total.high, "confidence": CONFIDENCE},
            "ledger": None if mark is None else {**vars(mark), "balance": self.balance and asdict(self.balance)},
            "prior": self.facts.prior or None,
            "period": None if self.synopsis.period is None else vars(self.synopsis.period),
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
        """An estimated share, in whole per cents or two digits below ten."""
        number = self.language.number(round(100 * share)) if share >= 0.1 else self.language.number(100 * share, 2)
        return self.language.say("percent", number=number)

    def _contents(self) -> list[str]:
        say, number, domain = self.language.say, self.language.number, self.synopsis.domain
        bounds = zip(BOUNDS, domain.bounds, strict=True)
        held: dict[str, str] = {name: number(bound, 10) for name, bound in bounds}
        held["crs"] = domain.crs
        if isinstance(self.synopsis.partition, AreaPartition):  # the same in all slices
            cells = say("contents_areas", cells=number(self.synopsis.partition.cells), **held)
        else:
            cells = say("contents_cells", method=code(self.synopsis.method.name), cells=number(self.cells), **held)
        total, low, high = (round(float(each)) for each in (self.total.estimate, self.total.low, self.total.high))
        key = "total" if self.facts.covered else "total_scaled"
        written = say(key, total=number(total), low=number(low), high=number(high))
        return [
            cells,
            *self._period(),
            *self._slices(),
            self._counted(),
            *self._kept(),
            written,
            *self._prior(),
            say("noise"),
        ]

    def _slices(self) -> list[str]:
        """How records are divided, where there are slices."""
        if self.slices is None:
            return []
        names, columns = (code(", ".join(each)) for each in (self.slices.names, self.slices.by.columns))
        key = "slices_areas" if self.slices.on_areas else "slices"
        return [self.language.say(key, number=self.language.number(len(self.slices)), columns=columns, names=names)]

    def _period(self) -> list[str]:
        """The period whose records alone are counted, where there is one."""
        period = self.synopsis.period
        if period is None:
            return []
        return [self.language.say("contents_period", period=period.name, timezone=code(period.timezone))]

    def _counted(self) -> str:
        """What the counts are counts of."""
        claim, scale = self.synopsis.claim, self.synopsis.scale
        if claim.unit == "record":
            return self.language.say("counted_points")
        bound = self.language.number(claim.max_per_unit)
        if scale is not None and scale.all_records is not None:
            if scale.cap is None:
                return self.language.say("counted_all", bound=bound)
            return self.language.say("counted_capped", bound=bound, cap=self.language.number(scale.cap))
        kind = "distinct" if claim.distinct else "kept" if scale is None else "scaled"
        return self.language.say(f"counted_{kind}", bound=bound)

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

    def _prior(self) -> list[str]:
        """What was public before, and whether the counts follow from it."""
        prior = self.synopsis.prior
        if prior is None:
            return []
        licence = self.language.say("not_stated") if prior.licence is None else code(prior.licence)
        used = "prior_release" if prior.kind == "release" else "prior_used"
        return [self.language.say(used if prior.used else "prior_ignored", name=code(prior.name), licence=licence)]

    def _account(self) -> list[str]:
        say, mark, period, balance = self.language.say, self.synopsis.ledger, self.synopsis.period, self.balance
        several = [] if period is None else [say("account_periods", period=period.name)]
        if mark is None:
            return [say("account_none"), *several]
        entry = {"entry": self.language.number(mark.entry), "dataset": code(mark.dataset)}
        if balance is None:
            return [say("account_marked", **entry), *several]
        amounts = ("charged", "budget", "spent", "reserved", "left")
        figures = {name: self.language.localised(getattr(balance, name)) for name in amounts}
        head = say("account_head", head=balance.head)
        if period is None or balance.periods is None or balance.lifetime is None:
            return [say("account_state", **entry, **figures), head]
        lifetime = self.language.localised(balance.lifetime)
        return [
            say("account_state_period", period=period.name, **entry, **figures),
            say("account_lifetime", periods=self.language.number(balance.periods), lifetime=lifetime),
            head,
        ]


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
    written = shown(name.replace("`", "'"))
    return written if len(written) <= LONGEST_NAME else f"{written[: LONGEST_NAME - 1]}…"
