"""The page on the ledger shows what the commands really print."""

import re
import shlex
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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


def lines_in_order(wanted: str, text: str) -> bool:
    """Whether the lines of a block are in a text, in order; three dots stand for any."""
    lines = iter(text.splitlines())
    return all(line in lines for line in wanted.splitlines() if line != "...")


def test_the_page_tells_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands, run in order on the ledger it speaks of, print what it shows but for hashes and times."""
    monkeypatch.chdir(tmp_path)
    write_trips("trips.parquet")
    blocks = re.findall(r"^```console\n\$ hushgrid (.*?)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 8

    for command, shown in blocks:
        with open_ledger("hushgrid.ledger", create=True) as ledger:
            entries = ledger.book().entries
            head = entries[1].head if entries else ""
            if "driver" in command:  # before that, the page has it, another release was cut off
                reserved(ledger, epsilon=Fraction("0.5"), method="staq")
        result = CliRunner().invoke(main, shlex.split(re.sub(r"[0-9a-f]{64}", head, command)))
        if command.startswith("publish"):
            assert lines_in_order(shown, result.output), result.output
        else:
            assert masked(result.stdout) == masked(shown)
    with open_ledger("hushgrid.ledger") as ledger, pytest.raises(BudgetError) as refusal:
        ledger.reserve(asked(epsilon=Fraction(2)))
    assert str(refusal.value) in " ".join(PAGE.replace("\n> ", " ").split())
    assert Path("trips.dp.parquet").read_bytes() == Path("again.dp.parquet").read_bytes()


def write_trips(path: str) -> None:
    """Records of some riders."""
    rng = np.random.default_rng(9)
    lon, lat = rng.normal(-73.95, 0.05, 20_000), rng.normal(40.75, 0.05, 20_000)
    pq.write_table(pa.table({"lon": lon, "lat": lat, "rider": rng.integers(0, 3000, 20_000)}), path)
