"""The runner of pages can fail: pages that lie do not pass."""

from pathlib import Path

import pytest

from tests.docs.made_files import FILES, NEW_YORK, make, trips
from tests.docs.page import read_page
from tests.docs.session import run_page

TRUE = """\
<!-- files: districts.geojson -->
# A page

```console
$ export GREETING=hello
$ echo "$GREETING   12,345 points"; echo and 1 more >&2
hello 12,400 points
and 1
more
$ ls
districts.geojson
$ cat nowhere
cat: nowhere: No such file or directory, an error
```

```python
import json

number = 7
```

```pycon
>>> number + 1
8
>>> json.loads("")
Traceback (most recent call last):
...
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
```

<!--
```sh
echo hidden > here.txt
```
-->

<!-- not run: needs a cluster: tests/docs/test_runner.py -->
```sh
false
```

```console
$ cat here.txt \\
> districts.geojson | head -1
hidden
$ make test
never run
$ sh -c 'echo up; sleep 60'
up
^C
```
"""
FALSE = {
    "another-word": ("hello 12", "hullo 12"),
    "a-number-of-another-size": ("12,400", "42,400"),
    "a-number-that-is-given": ("and 1\n", "and 2\n"),
    "nothing-shown": ("hidden\n$ make", "$ make"),
    "something-not-printed": ("and 1\n", "and 1\nor\n"),
    "another-value": ("8\n", "80\n"),
    "a-statement-that-raises": ("number = 7", "number = 1 / 0"),
    "a-warning": ("number = 7", "import warnings; number = warnings.warn('old') or 7"),
    "a-path-elsewhere": ("$ ls\n", "$ ls . > /tmp/listing; echo districts.geojson\n"),
    "a-script-that-fails": ("echo hidden", "false; echo hidden"),
    "a-failure-that-is-not-shown": ("$ ls\n", "$ ls; false\n"),
    "a-block-that-is-run-after-all": ("<!-- not run: needs a cluster: tests/docs/test_runner.py -->\n", ""),
}


def page_of(text: str, folder: Path):
    """A page with a text. The error that `cat` prints does not call itself one."""
    path = folder / "page.md"
    path.write_text(text.replace("$ cat nowhere", "$ cat nowhere 2>&1 | sed 's/$/, an error/'; false"))
    return read_page(path)


def test_a_true_page_passes(tmp_path: Path) -> None:
    """All its blocks run, hidden ones too, and those that are marked do not."""
    page = page_of(TRUE, tmp_path)

    assert len(page.code) == 6
    assert run_page(page, tmp_path) == 5


@pytest.mark.parametrize(("right", "wrong"), FALSE.values(), ids=FALSE)
def test_a_false_page_fails(tmp_path: Path, right: str, wrong: str) -> None:
    """Negative control: the same page with one thing wrong does not pass."""
    assert TRUE.count(right) == 1
    page = page_of(TRUE.replace(right, wrong), tmp_path)

    with pytest.raises((AssertionError, ZeroDivisionError, UserWarning)):
        run_page(page, tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_made(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file that pages need can be made in the current folder."""
    monkeypatch.chdir(tmp_path)
    make(name)

    assert (tmp_path / name).stat().st_size > 0


def test_the_trips_are_in_new_york() -> None:
    """Nearly all of them, and the same ones whenever they are made."""
    table = trips()
    lon, lat = table["lon"].to_numpy(), table["lat"].to_numpy()
    inside = (lon > NEW_YORK.west) & (lon < NEW_YORK.east) & (lat > NEW_YORK.south) & (lat < NEW_YORK.north)

    assert inside.mean() > 0.99
    assert table.equals(trips())
