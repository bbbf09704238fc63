"""Release files on areas: what is in them, who reads them, and what a stranger may not say."""

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from hushgrid.errors import SynopsisFileError
from hushgrid.files.structure import layout_schema
from hushgrid.files.tables import pack, unpack
from hushgrid.files.verify import verify_file
from hushgrid.geometry.areas import AreaPartition
from hushgrid.synopsis.synopsis import read
from tests.districts import SHAPES, districts
from tests.synopses import synopsis_on
from tests.tampering import tamper


@pytest.fixture
def saved(path):
    """A release on areas."""
    synopsis_on(districts()).save(path)
    return path


def failures(path):
    """Names of the checks that fail."""
    return {check.name for check in verify_file(path).checks if not check.ok}


def structure_of(path):
    """The arrays of the structure."""
    packed = pq.read_metadata(path).metadata[b"hushgrid:structure"]
    return unpack(
        packed, schema=layout_schema(AreaPartition), rows=len(districts().vertices), name="structure"
    ).to_pydict()


def test_saving_and_reading_is_the_identity(saved):
    """Areas, names and counts, bit for bit; and the file is consistent."""
    back, synopsis = read(saved), synopsis_on(districts())

    assert back.partition == synopsis.partition
    assert np.array_equal(back.counts, synopsis.counts)
    assert np.array_equal(back.variances, synopsis.variances)
    assert failures(saved) == set()


def test_geopandas_reads_names_shapes_and_counts(saved):
    """Whatever reads GeoParquet sees the areas themselves."""
    frame = geopandas.read_parquet(saved)

    assert frame["name"].tolist() == list(SHAPES)
    assert all(map(shapely.equals, frame.geometry, SHAPES.values()))
    assert np.array_equal(frame["count"], synopsis_on(districts()).counts)
    assert frame.crs == "OGC:CRS84"


def test_the_same_areas_make_the_same_bytes(saved, tmp_path):
    """Whatever order shapely keeps their rings in."""
    synopsis_on(districts()).save(tmp_path / "again.dp.parquet")

    assert (tmp_path / "again.dp.parquet").read_bytes() == saved.read_bytes()


CHANGED = {
    "names": {"name": ["A", "B", "C", "D", "E"]},
    "polygons": {"geometry": shapely.to_wkb(shapely.box(0, 0, np.arange(1, 6), 1)).tolist()},
    "bounds": {"west": np.zeros(5)},
    "counts": {"count": np.zeros(5)},
}


@pytest.mark.parametrize(("check", "columns"), CHANGED.items(), ids=CHANGED)
def test_rows_that_contradict_the_structure_are_noticed(saved, check, columns):
    """By their own check, and no other."""
    tamper(saved, columns=columns)

    assert failures(saved) == {check}


def moved(column, change):
    """A change of one column of the structure."""

    def edit(arrays):
        arrays[column] = change(np.array(arrays[column])).tolist()

    return edit


def a_hole_that_leaves_its_polygon(x):
    """The hole is moved by 0.35: it crosses the outer ring."""
    return np.where((x == 0.6) | (x == 0.7), x + 0.35, x)


LIES = {
    "areas that overlap": moved("x", lambda x: np.where(x == 0.5, 0.45 + 0.1 * (np.arange(len(x)) < 5), x)),
    "a ring that leaves its polygon": moved("x", a_hole_that_leaves_its_polygon),
    "a ring that is open": moved("x", lambda x: np.append(x[:-1], 0.7)),
    "vertices outside the domain": moved("x", lambda x: x * 2),
    "vertices that are no numbers": moved("y", lambda y: y * np.nan),
    "a ring that is left out": moved("ring", lambda ring: ring + (ring > 2)),
    "rings out of order": moved("ring", lambda ring: ring[::-1]),
    "a polygon in the middle of a ring": moved("polygon", lambda polygon: np.append(polygon[1:], polygon[-1])),
    "an area in the middle of a polygon": moved("area", lambda area: np.append(area[1:], area[-1])),
    "areas numbered from one": moved("area", lambda area: area + 1),
    "areas inside out": moved("x", lambda x: 1 - x),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_areas_that_cannot_be_are_refused(saved, lie):
    """In one line, by whoever reads the file."""
    arrays = structure_of(saved)
    lie(arrays)
    tamper(saved, keys={"hushgrid:structure": pack(pa.table(arrays, schema=layout_schema(AreaPartition)))})

    for use in (read, verify_file):
        with pytest.raises(SynopsisFileError, match="cannot be read"):
            use(saved)


SAID = {
    "too few names": (("names",), ["A"]),
    "a name twice": (("names",), ["A", "A", "B", "C", "D"]),
    "a name that commands a terminal": (("names",), ["\x1b[2J", "B", "C", "D", "E"]),
    "names that are no texts": (("names",), [1, 2, 3, 4, 5]),
    "fewer vertices than there are": (("vertices",), 20),
    "a billion vertices": (("vertices",), 10**9),
    "vertices that are no number": (("vertices",), "many"),
    "rows and columns": (("rows",), 2),
    "another kind": (("kind",), "grid"),
}


@pytest.mark.parametrize(("key", "value"), SAID.values(), ids=SAID)
def test_a_footer_that_lies_about_areas_is_refused(saved, key, value):
    """Before anything is built from it."""
    tamper(saved, edit=lambda release: release["structure"].update({key[0]: value}))

    with pytest.raises(SynopsisFileError, match="cannot be read"):
        read(saved)


def test_a_file_without_its_structure_is_refused(saved):
    """Rows alone do not say what was counted on."""
    tamper(saved, keys={"hushgrid:structure": None})

    with pytest.raises(SynopsisFileError, match="are missing"):
        read(saved)
