"""What is drawn with a journal is kept before it is used, and is never drawn again."""

from fractions import Fraction

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.errors import LedgerError
from hushgrid.methods import METHODS
from hushgrid.privacy.bits import SystemBits
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.draws import Draws, fingerprint
from hushgrid.release.request import ReleaseRequest

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(5).beta(2, 5, (3000, 2))
USERS = np.random.default_rng(6).integers(0, 400, 3000)
SHAPE = {"identity": hg.METHODS["identity"](side=16)}  # the one method that has no size of its own


class Cut(Exception):
    """Stands for a crash."""


class Notebook:
    """A journal in memory, of a run that is cut off when so many values have been kept."""

    def __init__(self, *, most=10**9):
        self.most = most
        self.kept = {}
        self.recalled = []

    def recall(self, number, mark):
        """What was kept under a number."""
        known, payload = self.kept.get(number, (mark, None))
        if known != mark:
            raise LedgerError(str(number))
        if payload is not None:
            self.recalled.append(number)
        return payload

    def record(self, number, mark, payload):
        """Keep it, unless the run is to end here."""
        assert number not in self.kept
        if len(self.kept) >= self.most:
            raise Cut
        self.kept[number] = mark, payload


def published(journal, *, method, **options):
    """A release with noise of the system."""
    job = ReleaseRequest.of(domain=DOMAIN, epsilon=2, method=SHAPE.get(method, method), calibrate=False, **options)
    return job.release(job.open(POINTS), bits=SystemBits(), journal=journal)


def assert_same(one, other):
    """Two releases have the same measurements and cells."""
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.partition.bounds(), other.partition.bounds())
    assert (one.claim, one.method) == (other.claim, other.method)


@pytest.mark.parametrize("method", METHODS)
def test_everything_that_a_method_draws_is_kept(method):
    """A second run on the same journal, with other random bits, makes the same release and draws nothing."""
    journal = Notebook()
    first = published(journal, method=method)
    drawn = len(journal.kept)
    second = published(journal, method=method)

    assert drawn > 0
    assert journal.recalled == list(range(1, drawn + 1))
    assert_same(first, second)


@pytest.mark.parametrize("method", ["ug", "ag", "staq", "kd", "privtree", "privlet"])
def test_without_its_journal_a_run_draws_anew(method):
    """Negative control: two runs with journals of their own differ."""
    first, second = published(Notebook(), method=method), published(Notebook(), method=method)

    assert len(first.counts) != len(second.counts) or np.any(first.counts != second.counts)


@pytest.mark.parametrize("options", [{}, {"scale_to_total": "private"}], ids=["kept records", "scaled to a total"])
def test_the_key_of_the_users_and_their_total_are_kept(options):
    """A second run keeps the same records of each user, and scales them to the same total."""
    journal = Notebook()
    options = {"method": "ag", "user": USERS, "max_per_user": 3, **options}
    first, second = published(journal, **options), published(journal, **options)

    assert_same(first, second)
    assert first.scale == second.scale
    assert len(journal.kept[1][1]) == 32  # the key is the first thing that is drawn


@pytest.mark.parametrize("method", ["auto", "ag", "kd-hybrid", "hb"])
def test_a_run_that_was_cut_off_goes_on_where_it_was(method):
    """Whatever was kept before the cut is part of the release that comes of it, and only the rest is drawn."""
    for most in range(3):
        journal = Notebook(most=most)
        with pytest.raises(Cut):
            published(journal, method=method)
        before = dict(journal.kept)
        journal.most = 10**9
        again = published(journal, method=method)
        assert len(before) == most
        assert journal.recalled == list(range(1, most + 1))
        assert {number: journal.kept[number] for number in before} == before
        assert_same(again, published(journal, method=method))


def test_another_request_does_not_take_what_was_kept():
    """Another rate, purpose, length or other cells have another fingerprint."""
    journal = Notebook()
    Budget(Fraction(1), bits=SystemBits(), draws=Draws(journal)).measure(np.zeros(4, np.int64), Fraction(1, 2))

    for epsilon, cells, purpose in [(2, 4, "counts"), (1, 5, "counts"), (1, 4, "leaves")]:
        budget = Budget(Fraction(epsilon), bits=SystemBits(), draws=Draws(journal))
        with pytest.raises(LedgerError):
            budget.measure(np.zeros(cells, np.int64), Fraction(1, 2), purpose=purpose)


def test_a_fingerprint_tells_values_apart():
    """Where one value ends and the next begins is part of it, and so is every element of an array."""
    index = np.arange(6)
    different = [("ab", "c"), ("a", "bc"), ("abc",), (index,), (index[::-1],), (index.reshape(2, 3), (2, 3))]

    assert len({fingerprint(*what) for what in different}) == len(different)
