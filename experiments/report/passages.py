"""Passages of the README and the docs that follow from the rows: each stands between two marks, and is never typed."""

import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from experiments.estimate import Estimate, geometric_mean_of, highest_of, lowest_of, mean_of
from experiments.figures.accuracy import ERRORS, STAGES, ratio
from experiments.figures.coverage import scale_table
from experiments.figures.exhibit import Table
from experiments.figures.means import MADE_UP, QUERY_SIZES, Means, Scene
from experiments.figures.months import discovery_table, series_table
from experiments.figures.priors import gain_table, interval_table, user_table
from experiments.figures.slices import gain_of_slices, intervals_of_slices, total_of_slices
from experiments.figures.variant import PAPER, Variant
from experiments.figures.workloads import BEST_FLAT, WorkloadRows
from experiments.report.claim import Evidence, Verdict
from experiments.report.claims import PAPER_CLAIMS
from experiments.trial import CONFIDENCES

SETS = ("uk_postcodes", "us_chains", "us_cvs", "checkin_gowalla_nyc")  # real, and not on few venues
PAPER_EPSILONS = (0.1, 1.0)
AG, STAQ, UG = Variant.of("ag"), Variant.of("staq"), Variant.of("ug")
KD_HYBRID = Variant.of("kd-hybrid-paper")
RIVALS = (BEST_FLAT, "UG", "AG", "PrivTree", "DAWA")  # beside whom STAQ is shown on every workload
WIDTH = 120
MARKED = re.compile(r"(<!-- rows: ([a-z-]+) -->\n).*?(\n<!-- end of rows -->)", re.DOTALL)

Writer = Callable[[Evidence], str]


def filled(text: str, evidence: Evidence) -> str:
    """A page with every marked passage as the rows have it."""
    return MARKED.sub(lambda found: found[1] + PASSAGES[found[2]](evidence) + found[3], text)


def write_passages(root: Path, evidence: Evidence) -> list[Path]:
    """Fill the passages of all pages below a folder, and return the pages that changed."""
    changed = []
    for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        new = filled(text, evidence)
        if new != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed


def lead(evidence: Evidence) -> str:
    """What the README says of accuracy."""
    means = evidence.means
    scenes = _scenes(means, epsilons=PAPER_EPSILONS)
    relative, absolute = (_overall(means, STAQ, AG, scenes, error).text() for error in ERRORS)
    grid, grid_absolute = (_overall(means, AG, UG, scenes, error).text() for error in ERRORS)
    sizes = [_coverage(means, "staq", queries=queries) for queries in QUERY_SIZES]
    held, (worst, where) = _coverage(means, "staq").text(".1%"), _worst_lead(evidence)
    return _paragraph(
        f"On the paper's workload STAQ has {relative} of the relative and {absolute} of the absolute error of the "
        f"adaptive grid (geometric mean of four real sets at ε = 0.1 and 1, with its standard error), which has {grid} "
        f"and {grid_absolute} of the uniform one's. Its 95 % intervals hold the truth {held} "
        f"of the time, {lowest_of(sizes).value:.1%} to {highest_of(sizes).value:.1%} by query size. It does not always "
        f"win: {where} its relative error is {worst.text()} of that of the best flat grid, chosen in hindsight."
    )


def staq_and_ag(evidence: Evidence) -> str:
    """Errors of both on every set and budget, and the mean of their ratios."""
    means = evidence.means
    lines = []
    for scene in _scenes(means, datasets=None):
        both = [means.estimate(scene, method, f"{error}_mean") for error in ERRORS for method in (AG, STAQ)]
        ratios = [ratio(means, scene, STAQ, error=error) for error in ERRORS]
        texts = [estimate.short for estimate in both]
        lines.append((scene.dataset, f"{scene.epsilon:g}", *texts[:2], ratios[0].text(), *texts[2:], ratios[1].text()))
    headings = ("set", "ε", "AG relative", "STAQ relative", "ratio", "AG absolute", "STAQ absolute", "ratio")
    means_of = (_overall(means, STAQ, AG, _scenes(means, epsilons=PAPER_EPSILONS), error).text() for error in ERRORS)
    closing = (
        f"Over {_listed(SETS)}, at ε = 0.1 and 1, the geometric mean of the ratios is {next(means_of)} in relative and "
        f"{next(means_of)} in absolute error."
    )
    return f"{_markdown(Table(headings=headings, lines=tuple(lines)))}\n\n{_paragraph(closing)}"


