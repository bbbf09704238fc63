"""Work is told in whole per cents: each once, in order, the last when all is done."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.work import Step, Work, current_work

ALL = [step / 100 for step in range(101)]
STAGES = ["reading", "bounding", "counting", "inference", "intervals", "writing"]
PLAN = [
    Step("reading", 1.0),
    Step("counting", 1.0),
    Step("counting", 2.0),
    Step("inference", 4.0),
    Step("writing", 0.0),
]

stages = st.sampled_from(STAGES)
seconds = st.floats(0, 1e9)
doings = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), stages),
        st.tuples(st.just("add"), stages, st.floats(0, 3)),
        st.tuples(st.just("weigh"), st.lists(seconds, min_size=6, max_size=6)),
    ),
    max_size=40,
)


@given(st.lists(seconds, min_size=6, max_size=6), doings)
def test_whatever_is_done_the_calls_are_the_same(times, done):
    """Stages that come late, twice or never, shares that sum to more than one, plans that change on the way."""
    told = []
    with Work([Step(*step) for step in zip(STAGES, times, strict=True)], told.append) as work:
        for what, *arguments in done:
            if what == "weigh":
                work.weigh([Step(*step) for step in zip(STAGES, arguments[0], strict=True)])
            else:
                getattr(work, what)(*arguments)
        assert told == ALL[: len(told)]
        assert 1.0 not in told

    assert told == ALL


def test_shares_follow_the_plan():
    """Steps take as much of the bar as they take of the time; one that is over sooner is jumped."""
    told = []
    with Work(PLAN, told.append) as work:
        at = []
        for stage, share in [
            ("reading", 0.0),
            ("reading", 0.5),
            ("counting", 0.0),
            ("counting", 0.5),
            ("inference", 0.25),
        ]:
            if share == 0 or stage == "inference":
                work.begin(stage)
            work.add(stage, share)
            at.append(told[-1])

    assert at == [0.0, 0.06, 0.12, 0.18, 0.62]


def test_a_plan_can_change_on_the_way():
    """What is left is shared anew; nothing goes back."""
    told = []
    with Work(PLAN, told.append) as work:
        work.begin("reading")
        work.weigh([step._replace(seconds=1.0 if step.stage == "inference" else 0.0) for step in PLAN])
        work.add("reading", 1.0)
        assert told[-1] == 0.12
        work.begin("inference")
        work.add("inference", 0.5)
        assert told[-1] == 0.56


def test_the_last_step_waits_for_the_end():
    """An error on the way does not tell of an end that is not there."""
    told = []
    with pytest.raises(InterruptedError), Work(PLAN, told.append) as work:
        break_off(work)

    assert told == ALL[:-1]


def break_off(work):
    work.begin("writing")
    work.add("writing", 2.0)
    raise InterruptedError


def test_stages_are_told_once_each():
    """Questions of one stage are one word."""
    told = []
    with Work(PLAN, tell_stage=told.append) as work:
        for stage in ("reading", "counting", "counting", "counting", "inference", "counting", "intervals", "writing"):
            work.begin(stage)

    assert told == ["reading", "counting", "inference", "writing"]


def test_a_release_within_a_release_tells_nothing():
    """Calibration publishes made-up points: their counting and inference are part of its own stage."""
    told = []
    with Work(PLAN, told.append) as work:
        work.begin("inference")
        before = len(told)
        for stage in ("reading", "counting"):
            work.begin(stage)
            work.add(stage, 1.0)
        assert len(told) == before


def test_work_is_current_while_it_lasts():
    """Where none is going on, telling does nothing."""
    with Work(PLAN) as outer:
        assert current_work() is outer
        with Work(PLAN) as inner:
            assert current_work() is inner
        assert current_work() is outer
    assert current_work() is not outer
    current_work().begin("reading")
    current_work().add("reading", 1.0)
    current_work().weigh(PLAN)


def test_whoever_is_told_may_publish():
    """A callback that works itself neither waits for the work it is told of, nor goes on with it."""
    told = []

    def publish(share):
        told.append(share)
        with Work(PLAN) as inner:
            inner.begin("inference")
        current_work().add("bounding", 1.0)

    with Work(PLAN, publish) as work:
        for stage in ("reading", "counting", "inference", "writing"):
            work.begin(stage)
            work.add(stage, 1.0)

    assert told == ALL


def test_a_callback_that_breaks_leaves_no_work_behind():
    """Neither at the first per cent nor later."""
    for last in (0.0, 0.3):
        work = Work(PLAN, lambda share, last=last: share < last or 1 / 0)
        with pytest.raises(ZeroDivisionError), work:
            work.begin("writing")
        assert current_work() is not work


def test_threads_add_to_it():
    """In order, whichever thread it is that tells."""
    told = []
    with Work([Step("counting", 1.0)], told.append) as work, ThreadPoolExecutor(4) as pool:
        work.begin("counting")
        list(pool.map(lambda _: work.add("counting", 1 / 5000), range(5000)))

    assert told == ALL
    assert all(before < after for before, after in pairwise(told))
