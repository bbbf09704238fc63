"""The default release of real sets at epsilon 1, against one sort and AG; questions to it, against the older kernels.

Times of questions are of the processors, both together, because other work disturbs them least. Without the real sets
(see `experiments.datasets`) there is nothing to measure, and it says so.
"""

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

import hushgrid as hg
from benchmarks.row import Row, best
from experiments.datasets import DATASETS
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES

# Times of one argsort of the points' x that a default release may take by the wall: the 3 s and 0.5 s that were asked
# for, over what the sort took where they were asked for. AG, beside it, gets faster by the same work.
MOST = {"uk_postcodes": 54, "us_chains": 80}
ASKED = "uk_postcodes"  # the release that questions are asked of
QUESTIONS = 1_000_000
OLDER_QUESTIONS = {0.05: 50_000, 0.5: 1_000}  # the older kernels look at every cell on a rectangle's border
# Times as fast as the older kernels. Asked for were 2, 0.8 and 0.5 M a second on two cores; those make 0.15, 0.02 and
# 0.06 M a second on one.
LEAST = {("count", 0.05): 6.5, ("count", 0.5): 20, ("answer", 0.05): 4}


def rows():
    """The default release of each set that is at hand, then inference and questions on one of them."""
    found = []
    for name in MOST:
        if DATASETS[name].at_hand:
            found.append(release_row(DATASETS[name]))
        else:
            print(f"left out, because it is not at hand: {name}", file=sys.stderr)
    if DATASETS[ASKED].at_hand:
        synopsis = hg.publish(DATASETS[ASKED].path, domain=DATASETS[ASKED].domain, epsilon=1)
        found += [*inference_rows(synopsis), *(question_row(synopsis, *kind) for kind in LEAST)]
    return found


def release_row(dataset):
    """The default release of a file, with calibrated intervals as AG's, on two cores."""

    def publish(**options):
        return hg.publish(dataset.path, domain=dataset.domain, epsilon=1, **options)

    longitudes = np.ascontiguousarray(dataset.points()[:, 0])
    cells = publish().partition.cells
    with threads(2):
        wall, default = best_of_both(publish, times=4)
        _, of_ag = best_of_both(lambda: publish(method="ag"), times=4)
    sort = best(lambda: np.argsort(longitudes))
    return Row(
        name=f"default publish, {dataset.name}, epsilon 1, calibrated",
        measured=wall / sort,
        target=MOST[dataset.name],
        unit="x one argsort of the points",
        better="lower",
        note=f"{wall:.2f} s by the wall on two cores, {default:.2f} CPU s; {default / of_ag:.1f} x AG's {of_ag:.2f}; "
        f"{cells:,} leaves; {len(longitudes):,} points, sorted in {1000 * sort:.0f} ms",
    )


def inference_rows(synopsis):
    """Belief propagation apart from counting and noise; its masses add up to about what there is."""

    def infer(name):
        return INFERENCES[name].counts(Evidence(synopsis.partition, synopsis.measurements))

    with threads(1):
        belief, bayes = (best(lambda name=name: infer(name), times=2) for name in (synopsis.inference, "bayes"))
    with threads(2):
        on_two = best(lambda: infer(synopsis.inference), times=2)
    for name in (synopsis.inference, "bayes"):
        assert abs(infer(name).sum() / DATASETS[ASKED].size - 1) < 0.02
    note = f"{synopsis.partition.cells:,} leaves"
    return [
        Row(
            name="STAQ, belief propagation, one core",
            measured=belief / bayes,
            target=8,
            unit="x Bayes splits",
            better="lower",
            note=f"{belief:.2f} s, {note}",
        ),
        Row(
            name="STAQ, belief propagation, two cores",
            measured=belief / on_two,
            target=1.6,
            unit="x one core",
            note=f"{on_two:.2f} s by the wall, {note}",
        ),
    ]


def question_row(synopsis, verb, side):
    """Rectangles a second on two cores, beside the kernels before; they give the same answers."""
    older = without_corners(synopsis)
    many, few = rectangles(synopsis.domain, side, QUESTIONS), rectangles(synopsis.domain, side, OLDER_QUESTIONS[side])
    assert np.allclose(synopsis.count(few), older.count(few), rtol=1e-6, atol=1e-3)
    assert np.allclose(synopsis.answer(few).high, older.answer(few).high, rtol=1e-3, atol=1)
    with threads(2):
        wall, cpu = best_of_both(lambda: getattr(synopsis, verb)(many))
        _, of_older = best_of_both(lambda: getattr(older, verb)(few))
    return Row(
        name=f"STAQ, {verb} of 1e6 rectangles, {side:.0%} side",
        measured=of_older / len(few) / (cpu / QUESTIONS),
        target=LEAST[verb, side],
        unit="x the kernel before",
        note=f"{QUESTIONS / wall / 1e6:.2f} M a second by the wall on two cores, {QUESTIONS / cpu / 1e6:.2f} M a CPU "
        f"second; {synopsis.partition.cells:,} sloped leaves",
    )


def without_corners(synopsis):
    """The same release, answered by the kernels that go down the tree."""
    older = replace(synopsis)
    older.surface.__dict__.update(_corners=None, _lines=None)
    return older


def rectangles(domain, side, number):
    """Rectangles of a share of the domain's sides, all over it."""
    extent = np.array([domain.width, domain.height])
    low = (domain.west, domain.south) + np.random.default_rng(1).random((number, 2)) * (1 - side) * extent
    return np.hstack([low, low + side * extent])


def best_of_both(work, times=2):
    """Least seconds by the wall and of the processors of several calls."""
    taken = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    return np.min(taken, axis=0)


@contextmanager
def threads(number):
    """A number of threads for what runs inside."""
    before = os.environ.get("HUSHGRID_THREADS")
    os.environ["HUSHGRID_THREADS"] = str(number)
    try:
        yield
    finally:
        if before is None:
            del os.environ["HUSHGRID_THREADS"]
        else:
            os.environ["HUSHGRID_THREADS"] = before
