"""The shelf: every synopsis has a name of its own, fit for an address, whatever its file is called."""

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.text import title_of
from hushgrid.web.shelf import RESERVED, Shelf, _entries, name_of
from tests.web.servers import some_synopses

SYNOPSIS = some_synopses()["trips"]
FIT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@settings(max_examples=200, deadline=None)
@given(titles=st.lists(st.text(max_size=8) | st.sampled_from(["v1", "healthz", "trips", "trips 2"]), max_size=8))
def test_names_are_fit_and_unique(titles):
    """Small letters, digits and single hyphens; none that another address has; titles differ, too."""
    entries = _entries((title, SYNOPSIS) for title in titles)

    assert len(entries) == len({entry.title for entry in entries.values()}) == len(titles)
    assert all(FIT.fullmatch(name) for name in entries)
    assert not entries.keys() & RESERVED


def test_the_same_title_twice_gets_a_number():
    """The number is in the address and in the heading."""
    shelf = Shelf([("trips", SYNOPSIS)] * 3)

    assert [(entry.name, entry.title) for entry in shelf.entries.values()] == [
        ("trips", "trips"),
        ("trips-2", "trips 2"),
        ("trips-3", "trips 3"),
    ]


def test_names_come_from_the_last_part_of_a_path_alone():
    """Folders and endings are left out, and so is all that could lead elsewhere."""
    assert name_of(title_of(Path("/secret/place/Trips of 2024.dp.parquet"))) == "trips-of-2024"
    assert name_of("../../etc/passwd") == "etc-passwd"
    assert len(name_of("a" * 1000)) == 60
    assert title_of(Path(".dp.parquet")) == ".dp.parquet"


def test_titles_are_text_in_the_switch():
    """A file may be called what it likes."""
    hostile = '"><script>alert(1)</script>'
    page = Shelf([(hostile, SYNOPSIS), ("other", SYNOPSIS)]).pages["other"].content.decode()

    assert "<script>alert(1)" not in page
    assert '<a href="../script-alert-1-script/">&quot;&gt;&lt;script&gt;' in page
    assert '<a href="./" aria-current="page">other</a>' in page
