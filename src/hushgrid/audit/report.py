"""The report of an audit: one page that needs nothing but itself."""

from html import escape
from string import Template

from hushgrid.audit.audit import AuditReport
from hushgrid.audit.check import Check, Part, Verdict
from hushgrid.audit.words import CANNOT, EXPLANATIONS, TITLES, allowance, evidence, summary

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
    """An audit as one web page, which asks the network for nothing."""
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
    """A heading, what is meant by it, and a table without columns that would stay empty."""
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
    """How much of the promise was shown to be used, as a bar; full at the promise and above."""
    if check.measured is None or check.claim is None:
        return ""
    share = min(1.0, check.measured / check.claim)
    return f'<span class="bar"><span style="width: {100 * share:.0f}%"></span></span>'
