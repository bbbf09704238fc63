"""What Spark is given to read, and where it keeps its copy of the coordinates; most of it without a session."""

import logging
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting.engine import spark as spark_address
from hushgrid.counting.engine.address import Address
from hushgrid.counting.engine.spark import SCRATCH, SparkEngine, spark_frame
from hushgrid.errors import ArgumentError, InputError
from tests.conformance.engines import spark_session, why_no_spark


def session(**settings: str) -> Any:
    """What an engine needs of a session to be made; like Spark Connect, it has no Java of its own."""
    return SimpleNamespace(conf=SimpleNamespace(get={"spark.master": "yarn", **settings}.get))


def test_a_cluster_needs_a_place_before_anything_is_read() -> None:
    """A cluster without a scratch folder is refused before anything is read, so that a ledger gives the budget back."""
    with pytest.raises(ArgumentError, match=rf"--spark-conf {SCRATCH}=s3a://bucket/private"):
        SparkEngine(session())


def test_one_machine_needs_no_place() -> None:
    """It has a temporary folder."""
    SparkEngine(session(**{"spark.master": "local[4]"}))


def test_a_copy_that_cannot_be_removed_is_named() -> None:
    """A warning names the copy, and an error that is on its way stays as it is."""
    engine = SparkEngine(session(**{SCRATCH: "s3a://city/private/"}))

    with (
        pytest.raises(InterruptedError),
        pytest.warns(UserWarning, match=r"s3a://city/private/hushgrid-\w+ could not be removed"),
        engine._scratch(),
    ):
        raise InterruptedError


