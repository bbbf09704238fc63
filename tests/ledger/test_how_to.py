"""The page on the ledger shows what the commands really print."""

import io
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from hushgrid.cli import main
from hushgrid.errors import BudgetError
from hushgrid.ledger.ledger import open_ledger
from tests.ledger.places import asked, reserved

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "ledger.md").read_text()


def masked(text: str) -> str:
    """A text whose hashes and times are all the same."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", re.sub(r"[0-9a-f]{16,}", "HASH", text)).strip()


def test_the_page_tells_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands, run in order on the ledger it speaks of, print what it shows but for hashes and times."""
    monkeypatch.chdir(tmp_path)
    init, *others = re.findall(r"^```console\n\$ hushgrid (.*?)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(others) == 4

    def run(command: str) -> str:
        return CliRunner().invoke(main, shlex.split(command)).stdout

    assert masked(run(init[0])) == masked(init[1])
    with open_ledger("hushgrid.ledger") as ledger:
        released = reserved(ledger)
        released.commit(io.BytesIO(b"release"))
        reserved(ledger, epsilon=Fraction("0.5"), method="staq")
        reserved(ledger, epsilon=Fraction("0.25"), method="ug").abandon("no such column", data_was_read=False)
        with pytest.raises(BudgetError) as refusal:
            ledger.reserve(asked(epsilon=Fraction(2)))
    for command, shown in others:
        assert masked(run(re.sub(r"[0-9a-f]{64}", released.mark["head"], command))) == masked(shown)
    assert str(refusal.value) in " ".join(PAGE.replace("\n> ", " ").split())
