"""Pieces of the report page. All text is escaped here; nothing is loaded from elsewhere."""

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from experiments.figures.exhibit import Table
from experiments.report.claim import Claim, Finding, Verdict

Judged = tuple[Claim, Finding]

CSS = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(title: str, body: Iterable[str]) -> str:
    """The whole page."""
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>\n{CSS.read_text(encoding='utf-8')}</style>\n</head>\n<body>",
            *body,
            "</body>\n</html>\n",
        ]
    )


def heading(text: str, *, anchor: str, level: int = 2) -> str:
    """A heading that can be linked to."""
    return f'<h{level} id="{escape(anchor)}">{escape(text)}</h{level}>'


def paragraph(text: str, *, look: str = "") -> str:
    """A paragraph, perhaps of a certain look."""
    return f'<p class="{escape(look)}">{escape(text)}</p>' if look else f"<p>{escape(text)}</p>"


def bullets(items: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def contents(parts: Mapping[str, Iterable[tuple[str, str]]]) -> str:
    """The table of contents: for each part, links to its headings, given as anchor and text."""
    lists = (
        f"<li>{escape(part)}<ul>"
        + "".join(f'<li><a href="#{escape(anchor)}">{escape(text)}</a></li>' for anchor, text in entries)
        + "</ul></li>"
        for part, entries in parts.items()
    )
    return f'<nav aria-label="Contents"><h2 id="contents">Contents</h2><ul class="parts">{"".join(lists)}</ul></nav>'


def counts(judged: Sequence[Judged]) -> str:
    """How many statements hold."""
    found = Counter(finding.verdict for _, finding in judged)
    items = (f'<li><b class="{look_of(verdict)}">{found[verdict]}</b>{escape(verdict)}</li>' for verdict in Verdict)
    return f'<ul class="counts">{"".join(items)}</ul>'


def claims_table(judged: Sequence[Judged], *, says: str) -> str:
    """What is said, what was measured, whether it holds and why; the rule and every case folded below."""
    lines = [
        f'<tr><td>{escape(claim.quote)}<br><span class="soft">{escape(claim.where)}</span></td>'
        f'<td>{escape(finding.measured)}<div class="reason">{escape(finding.reason)}</div>{_cases(claim, finding)}</td>'
        f'<td class="{look_of(finding.verdict)}">{escape(finding.verdict)}{_open(finding)}</td></tr>'
        for claim, finding in judged
    ]
    head = f"<thead><tr><th>{escape(says)}</th><th>what we measured, and why</th><th>holds?</th></tr></thead>"
    return f'<div class="scroll"><table class="claims">{head}<tbody>{"".join(lines)}</tbody></table></div>'


def data_table(table: Table) -> str:
    """A table of text."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in table.headings)
    lines = ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in table.lines)
    return (
        f'<div class="scroll"><table class="data"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def picture(png: bytes, *, text: str) -> str:
    """A figure inside the page, with a text for those who do not see it."""
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><div class="scroll"><img alt="{escape(text)}" src="data:image/png;base64,{data}"></div>'
        f"<figcaption>{escape(text)}</figcaption></figure>"
    )


def _cases(claim: Claim, finding: Finding) -> str:
    cases = (f"{name}: {value.short}" for name, value in finding.values.items())
    rule = f"<div>Holds if {escape(claim.rule)}.</div>"
    return f"<details><summary>rule and cases</summary>{rule}{bullets(cases)}</details>"


def _open(finding: Finding) -> str:
    return "" if finding.firm else '<div class="open">by less than two standard errors</div>'


def look_of(verdict: Verdict) -> str:
    """Name of a verdict's look and anchor.

    Examples
    --------
    >>> look_of(Verdict.NOT_HERE)
    'does-not-on-these-data'
    """
    return verdict.replace(",", "").replace(" ", "-")
