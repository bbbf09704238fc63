"""The report of an audit, as text and page.

The page needs nothing but itself.
"""

from collections.abc import Mapping
from html import escape
from string import Template

from hushgrid.audit.audit import AuditReport
from hushgrid.audit.check import Check, Part, Verdict

TITLES: Mapping[Part, str] = {
    "taint": "Whether anything but released values shows",
    "loss": "What the released values tell, exactly",
    "noise": "Noise, held against its law",
    "neighbours": "Neighbours told apart from outside",
    "attacks": "Known attacks, replayed",
}
EXPLANATIONS: Mapping[Part, str] = {
    "taint": "Everything that a release draws was recorded on one made-up data set and forced on others. Then every "
    "byte that shows has to be the same: the file, its footer, intervals, answers, messages, the ledger and its "
    "journal. A build that decides anything by true counts fails, whatever it decides.",
    "loss": "What two neighbours put into the same draws says exactly how much likelier the release is on one of them. "
    "'Shown' is the largest such figure found. It must not exceed the epsilon promised, and often equals it.",
    "noise": "What protects people is chance of an exact kind. The numbers drawn were compared with the law of the "
    "proof, written down a second time, at the rate that the claim implies. A p-value is how often a sound build would "
    "look at least as odd. Only one below the limit is flagged.",
    "neighbours": "Two made-up data sets, with and without one record (or one user), were published many times, as "
    "users publish. An attacker who knows everything else looked for a sign that gives the record away. 'Shown' is the "
    "least epsilon that the best sign proves to be given away. It must not exceed the one promised. It is usually "
    "smaller: runs are few, and most releases are not the worst case.",
    "attacks": "Each of these was a real flaw of some program that published private data. They were tried on this "
    "installation, with made-up records.",
}
CANNOT = (
    "An audit can catch a broken build. It cannot prove a sound one: a flaw that no experiment here looks for, or that "
    "is too small for this number of runs, stays unseen. That the methods keep their promise follows from their proofs "
    "(docs/privacy.md). This page is evidence that the build installed here does what the proofs assume. It looked at "
    "made-up data only, and says nothing about a particular release or about how carefully the data, the epsilon and "
    "the number of releases were chosen."
)


def summary(report: AuditReport) -> str:
    """The result in one or two sentences."""
    flagged, asked = len(report.flagged), len(report.checks)
    skipped = sum(check.verdict == "not applicable" for check in report.checks)
    others = f"; {skipped} did not apply" if skipped else ""
    if flagged:
        count = "1 check was" if flagged == 1 else f"{flagged} checks were"
        return f"{count} flagged, of {asked}{others}. Do not publish with this build before the reason is known."
    return f"Nothing was flagged in {asked} checks{others}."


def allowance(report: AuditReport) -> str:
    """How often a sound build is flagged."""
    return (
        f"A sound build has nothing flagged in {1 - report.false_alarm:.1%} of audits: the {report.tests} checks that "
        f"chance may flag share an allowance of {report.false_alarm:g}, in equal parts."
    )


def evidence(check: Check) -> str:
    """The figures of a check, in a few words.

    Examples
    --------
    >>> from hushgrid.audit.check import Verdict
    >>> evidence(Check(part="noise", title="", verdict=Verdict.PASSED, finding="", p_value=0.25, least_p=1e-5))
    'p = 0.25, limit 1e-05'
    """
    if check.measured is not None and check.claim is not None:
        return f"shown {check.measured:.2f}, promised {check.claim:g}"
    if check.p_value is not None:
        return f"p = {check.p_value:.2g}, limit {check.least_p:.0g}"
    return ""


