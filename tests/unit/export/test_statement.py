"""The statement: the same facts as Markdown and as HTML, in every language, on one page."""

import base64
import hashlib
import html
import math
import re
import shutil
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.export.language import SHIPPED, Language
from hushgrid.export.statement import LONGEST, Balance, Given, Statement
from hushgrid.synopsis.claim import LedgerMark
from tests.districts import SHAPES

CHROMIUM = shutil.which("chromium")
DOMAIN = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
POINTS = np.random.default_rng(7).normal([-73.95, 40.7], 0.05, (5000, 2))
USERS = np.random.default_rng(8).integers(0, 700, 5000)
GIVEN = Given(publisher="City & <Sons>", contact="a_b*c@d.example", purpose="To plan | buses", date="2026-03-31")
BALANCE = Balance(charged="0.5", budget="3", spent="1.5", reserved="1/3", left="7/6", head="ef" * 32)
MARK = LedgerMark(dataset="trips of `2026`", entry=12, head="cd" * 32)

KINDS: dict[str, dict[str, Any]] = {
    "records": {},
    "users": {"user": USERS, "max_per_user": 3},
    "scaled": {"user": USERS, "max_per_user": 3, "scale_to_total": "private"},
    "capped": {"user": USERS, "max_per_user": 3, "estimate": "all-records"},
    "all": {"user": USERS, "max_per_user": 3, "estimate": "all-records", "scale_to_total": len(POINTS)},
    "distinct": {"user": USERS, "max_per_user": 3, "distinct": True, "method": hg.UniformGrid(side=4)},
}


def released(kind: str, *, epsilon: float = 0.5) -> hg.Synopsis:
    """A release of one kind."""
    return hg.publish(POINTS, domain=DOMAIN, epsilon=epsilon, **{"method": "ug", "calibrate": False, **KINDS[kind]})


@pytest.fixture(scope="module")
def synopsis() -> hg.Synopsis:
    """A release about users, charged to a ledger."""
    return replace(released("users"), ledger=MARK)


def state(synopsis: hg.Synopsis, code: str = "en", **more: Any) -> Statement:
    """The statement about a release."""
    known = {"file": "trips.dp.parquet", "sha256": "ab" * 32, "given": GIVEN, **more}
    return Statement(synopsis=synopsis, language=Language.of(code), **known)


def words_of_html(page: str) -> list[str]:
    """What a reader of the page sees, but for the drawing."""
    body = re.sub(r"<svg.*</svg>|<figcaption>.*?</figcaption>", " ", page.partition("<body>")[2], flags=re.DOTALL)
    return re.findall(r"\w+", html.unescape(re.sub(r"<[^>]*>", " ", body)))


def words_of_markdown(text: str) -> list[str]:
    """What a reader of the Markdown sees, but for lines to write on."""
    return re.findall(r"\w+", re.sub(r"_{5,}", " ", re.sub(r"\\(.)", r"\1", text)))


@pytest.mark.parametrize("code", SHIPPED)
@pytest.mark.parametrize("balance", [None, BALANCE], ids=["no ledger", "ledger"])
def test_markdown_and_html_say_the_same(synopsis: hg.Synopsis, code: str, balance: Balance | None) -> None:
    """Word by word, what the publisher says included."""
    statement = state(synopsis, code, balance=balance)

    assert words_of_markdown(statement.to_markdown()) == words_of_html(statement.to_html())


def test_what_the_publisher_says_is_no_markup(synopsis: hg.Synopsis) -> None:
    """Neither in HTML nor in Markdown; hostile names of files and data sets are as harmless."""
    statement = state(synopsis, file='<img src="x">`*.parquet')
    page, text = statement.to_html(), statement.to_markdown()

    assert "City &amp; &lt;Sons&gt;" in page
    assert "<Sons>" not in page
    assert "<img" not in page
    assert r"City & \<Sons\>" in text
    assert r"a\_b\*c@d.example" in text
    assert "| To plan / buses |" in text
    assert "`trips of '2026'`" in text


def test_nothing_is_guessed(synopsis: hg.Synopsis) -> None:
    """What the publisher does not say is not stated, the date included."""
    assert str(state(synopsis, given=Given())).count("| not stated |") == 4
    assert "not stated" not in str(state(synopsis, balance=BALANCE))


@pytest.mark.parametrize("kind", KINDS)
def test_the_promise_and_the_odds_are_those_of_the_release(kind: str) -> None:
    """The sentence of the claim, and Bayes' rule computed here."""
    release = released(kind)
    statement = state(release)
    factor = math.exp(0.5)

    assert release.claim.sentence.partition(". ")[0].rstrip(".") in str(statement)
    assert f"{release.partition.cells:,} cells" in str(statement)
    for row in statement.to_dict()["odds"]:
        odds = row["before"] / (1 - row["before"])
        assert row["at_most"] == pytest.approx(odds * factor / (1 + odds * factor))
        assert row["at_least"] == pytest.approx(odds / factor / (1 + odds / factor))


