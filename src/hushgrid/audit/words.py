"""What an audit says to someone who has to answer for a release: short sentences, and what they do not mean."""

from collections.abc import Mapping

from hushgrid.audit.audit import AuditReport
from hushgrid.audit.check import Check, Part

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
    "'Shown' is the largest such figure found; it must not exceed the epsilon promised, and often equals it.",
    "noise": "What protects people is chance of an exact kind. The numbers drawn were compared with the law of the "
    "proof, written down a second time, at the rate that the claim implies. A p-value is how often a sound build would "
    "look at least as odd; only one below the limit is flagged.",
    "neighbours": "Two made-up data sets, with and without one record (or one user), were published many times, as "
    "users publish. An attacker who knows everything else looked for a sign that gives the record away. 'Shown' is the "
    "epsilon that the best sign proves to be given away at least; it must not exceed the one promised. It is usually "
    "smaller: runs are few, and most releases are not the worst case.",
    "attacks": "Each of these was a real flaw of some program that published private data. They were tried on this "
    "installation, with made-up records.",
}
CANNOT = (
    "An audit can catch a broken build. It cannot prove a sound one: a flaw that no experiment here looks for, or that "
    "is too small for this number of runs, stays unseen. That the methods keep their promise follows from their proofs "
    "(docs/privacy.md); this page is evidence that the build installed here does what the proofs assume. It looked at "
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
    """How often such an audit cries wolf."""
    return (
        f"A sound build has nothing flagged in {1 - report.false_alarm:.1%} of audits: the {report.tests} checks that "
        f"chance may flag share an allowance of {report.false_alarm:g}, in equal parts."
    )


def evidence(check: Check) -> str:
    """The figures of a check, in a few words; none where it has none.

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
