"""The footer: every value comes back, and hostile ones are refused before they cost anything."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pytest

from hushgrid.errors import SynopsisFileError
from hushgrid.files.footer import MEASUREMENTS, RELEASE, STRUCTURE, footer_metadata, parse_footer
from hushgrid.files.structure import layout_schema
from hushgrid.files.tables import MOST_RATES, REGION_SCHEMA, measured_columns, measured_from, measurement_table, pack
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import CELL_LIMIT, NestedGrid
from hushgrid.inference.measurements import NOT_MEASURED, NoisyValues
from hushgrid.synopsis.claim import Claim, MethodRecord, Size, Spend
from tests.tampering import packed

CLAIMS = {
    "record": Claim(epsilon=Fraction(1, 10), spends=(Spend(purpose="counts", epsilon=Fraction(1, 10)),)),
    "user": Claim(
        epsilon=Fraction(7, 3),
        unit="user",
        max_per_unit=10,
        spends=(Spend(purpose="size", epsilon=Fraction(1, 30)), Spend(purpose="leaves", epsilon=Fraction(1, 5))),
        size=Size(source="rows", value=-12),
        simulation=True,
    ),
    "public": Claim(epsilon=Fraction(1), size=Size(source="public", value=10**30)),
}


def parsed(synopsis, *, edit=None, keys=None):
    """The footer of a synopsis as a reader sees it, with its JSON edited or keys replaced."""
    metadata = footer_metadata(synopsis)
    if edit is not None:
        release = json.loads(metadata[RELEASE])
        edit(release)
        metadata[RELEASE] = json.dumps(release).encode()
    metadata |= keys or {}
    return parse_footer(metadata, rows=synopsis.partition.cells)


def put(place, value):
    """An edit that puts a value at a place written like ``claim.spends.0.epsilon``."""

    def edit(release):
        *path, last = place.split(".")
        for key in path:
            release = release[int(key)] if isinstance(release, list) else release[key]
        release[last] = value

    return edit


def test_everything_comes_back(synopsis):
    """Partition, regions and their values are those of the synopsis."""
    footer, measurements = parsed(synopsis), synopsis.measurements

    assert footer.partition == synopsis.partition
    assert footer.inference == synopsis.inference
    np.testing.assert_array_equal(footer.regions.first, measurements.regions.first)
    np.testing.assert_array_equal(footer.regions.stop, measurements.regions.stop)
    np.testing.assert_array_equal(footer.region_values.values, measurements.region_values.values)
    np.testing.assert_array_equal(footer.region_values.variances, measurements.region_values.variances)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_claims_come_back_exactly(on_grid, claim):
    """Every epsilon is the same rational."""
    assert parsed(replace(on_grid, claim=claim)).claim == claim


def test_epsilons_are_written_as_fractions(on_grid):
    """No float stands between a claim and its reader."""
    text = json.loads(footer_metadata(replace(on_grid, claim=CLAIMS["record"]))[RELEASE])

    assert text["claim"]["epsilon"] == "1/10"


def test_methods_come_back(on_grid):
    """Parameters of every type, notes, and what was asked for."""
    parameters = {"side": None, "c": 10.0, "first_side": 7, "alpha": "1/3", "fast": True}
    method = MethodRecord(name="ag", parameters=MappingProxyType(parameters), asked="auto", notes=("ε is small", "b"))

    assert parsed(replace(on_grid, method=method)).method == replace(method, parameters=parameters)


@pytest.mark.parametrize("alpha", [Fraction(1, 3), Decimal("0.25")])
def test_exact_parameters_are_kept_as_text(on_grid, alpha):
    """A share given as a fraction does not become a float on the way."""
    method = MethodRecord(name="ag", parameters={"alpha": alpha})

    assert parsed(replace(on_grid, method=method)).method.parameters == {"alpha": str(alpha)}


def test_several_rates_and_missing_values_come_back():
    """Each value has its own rate, and where nothing was measured nothing comes back."""
    rates = (Fraction(1, 2), Fraction(1, 3))
    index = np.array([1, NOT_MEASURED, 0, 1], np.int32)
    measured = NoisyValues(values=np.array([-5, 0, 2**62, -(2**62)]), rates=rates, rate_index=index)

    back = measured_from(*measured_columns(measured))

    np.testing.assert_array_equal(back.values, measured.values)
    np.testing.assert_array_equal(back.rate_index, index)
    assert back.rates == rates


HOSTILE = {
    "a newer schema": ("schema", 3, "its schema is 3"),
    "no schema yet": ("schema", 0, "its schema is 0"),
    "slices": ("slices", [], "it holds several slices"),
    "a schema of text": ("schema", "1", "schema must be a whole number"),
    "a schema of true": ("schema", True, "schema must be a whole number"),
    "an unknown key": ("surprise", 1, "'surprise' is not known"),
    "an unknown key in the claim": ("claim.delta", "1/2", "'claim.delta' is not known"),
    "an unknown key with a line break": ("a\nb", 1, r"'a\\nb' is not known"),
    "an unknown structure": ("structure.kind", "tesseract", "structure.kind must be 'grid'.* not 'tesseract'"),
    "an unknown kind of measurements": ("measurements.kind", "haar", "must be 'runs' or 'wavelet', not 'haar'"),
    "a trillion cells": ("structure.cells", 10**12, "structure.cells must be between 1 and"),
    "a trillion rows": ("structure.rows", 10**12, "structure.rows must be between 1 and"),
    "rows by columns over the limit": ("structure.rows", CELL_LIMIT, "over the limit|more cells than there are leaves"),
    "no cells": ("structure.cells", 0, "structure.cells must be between 1 and"),
    "other cells than rows": ("structure.cells", 7, "its structure has 7 cells, the file"),
    "half a row": ("structure.rows", 1.5, "structure.rows must be a whole number"),
    "a trillion regions": ("measurements.regions", 10**12, "measurements.regions must be between 0 and"),
    "more regions than there are": ("measurements.regions", 9, "declare"),
    "west as text": ("domain.west", "-74", "domain.west must be a finite number"),
    "an endless west": ("domain.west", 10**400, "domain.west must be a finite number"),
    "west beyond east": ("domain.west", 10.0, "domain west must be below east"),
    "no reference system": ("domain.crs", None, "domain.crs must be a text"),
    "a float epsilon": ("claim.epsilon", 0.1, "claim.epsilon must be a text"),
    "a negative epsilon": ("claim.epsilon", "-1", "claim.epsilon must be a fraction above zero"),
    "epsilon zero": ("claim.epsilon", "0", "claim.epsilon must be a fraction above zero"),
    "epsilon over zero": ("claim.epsilon", "1/0", "claim.epsilon must be a fraction above zero"),
    "epsilon not in lowest terms": ("claim.epsilon", "2/4", "claim.epsilon must be a fraction above zero"),
    "epsilon in other digits": ("claim.epsilon", "\u0661", "claim.epsilon must be a fraction above zero"),
    "an endless epsilon": ("claim.epsilon", "9" * 10_000, "claim.epsilon must be a fraction above zero"),
    "an unknown unit": ("claim.unit", "household", "claim.unit must be 'record' or 'user'"),
    "nobody's records": ("claim.max_per_unit", 0, "claim.max_per_unit must be between 1 and"),
    "spends that are no list": ("claim.spends", {}, "claim.spends must be a list of objects"),
    "a spend of numbers": ("claim.spends", [1], "claim.spends must be a list of objects"),
    "a spend without a purpose": ("claim.spends", [{"epsilon": "1"}], r"claim.spends\[0\].purpose is missing"),
    "a size of nothing": ("claim.size", {}, "claim.size.source is missing"),
    "a size from the data": ("claim.size", {"source": "true", "value": 1}, "claim.size.source must be"),
    "a simulation of 0": ("claim.simulation", 0, "claim.simulation must be true or false"),
    "a nested parameter": ("method.parameters", {"a": []}, "method.parameters must hold"),
    "parameters in a list": ("method.parameters", [], "method.parameters must be an object"),
    "an endless parameter": ("method.parameters", {"a": 10**400}, "method.parameters must hold"),
    "notes of numbers": ("method.notes", [1], "method.notes must be a list of texts"),
    "a claim of null": ("claim", None, "claim must be an object"),
}


@pytest.mark.parametrize(("place", "value", "complaint"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_values_are_refused(synopsis, place, value, complaint):
    """The error says what is wrong where, in one line."""
    with pytest.raises(SynopsisFileError, match=complaint) as caught:
        parsed(synopsis, edit=put(place, value))

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["schema", "library", "domain", "structure", "measurements", "inference", "method", "claim"]
)
def test_every_key_is_needed(on_grid, key):
    """A missing key is named."""
    with pytest.raises(SynopsisFileError, match=f"{key} is missing"):
        parsed(on_grid, edit=lambda release: release.pop(key))


@pytest.mark.parametrize(
    "text",
    [b"", b"\xff\xfe", b"[]", b'{"schema": NaN}', b'{"schema": 1, "schema": 1}', b"[" * 100_000, b"9" * 10_000],
    ids=["empty", "no-text", "list", "NaN", "repeated-key", "deep", "long-number"],
)
def test_what_is_no_json_object_is_refused(on_grid, text):
    """The strict reading of JSON has no exceptions, of either sort."""
    with pytest.raises(SynopsisFileError, match="its metadata is no"):
        parsed(on_grid, keys={RELEASE: text})


def test_a_file_of_somebody_else_is_told_apart():
    """A Parquet file without our key is not a release."""
    with pytest.raises(SynopsisFileError, match="not a release of hushgrid"):
        parse_footer({b"geo": b"{}"}, rows=1)


@pytest.mark.parametrize("sides", [[1, 2, 3, 0], [1, 2, 3, -1], [1, 2, 2, 2], [1, 2, 3, 2**62], [1, 2, 3]])
def test_sides_must_make_the_declared_cells(on_nested, sides):
    """Sides that are not positive, too few, or make other cells than there are, are refused."""
    with pytest.raises(SynopsisFileError):
        parsed(on_nested, keys={STRUCTURE: pack(pa.table([pa.array(sides)], schema=layout_schema(NestedGrid)))})


def test_arrays_belong_to_those_who_need_them(on_grid, on_nested):
    """A grid has none, a nested grid has its sides; measurements are there if they are declared."""
    of_nested = footer_metadata(on_nested)

    with pytest.raises(SynopsisFileError, match="needs no arrays"):
        parsed(on_grid, keys={STRUCTURE: of_nested[STRUCTURE]})
    with pytest.raises(SynopsisFileError, match="declares 0 measurements of regions, which are there"):
        parsed(on_grid, keys={MEASUREMENTS: of_nested[MEASUREMENTS]})
    for key, complaint in ((STRUCTURE, "are missing"), (MEASUREMENTS, "4 measurements of regions, which are missing")):
        with pytest.raises(SynopsisFileError, match=complaint):
            parse_footer({name: value for name, value in of_nested.items() if name != key}, rows=15)


@pytest.mark.parametrize(("first", "stop"), [(-1, 2), (2, 2), (3, 2), (0, 16), (2**62, 2**63 - 1)])
def test_runs_must_lie_within_the_leaves(on_nested, first, stop):
    """A region of leaves that do not exist is refused."""
    table = measurement_table(on_nested.measurements)
    runs = [
        pa.array([*column.to_pylist()[:-1], edge]) for column, edge in ((table["first"], first), (table["stop"], stop))
    ]
    hostile = pa.table([table["value"], table["rate"], *runs], schema=REGION_SCHEMA)

    with pytest.raises(SynopsisFileError, match="leaves that do not exist"):
        parsed(on_nested, keys={MEASUREMENTS: pack(hostile)})


RATES = {
    "zero": ["0"],
    "negative": ["-1/2"],
    "a float": ["0.5"],
    "infinite": ["inf"],
    "unreduced": ["2/4"],
    "null": [None],
    "too small for doubles": ["1/1" + "0" * 200],
    "too large for doubles": ["1" + "0" * 400],
    "endless": ["1" * 5000],
    "too many": [f"1/{n}" for n in range(1, MOST_RATES + 2)],
    "without a common denominator": [f"1/{2**61 + n}" for n in range(1, 99, 2)],
}


@pytest.mark.parametrize("rates", RATES.values(), ids=RATES)
def test_hostile_rates_are_refused(rates):
    """Exact sums of the rates must stay computable."""
    column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array(rates, pa.string()))

    with pytest.raises(SynopsisFileError, match="rate"):
        measured_from(pa.array([5]), column)


def test_spends_must_add_up_in_reasonable_numbers(on_grid):
    """Thousands of spends with unrelated denominators are refused."""
    spends = [{"purpose": "counts", "epsilon": f"1/{2**61 + n}", "measured": True} for n in range(1, 9999, 2)]

    with pytest.raises(SynopsisFileError, match="no common denominator"):
        parsed(on_grid, edit=put("claim.spends", spends))


@pytest.mark.parametrize(("value", "index"), [(None, 0), (5, None)])
def test_a_value_and_its_rate_come_together(value, index):
    """One without the other means nothing."""
    rates = pa.DictionaryArray.from_arrays(pa.array([index], pa.int32()), ["1/2"])

    with pytest.raises(SynopsisFileError, match="lacks its rate"):
        measured_from(pa.array([value], pa.int64()), rates)


def test_indices_of_rates_that_are_not_there_are_refused(on_nested):
    """Arrow trusts such indices, and would read past the end."""
    table = measurement_table(on_nested.measurements)
    beyond = pa.DictionaryArray.from_arrays(np.array([0, 0, 0, 10**6], np.int32), ["1/2"], safe=False)

    with pytest.raises(SynopsisFileError, match="cannot be decoded"):
        parsed(on_nested, keys={MEASUREMENTS: packed(table.set_column(1, REGION_SCHEMA.field("rate"), beyond))})


def test_a_domain_of_metres_comes_back(on_grid):
    """The reference system is part of the domain."""
    domain = Domain(west=5e5, south=4e6, east=6e5, north=5e6, crs="EPSG:32618")

    assert parsed(replace(on_grid, partition=replace(on_grid.partition, domain=domain))).partition.domain == domain