def test_what_is_counted_is_told_apart() -> None:
    """Records, kept ones, scaled ones, all and users have a sentence each, in every language."""
    releases = {kind: released(kind) for kind in KINDS}
    for code in SHIPPED:
        texts = {kind: str(state(release, code)) for kind, release in releases.items()}
        language, keys = Language.of(code), ("points", "kept", "scaled", "capped", "all", "distinct")
        cap = language.number(releases["capped"].scale.cap)
        said = {kind: language.say(f"counted_{key}", bound=3, cap=cap) for kind, key in zip(KINDS, keys, strict=True)}
        for kind, text in texts.items():
            assert [other for other in KINDS if said[other] in text] == [kind]


def test_the_share_that_was_kept_is_told() -> None:
    """As the release estimates it, in whole per cents; counts that were scaled have no interval."""
    kept, scaled = released("users", epsilon=8), released("scaled")
    share = kept.kept_share
    assert share is not None
    assert share.is_known
    said = {code: str(state(kept, code)).replace("\u00a0", " ") for code in SHIPPED}

    assert all(f"{100 * share.estimate:.0f} %" in text for text in said.values())
    assert f"counting at most {share.cap} of each user" in said["en"]
    assert "by noise alone" in str(state(scaled))
    assert "by noise alone" not in said["en"]
    assert state(kept).to_dict()["kept_share"]["estimate"] == share.estimate
    assert state(released("records")).to_dict()["kept_share"] is None


def test_a_huge_budget_is_called_by_its_exponent(synopsis: hg.Synopsis) -> None:
    """No number of fifty digits, and no overflow."""
    text = str(state(replace(synopsis, claim=replace(synopsis.claim, epsilon=Fraction(1000)))))

    assert "at most exp(1,000)." in text
    assert "almost 0\u00a0% to almost 100\u00a0%" in text


def test_areas_are_called_areas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement on areas says so and draws them, without any extra."""
    areas = hg.Areas(list(SHAPES.values()), names=list(SHAPES))
    square = hg.Domain(west=0, south=0, east=1, north=1)
    release = hg.publish(np.full((900, 2), 0.7), domain=square, epsilon=1, method=areas)
    statement, all_together = state(release), release.total_of(list(SHAPES))

    for extra in ("matplotlib", "pyogrio", "pyproj", "rasterio", "shapely"):
        monkeypatch.setitem(sys.modules, extra, None)

    assert f"{len(SHAPES)} areas" in str(statement)
    assert vars(statement.total) == vars(all_together)
    assert "data:image/png;base64," in statement.to_html()


def test_a_simulation_has_no_statement() -> None:
    """It promises nothing."""
    simulated = hg.publish(POINTS, domain=DOMAIN, epsilon=1, method="uniform", rng=hg.simulation_rng(1))

    with pytest.raises(hg.ArgumentError, match="simulated"):
        state(simulated)


@pytest.mark.parametrize("name", LONGEST)
def test_what_would_not_fit_is_refused(synopsis: hg.Synopsis, name: str) -> None:
    """By the name of the argument."""
    with pytest.raises(hg.ArgumentError, match=name):
        state(synopsis, given=Given(**{name: "x" * (LONGEST[name] + 1)}))


def test_the_page_asks_for_nothing(synopsis: hg.Synopsis) -> None:
    """Its policy allows its own style and pictures within it, and no script."""
    page = state(synopsis).to_html()
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:;" in page
    assert "<script" not in page
    assert re.findall(r"(?:src|href)=\"(?!data:)", page) == []
    assert len(page) < 200_000


def test_the_ending_chooses_the_format(synopsis: hg.Synopsis, tmp_path: Path) -> None:
    """HTML or Markdown, and nothing else; a file that exists is kept."""
    statement = state(synopsis)
    for name, start in {"a.html": "<!DOCTYPE html>", "a.md": "# Statement"}.items():
        statement.save(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)

    with pytest.raises(hg.ArgumentError, match=r"\.html or \.md"):
        statement.save(tmp_path / "a.pdf")
    with pytest.raises(hg.ArgumentError, match="exists"):
        statement.save(tmp_path / "a.md")


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_it_prints_on_one_page(tmp_path: Path) -> None:
    """In every language, with the longest texts that are allowed, and names as long as are shown."""
    from playwright.sync_api import sync_playwright

    filler = "Planning of bus lines and cycle paths in the wider metropolitan area, by where trips begin. " * 5
    longest = Given(**{name: filler[:length] for name, length in LONGEST.items()})
    wordy = replace(released("scaled"), ledger=replace(MARK, dataset="trips " * 20))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page, complaints = browser.new_page(), []
        page.on("console", lambda message: complaints.append(message.text))
        for code in SHIPPED:
            path = tmp_path / f"{code}.html"
            state(wordy, code, given=longest, balance=BALANCE, file="trips_" * 20).save(path)
            page.goto(path.as_uri())
            pages = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
            assert len(pages) == 1, code
        browser.close()
    assert complaints == []
