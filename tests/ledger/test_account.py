"""Whatever is done in whatever order, no account is overdrawn and no entry goes back."""

import io
import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from hushgrid.errors import BudgetError, LedgerError
from hushgrid.ledger.book import State
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.reservation import CommittedRelease
from tests.ledger.places import ASKED, asked, file_place, new_ledger

METHODS = st.sampled_from(["ag", "ug"])
EPSILONS = st.sampled_from([Fraction(1, 3), Fraction(1, 10), Fraction(1), Fraction(7, 4)])


class Accounts(RuleBasedStateMachine):
    """A ledger beside a plain model of it: what every entry has cost, and where it stands."""

    entries = Bundle("entries")

    @initialize(budget=st.sampled_from([Fraction(2), Fraction(1, 2), Fraction(10, 3)]))
    def open(self, budget: Fraction) -> None:
        """One data set."""
        self.folder = Path(tempfile.mkdtemp(prefix="hg-"))
        self.ledger = open_ledger(new_ledger(file_place(self.folder), budget=budget))
        self.budget = budget
        self.costs: dict[int, Fraction] = {}
        self.states: dict[int, State] = {}
        self.measured: set[int] = set()
        self.released: dict[str, bytes] = {}

    def teardown(self) -> None:
        """Nothing is left."""
        self.ledger.__exit__(None, None, None)
        shutil.rmtree(self.folder)

    @rule(target=entries, epsilon=EPSILONS, method=METHODS, new_release=st.booleans())
    def reserve(self, epsilon: Fraction, method: str, new_release: bool) -> int:
        """Granted exactly if it fits; the release that exists if there is one."""
        request = asked(epsilon=epsilon, method=method)
        fits = epsilon <= self.budget - sum(self.costs.values())
        try:
            answer = self.ledger.reserve(request, new_release=new_release)
        except BudgetError:
            assert not fits
            assert new_release or request.key not in self.released
            return 0
        if isinstance(answer, CommittedRelease):
            assert not new_release
            assert answer.read() == self.released[request.key]
            return 0
        assert fits
        assert new_release or request.key not in self.released
        self.costs[answer.entry.number], self.states[answer.entry.number] = epsilon, "reserved"
        return answer.entry.number

    @rule(entry=entries, content=st.binary(max_size=20))
    def commit(self, entry: int, content: bytes) -> None:
        """Once, if it was reserved."""
        request = self.request_of(entry)
        if self.allowed(entry, lambda: self.ledger.resume(entry, request).commit(io.BytesIO(content))):
            self.states[entry], self.released[request.key] = "committed", content

    @rule(entry=entries, data_was_read=st.booleans())
    def abandon(self, entry: int, data_was_read: bool) -> None:
        """Once; the cost stays unless nothing was read and nothing measured."""
        request = self.request_of(entry)
        if entry in self.measured and not data_was_read:
            return
        move = lambda: self.ledger.resume(entry, request).abandon("why", data_was_read=data_was_read)  # noqa: E731
        if self.allowed(entry, move):
            self.states[entry] = "abandoned"
            self.costs[entry] *= data_was_read

    @rule(entry=entries)
    def measure(self, entry: int) -> None:
        """Once a number."""
        if entry in self.measured:
            return
        request = self.request_of(entry)
        if self.allowed(entry, lambda: self.ledger.resume(entry, request).journal.record(1, "cells", b"noisy")):
            self.measured.add(entry)

    @precondition(lambda self: hasattr(self, "ledger"))
    @invariant()
    def the_account_is_that_of_the_model(self) -> None:
        """To the last fraction, and never above the budget; every state as it should be, every check passed."""
        book = self.ledger.book()
        account = book.accounts[ASKED.dataset]

        assert account.left == self.budget - sum(self.costs.values())
        assert 0 <= account.left <= self.budget
        assert {number: entry.state for number, entry in book.entries.items()} == self.states
        assert {number: entry.charged for number, entry in book.entries.items()} == self.costs
        assert self.ledger.verify().ok

    def request_of(self, entry: int):
        """What an entry was reserved for; the usual request if there is no such entry."""
        known = self.ledger.book().entries.get(entry)
        method = "ug" if known is not None and '"method":"ug"' in known.request else "ag"
        return asked(epsilon=known.epsilon if known else Fraction(1), method=method)

    def allowed(self, entry: int, move) -> bool:
        """Make a move, which is refused exactly if the entry is not reserved."""
        try:
            move()
        except LedgerError:
            assert self.states.get(entry) != "reserved"
            return False
        assert self.states.get(entry) == "reserved"
        return True


TestAccounts = Accounts.TestCase
TestAccounts.settings = settings(
    max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
