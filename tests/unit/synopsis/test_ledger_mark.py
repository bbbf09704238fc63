"""The entry of a ledger travels with the release, and releases without one stay as they were."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import hushgrid as hg
from hushgrid.errors import SynopsisFileError
from hushgrid.files.footer import RELEASE, footer_metadata, parse_footer
from hushgrid.synopsis.claim import LedgerMark

MARK = LedgerMark(dataset="trajets à vélo", entry=12, head="ab" * 32)


def test_the_mark_comes_back(synopsis, tmp_path: Path) -> None:
    """From a file, on every kind of partition."""
    replace(synopsis, ledger=MARK).save(tmp_path / "out.dp.parquet", allow_simulation=True)

    assert hg.read(tmp_path / "out.dp.parquet").ledger == MARK


def test_without_a_ledger_the_footer_has_no_such_key(synopsis) -> None:
    """Files of releases on no account are what they were before there were ledgers."""
    assert "ledger" not in json.loads(footer_metadata(synopsis)[RELEASE])


BAD = {
    "a key that is not known": {"more": 1},
    "no number": {"entry": "12"},
    "entry zero": {"entry": 0},
    "a name that is not text": {"dataset": ["trips"]},
    "a name that a terminal would obey": {"dataset": "\x1b[2J"},
    "a head that is not text": {"head": None},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_a_mark_that_was_made_up_is_refused(synopsis, change) -> None:
    """Its parts have the types they must have, and are all that there is."""
    metadata = footer_metadata(replace(synopsis, ledger=MARK))
    release = json.loads(metadata[RELEASE])
    release["ledger"] |= change
    metadata[RELEASE] = json.dumps(release).encode()

    with pytest.raises(SynopsisFileError):
        parse_footer(metadata, rows=synopsis.partition.cells)