def test_a_gateway_that_breaks_after_the_last_query_is_not_heard(caplog: pytest.LogCaptureFixture) -> None:
    """A thread of Py4J's own may find that Spark is gone when no query runs any more, and logs a traceback."""
    gateway = pytest.importorskip("py4j.java_gateway")
    logging.getLogger().removeFilter(spark_address._is_not_of_gateway)  # as in a process that has not met Spark
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = gateway.GatewayClient(gateway_parameters=gateway.GatewayParameters(address="127.0.0.1", port=port))

        def sent_to_a_broken_gateway() -> str:
            hanging_up = Thread(target=lambda: server.accept()[0].close())
            hanging_up.start()
            client.send_command("m\nd\no1\ne\n", retry=False)
            hanging_up.join()
            said, _ = caplog.text, caplog.clear()
            return said

        assert "Exception while sending command" in sent_to_a_broken_gateway()  # the control: it does log
        SparkEngine(session(**{"spark.master": "local[4]"}))
        SparkEngine(session(**{"spark.master": "local[4]"}))  # a second one changes nothing
        assert sent_to_a_broken_gateway() == ""

    logging.getLogger().error("of the steward's own program")
    assert "of the steward's own program" in caplog.text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, in which there is a folder of points."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    pq.write_table(pa.table({"lon": [1.0], "lat": [2.0]}), tmp_path / "parts" / "a.parquet")
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What a session is asked for, in place of one."""
    calls: list[tuple[str, str]] = []
    read = SimpleNamespace(parquet=lambda path: calls.append(("path", path)))
    read.option = lambda *_: SimpleNamespace(parquet=lambda path: calls.append(("path here", path)))
    fake = SimpleNamespace(
        sql=lambda text: calls.append(("query", text)), table=lambda name: calls.append(("table", name)), read=read
    )
    monkeypatch.setattr(spark_address, "_session", lambda _: fake)
    return calls


def test_what_exists_here_wins_over_a_table(folder: Path, asked: list[tuple[str, str]]) -> None:
    """With the database before it, a name is one of a table again."""
    for name in ("parts", "default.parts", "trips", "./parts"):
        spark_frame(name, {})

    here = ("path here", f"file://{folder}/parts")
    assert asked == [here, ("table", "default.parts"), ("table", "trips"), here]


def test_a_path_is_no_pattern_if_it_exists(folder: Path, asked: list[tuple[str, str]]) -> None:
    """A folder that exists is read by its name, even if that looks like a pattern or a query."""
    for name in ("trips[1]", "trips*", "from here.parquet"):
        Path(name).mkdir()
        spark_frame(name, {})
        assert Address(text=name, engine="spark").query is None

    names = ["trips[1]", "trips*", "from here.parquet"]
    assert asked == [("path here", f"file://{folder}/{name}") for name in names]


@pytest.mark.parametrize("pattern", ["s3a://bucket/trips", "trips/*", "part-*", "trips.parquet", "{a,b}", "part-[12]"])
def test_patterns_and_addresses_are_paths(folder: Path, asked: list[tuple[str, str]], pattern: str) -> None:
    """A pattern is a path, with a slash or without."""
    spark_frame(pattern, {})

    assert asked == [("path", pattern)]


def test_temporary_folders_of_a_session_are_private(folder: Path) -> None:
    """One in each place that is named."""
    Path("a").mkdir()
    Path("b").mkdir()
    settings = spark_address._private_folders({"spark.local.dir": "a,b"})

    places = [Path(place) for place in settings["spark.local.dir"].split(",")]
    assert [place.parent for place in places] == [folder / "a", folder / "b"]
    assert all(stat.S_IMODE(place.stat().st_mode) == 0o700 for place in places)
    assert Path(settings["spark.sql.warehouse.dir"]).parent == places[0]
    assert spark_address._private_folders({"spark.remote": "sc://host"}) == {}
    with pytest.raises(ArgumentError, match=r"spark\.local\.dir"):
        spark_address._private_folders({"spark.local.dir": "nowhere"})


@pytest.mark.slow
@pytest.mark.skipif(why_no_spark() is not None, reason=str(why_no_spark()))
def test_a_query_of_spark_writes_nothing(folder: Path) -> None:
    """What is no query is refused before it runs; real ones are read, and so are paths with signs of a pattern."""
    session = spark_session()
    table = f"parquet.`{folder}/parts`"
    session.sql(f"CREATE OR REPLACE TEMPORARY VIEW trips AS SELECT * FROM {table}")
    target = f"INSERT OVERWRITE DIRECTORY '{folder}/written' USING parquet"
    for text in (
        f"FROM trips {target} SELECT *",
        f"WITH a AS (TABLE trips) {target} SELECT * FROM a",
        "SELECT 1; SELECT 2",
    ):
        with pytest.raises(InputError, match="one SELECT"):
            spark_frame(text, {})
    (folder / "parts").rename(folder / "parts[1]")
    (folder / "parts1").mkdir()

    assert not (folder / "written").exists()
    assert spark_frame("parts[1]", {}).count() == 1
    assert spark_frame("WITH a AS (SELECT 1 AS lon, 2 AS lat) SELECT * FROM a -- all", {}).columns == ["lon", "lat"]


SESSION = """
import os, sys
from pathlib import Path
from hushgrid.counting.engine.spark import spark_frame

frame = spark_frame("parts", {"spark.master": "local[1]", "spark.driver.host": "127.0.0.1"})
frame.repartition(3).groupBy("lon").count().collect()
place = Path(frame.sparkSession.conf.get("spark.local.dir"))
shuffled = [path for path in place.rglob("shuffle*")]
assert shuffled and all(path.stat().st_mode & 0o077 == 0 for path in [place, *place.rglob("*")])
frame.sparkSession.sql("SHOW TABLES").collect()
print(place)
if sys.argv[1:]:
    raise KeyboardInterrupt
"""


@pytest.mark.slow
@pytest.mark.skipif(why_no_spark() is not None, reason=str(why_no_spark()))
@pytest.mark.parametrize("broken", [(), ("broken",)], ids=["to the end", "interrupted"])
def test_a_session_of_ours_leaves_nothing_behind(folder: Path, broken: tuple[str, ...]) -> None:
    """Rows that it shuffles lie in a folder that only their owner may enter, and that goes away."""
    (folder / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    done = subprocess.run(
        [sys.executable, "-c", SESSION, *broken], env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == (0 if not broken else 130 if done.returncode == 130 else -2), done.stderr
    assert Path(done.stdout.strip()).parent == folder / "temporary"
    assert sorted(path.name for path in folder.iterdir()) == ["parts", "temporary"]
    assert not list((folder / "temporary").iterdir())
