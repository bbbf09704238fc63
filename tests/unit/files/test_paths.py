"""Files that appear whole or not at all."""

import os
import stat

import pytest

from hushgrid.errors import ArgumentError
from hushgrid.files.paths import new_file


def test_a_file_appears_when_it_is_complete(tmp_path):
    """Until the end there is nothing under the name that was asked for."""
    path = tmp_path / "new"

    with new_file(path, overwrite=False) as out:
        out.write(b"all of it")
        assert not path.exists()

    assert path.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [path]


def test_an_existing_file_is_kept(tmp_path):
    """The error names the file and the way out."""
    path = tmp_path / "taken"
    path.write_bytes(b"theirs")

    with (
        pytest.raises(ArgumentError, match=r"taken exists; pass overwrite=True \(--overwrite\)"),
        new_file(path, overwrite=False),
    ):
        pytest.fail("nothing may be written")
    assert path.read_bytes() == b"theirs"


def test_an_existing_file_is_replaced_when_asked(tmp_path):
    """Overwriting is a choice with a name."""
    path = tmp_path / "taken"
    path.write_bytes(b"theirs")

    with new_file(path, overwrite=True) as out:
        out.write(b"ours")

    assert path.read_bytes() == b"ours"
    assert list(tmp_path.iterdir()) == [path]


def test_a_race_is_lost_gracefully(tmp_path):
    """A file that came to exist while ours was written stays as it is."""
    path = tmp_path / "raced"

    with pytest.raises(ArgumentError, match="exists"), new_file(path, overwrite=False):
        path.write_bytes(b"theirs")

    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), RuntimeError("a bug"), KeyboardInterrupt()]
)
def test_a_failure_leaves_nothing_behind(tmp_path, failure):
    """Full disks, bugs and impatient users leave the folder as it was."""
    expected = ArgumentError if isinstance(failure, OSError) else type(failure)

    with pytest.raises(expected), new_file(tmp_path / "new", overwrite=False):
        raise failure

    assert list(tmp_path.iterdir()) == []


def test_a_failed_rename_gives_the_name_back(tmp_path, monkeypatch):
    """Where there are no links, the name that was claimed is free again."""

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("pathlib.Path.replace", refuse)

    with (
        pytest.raises(ArgumentError, match="cannot be written: Permission denied"),
        new_file(tmp_path / "new", overwrite=False),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_name_is_never_that_of_an_empty_file(tmp_path, monkeypatch):
    """Nothing is created under the name and filled later: a process killed in between would leave it empty."""
    seen, link, path = [], os.link, tmp_path / "new"

    def look(temporary, path):
        seen.append((temporary.read_bytes(), path.exists()))
        link(temporary, path)

    monkeypatch.setattr("os.link", look)

    with new_file(path, overwrite=False) as out:
        out.write(b"all of it")

    assert seen == [(b"all of it", False)]
    assert path.read_bytes() == b"all of it"


@pytest.mark.parametrize("there", [False, True])
def test_file_systems_without_links_are_written_to_all_the_same(tmp_path, monkeypatch, there):
    """The file appears, and one that came to exist meanwhile stays as it is."""

    def no_links(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("os.link", no_links)
    path = tmp_path / "new"
    try:
        with new_file(path, overwrite=False) as out:
            out.write(b"ours")
            if there:
                path.write_bytes(b"theirs")
    except ArgumentError:
        assert there

    assert path.read_bytes() == (b"theirs" if there else b"ours")
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_any_new_file(tmp_path):
    """A release is meant to be shared: the umask decides, as it does for other files."""
    plain, path = tmp_path / "plain", tmp_path / "new"
    plain.write_bytes(b"")

    with new_file(path, overwrite=False):
        pass

    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_no_file_is_never_replaced(tmp_path, overwrite):
    """Folders and pipes are refused by name, overwriting or not, and so is a folder that does not exist."""
    os.mkfifo(tmp_path / "pipe")
    cases = {tmp_path: "is a folder", tmp_path / "pipe": "not a regular file", tmp_path / "no" / "x": "does not exist"}

    for path, complaint in cases.items():
        with pytest.raises(ArgumentError, match=complaint), new_file(path, overwrite=overwrite):
            pytest.fail("nothing may be written")