def every_method(evidence: Evidence) -> str:
    """Errors of every method in relation to AG's, by budget."""
    means = evidence.means
    methods = [name for name in means.methods() if name not in ("ag", "auto")]
    epsilons = sorted({scene.epsilon for scene in _scenes(means)})
    lines = [
        (
            f"`{name}`",
            *(
                _overall(means, Variant.of(name), AG, _scenes(means, epsilons=(epsilon,)), error).text()
                for epsilon in epsilons
                for error in ERRORS
            ),
        )
        for name in methods
    ]
    headings = ("method", *(f"{error}, ε = {epsilon:g}" for epsilon in epsilons for error in ERRORS))
    return _markdown(Table(headings=headings, lines=tuple(lines)))


def stages(evidence: Evidence) -> str:
    """Relative and absolute error of STAQ's stages in relation to AG's."""
    means = evidence.means
    shown = [stage for stage in STAGES if stage.variant != AG]
    lines = [
        (
            f"{epsilon:g}",
            *(
                " / ".join(
                    _overall(means, stage.variant, AG, _scenes(means, epsilons=(epsilon,)), error).text()
                    for error in ERRORS
                )
                for stage in shown
            ),
        )
        for epsilon in sorted({scene.epsilon for scene in _scenes(means)})
    ]
    return _markdown(Table(headings=("ε", *(stage.label for stage in shown)), lines=tuple(lines)))


def coverage(evidence: Evidence) -> str:
    """How often intervals of each method hold the truth."""
    means = evidence.means
    methods = [name for name in means.methods() if not name.endswith(PAPER)]
    lines = []
    for name in methods:
        by_set = [means.estimate(scene, Variant.of(name), "coverage_95") for scene in _scenes(means, datasets=None)]
        lines.append(
            (
                f"`{name}`",
                *(_coverage(means, name, field=field).text(".1%").removesuffix("%") for field in CONFIDENCES),
                f"{100 * lowest_of(by_set).value:.1f} to {100 * highest_of(by_set).value:.1f}",
                *(f"{100 * _coverage(means, name, queries=queries).value:.1f}" for queries in QUERY_SIZES),
            )
        )
    headings = ("method", *(f"{share:.0%}" for share in CONFIDENCES.values()), "95 %, set by set", *QUERY_SIZES)
    return _markdown(Table(headings=headings, lines=tuple(lines)))


def workloads(evidence: Evidence) -> str:
    """STAQ's error as a share of others', on every workload, and where it loses."""
    asked = WorkloadRows(evidence.rows)
    lines = []
    for epsilon, workload in asked.scenes:
        relative, absolute = (asked.leads(epsilon, workload, error) for error in ERRORS)
        shares = (f"{relative[rival].text()} / {absolute[rival].text()}" for rival in RIVALS if rival in relative)
        lines.append((f"{epsilon:g}", workload, *shares))
    worst, where = _worst_lead(evidence)
    closing = f"STAQ does worst {where}: {worst.text()} of the relative error of the best flat grid."
    table = Table(headings=("ε", "workload", *(f"to {rival}" for rival in RIVALS)), lines=tuple(lines))
    return f"{_markdown(table)}\n\n{_paragraph(closing)}"


def at_scale(evidence: Evidence) -> str:
    """Coverage of releases of ten and a hundred million made-up points."""
    return _markdown(scale_table(evidence.rows))


def prior_gains(evidence: Evidence) -> str:
    """Errors with public priors as a share of those without."""
    return _markdown(gain_table(evidence.rows))


def prior_intervals(evidence: Evidence) -> str:
    """How often intervals of releases with a prior hold the truth."""
    return _markdown(interval_table(evidence.rows))


def prior_users(evidence: Evidence) -> str:
    """What public priors gain where users are protected."""
    return _markdown(user_table(evidence.rows))


def slice_gains(evidence: Evidence) -> str:
    """Errors of slices as a share of those of separate releases."""
    return _markdown(gain_of_slices(evidence.rows))


def slice_totals(evidence: Evidence) -> str:
    """How well the total of all slices is known, and what they cost."""
    return _markdown(total_of_slices(evidence.rows))


