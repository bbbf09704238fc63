"""A PostgreSQL server of our own, for as long as the tests run."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ACCOUNT = "postgres"  # Debian's; the server refuses to run as root


def find_binaries() -> Path | None:
    """The folder of `initdb` and `postgres`: where Debian has one for each version, or on the path."""
    versioned = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = [*versioned, *filter(None, [shutil.which("initdb")])]
    return Path(found[0]).resolve().parent if found else None


def why_not() -> str | None:
    """Why there can be no server here, if so."""
    if find_binaries() is None:
        return "PostgreSQL is not installed (Debian: postgresql)"
    if os.name != "posix":
        return "the server is started on POSIX only"
    if os.getuid() == 0 and (
        shutil.which("setpriv") is None or ACCOUNT not in {user.pw_name for user in pwd.getpwall()}
    ):
        return f"PostgreSQL refuses to run as root, and there is no account {ACCOUNT!r} to run it as"
    return None


@contextmanager
def running_server() -> Iterator[str]:
    """The URL of a new server that listens on a Unix socket only; it and its files are gone at the end."""
    binaries = find_binaries()
    assert binaries is not None
    folder = Path(tempfile.mkdtemp(prefix="hg-"))  # short: the path of a socket holds 107 bytes
    prefix = []
    if os.getuid() == 0:
        shutil.chown(folder, ACCOUNT)
        prefix = ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"]
    try:
        subprocess.run(
            [
                *prefix,
                binaries / "initdb",
                "-D",
                folder / "data",
                "-U",
                "hush",
                "-A",
                "trust",
                "--no-sync",
                "-E",
                "UTF8",
            ],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        settings = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=60"]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [*prefix, binaries / "postgres", "-D", folder / "data", *(f"-c{setting}" for setting in settings)],
                stdout=log,
                stderr=log,
                cwd=folder,
            )
        try:
            _wait(binaries, folder, server)
            yield f"postgresql://hush@/postgres?host={folder}"
        finally:
            server.send_signal(signal.SIGQUIT)  # an immediate shutdown: nothing is worth keeping
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(binaries: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    ready = [binaries / "pg_isready", "-q", "-h", folder, "-d", "postgres", "-U", "hush"]
    for _ in range(300):
        if server.poll() is not None:
            break
        if subprocess.run(ready, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError((folder / "log").read_text())