MARKS = {Verdict.PASSED: "passed", Verdict.FLAGGED: "flagged", Verdict.NOT_APPLICABLE: "none"}
CLASSES = {"Runs or draws": "number", "Figures": "number", "Verdict": "verdict"}
PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Privacy audit of hushgrid $version</title>
<style>
:root { color-scheme: light dark; --back: #fff; --text: #1c2024; --faint: #5a6470; --line: #d5dae0; --good: #176b3a;
  --bad: #b3121d; --badback: #fdecec; --bar: #2f6fb5; --track: #e8ecf1; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --text: #e6e9ec; --faint: #a0a9b3; --line: #363c43;
  --good: #6fd396; --bad: #ff8a8a; --badback: #3a1a1d; --bar: #6fa8e8; --track: #2a3037; } }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.2rem 4rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.4rem 0 .3rem; }
p { max-width: 46rem; margin: .4rem 0; } .faint { color: var(--faint); }
.result { border-left: .3rem solid var(--good); padding: .2rem .9rem; margin: 1.2rem 0; font-size: 1.15rem; }
.result.flagged { border-color: var(--bad); background: var(--badback); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin-top: .8rem; font-size: .93rem; }
th { text-align: left; color: var(--faint); font-weight: 600; } th, td { padding: .45rem .8rem .45rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; } td.number, th.number { text-align: right; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; } .verdict { white-space: nowrap; }
.passed .verdict { color: var(--good); } .flagged .verdict { color: var(--bad); font-weight: 700; }
tr.flagged { background: var(--badback); } .none .verdict, .none td { color: var(--faint); }
.bar { display: block; width: 9rem; height: .4rem; margin: .3rem 0 0 auto; background: var(--track); }
.bar span { display: block; height: 100%; background: var(--bar); } .flagged .bar span { background: var(--bad); }
@media print { body { max-width: none; } }
</style>
</head>
<body>
<h1>Privacy audit of hushgrid $version</h1>
<p class="faint">Epsilon $epsilon &middot; $runs runs &middot; methods: $methods</p>
<p class="result $mark">$summary</p>
<p>$allowance</p>
<h2>What this page can and cannot show</h2>
<p>$cannot</p>
$parts
</body>
</html>
""")


def report_page(report: AuditReport) -> str:
    """An audit as one self-contained web page."""
    return PAGE.substitute(
        version=escape(report.version),
        epsilon=escape(str(report.epsilon)),
        runs=f"{report.runs:,}",
        methods=escape(", ".join(report.methods)),
        mark="" if report.ok else "flagged",
        summary=escape(summary(report)),
        allowance=escape(allowance(report)),
        cannot=escape(CANNOT),
        parts="\n".join(_part(name, report.part(name)) for name in TITLES),
    )


def _part(name: Part, checks: tuple[Check, ...]) -> str:
    """A heading, an explanation and a table.

    Columns that would stay empty are left out.
    """
    columns = {
        "Tried": [escape(check.title) for check in checks],
        "Method": [escape(check.method or "") for check in checks],
        "Found": [escape(check.finding) for check in checks],
        "Runs or draws": [f"{check.runs:,}" if check.runs is not None else "" for check in checks],
        "Figures": [escape(evidence(check)) + _bar(check) for check in checks],
        "Verdict": [str(check.verdict) for check in checks],
    }
    shown = {header: cells for header, cells in columns.items() if any(cells)}
    head = "".join(f'<th class="{CLASSES.get(header, "")}">{header}</th>' for header in shown)
    rows = (
        "".join(f'<td class="{CLASSES.get(header, "")}">{cell}</td>' for header, cell in zip(shown, cells, strict=True))
        for cells in zip(*shown.values(), strict=True)
    )
    body = "\n".join(f'<tr class="{MARKS[check.verdict]}">{row}</tr>' for check, row in zip(checks, rows, strict=True))
    return f"""\
<h2>{TITLES[name]}</h2>
<p>{escape(EXPLANATIONS[name])}</p>
<div class="scroll"><table>
<tr>{head}</tr>
{body}
</table></div>"""


def _bar(check: Check) -> str:
    """A bar of how much of the promise was used.

    It is full at the promise and above.
    """
    if check.measured is None or check.claim is None:
        return ""
    share = min(1.0, check.measured / check.claim)
    return f'<span class="bar"><span style="width: {100 * share:.0f}%"></span></span>'