def slice_intervals(evidence: Evidence) -> str:
    """How often intervals of slices and of their sums hold the truth."""
    return _markdown(intervals_of_slices(evidence.rows))


def month_series(evidence: Evidence) -> str:
    """Errors of months in a series, and how often intervals of differences hold."""
    return _markdown(series_table(evidence.rows))


def month_discoveries(evidence: Evidence) -> str:
    """False discoveries where nothing changed, and power where a district doubled."""
    return _markdown(discovery_table(evidence.rows))


def verdicts(evidence: Evidence) -> str:
    """How many of the paper's statements hold, and how its trees compare with its grids."""
    found = [claim.judge(evidence).verdict for claim in PAPER_CLAIMS]
    means = evidence.means
    by_epsilon = {}
    for epsilon in PAPER_EPSILONS:
        scenes = [scene for scene in means.paper_scenes(epsilons=(epsilon,)) if scene.dataset not in MADE_UP]
        trees = [
            ratio(means, scene, KD_HYBRID, error="relative", to=best)
            for scene in scenes
            if (best := means.best(scene, "ug", "side"))
        ]
        by_epsilon[epsilon] = f"{lowest_of(trees).value:.2f} to {highest_of(trees).value:.2f}"
    counted = {verdict: found.count(verdict) for verdict in Verdict}
    failing = "does" if counted[Verdict.NOT_HERE] == 1 else "do"
    return _paragraph(
        f"Of {len(found)} statements {counted[Verdict.HOLDS]} hold, {counted[Verdict.IN_PART]} in part, "
        f"{counted[Verdict.NOT_HERE]} {failing} not on these data, for {counted[Verdict.EXPLAINED]} that do not we say "
        f"why, and {counted[Verdict.UNTESTABLE]} cannot be tested here. The paper found that UG of a good size is "
        f"as good as the kd-trees or better; here KD-hybrid, as its authors had it, has {by_epsilon[1.0]} of the best "
        f"UG's relative error at ε = 1, and {by_epsilon[0.1]} of it at ε = 0.1."
    )


PASSAGES: Mapping[str, Writer] = MappingProxyType(
    {
        "lead": lead,
        "staq-and-ag": staq_and_ag,
        "every-method": every_method,
        "stages": stages,
        "coverage": coverage,
        "workloads": workloads,
        "at-scale": at_scale,
        "prior-gains": prior_gains,
        "prior-intervals": prior_intervals,
        "prior-users": prior_users,
        "slice-gains": slice_gains,
        "slice-totals": slice_totals,
        "slice-intervals": slice_intervals,
        "month-series": month_series,
        "month-discoveries": month_discoveries,
        "verdicts": verdicts,
    }
)


def _scenes(
    means: Means, *, datasets: tuple[str, ...] | None = SETS, epsilons: tuple[float, ...] | None = None
) -> list[Scene]:
    """Scenes in which AG was run on real points."""
    return [
        scene
        for scene in means.scenes()
        if scene.dataset not in MADE_UP
        and means.has(scene, AG)
        and (datasets is None or scene.dataset in datasets)
        and (epsilons is None or scene.epsilon in epsilons)
    ]


def _overall(means: Means, variant: Variant, to: Variant, scenes: list[Scene], error: str) -> Estimate:
    """Geometric mean of ratios of mean errors."""
    return geometric_mean_of(ratio(means, scene, variant, error=error, to=to) for scene in scenes)


def _coverage(means: Means, method: str, *, field: str = "coverage_95", queries: str = "all") -> Estimate:
    """Mean share of intervals that hold the truth, over sets and budgets."""
    return mean_of(means.estimate(scene, Variant.of(method), field, queries) for scene in _scenes(means, datasets=None))


def _worst_lead(evidence: Evidence) -> tuple[Estimate, str]:
    """Where STAQ does worst against the best flat grid by relative error, in words."""
    asked = WorkloadRows(evidence.rows)
    leads = {scene: asked.leads(*scene, "relative")[BEST_FLAT] for scene in asked.scenes}
    worst = max((scene for scene in leads if leads[scene].known), key=lambda scene: leads[scene].value)
    return leads[worst], f"on {worst[1]} at ε = {worst[0]:g}"


def _markdown(table: Table) -> str:
    lines = (table.headings, ("---",) * len(table.headings), *table.lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _paragraph(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
