"""A draft entry for OpenDP's registry of deployments.

The fields are those of the records in its repository, opendp/deployments-registry-data.
"""

import re
from collections.abc import Mapping, Sequence

from hushgrid.errors import ArgumentError
from hushgrid.export.manifest import about_slices, facts_of
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.facts import Facts
from hushgrid.synopsis.synopsis import Synopsis

Yaml = str | int | float | Mapping[str, "Yaml"] | Sequence["Yaml"]


def yaml_text(value: Mapping[str, Yaml]) -> str:
    r"""A mapping as a YAML document.

    Examples
    --------
    >>> print(yaml_text({"name": "a \"b\": c\n", "parts": [{"epsilon": 0.5}, "no"]}), end="")
    name: "a \"b\": c\x0a"
    parts:
      - epsilon: 0.5
      - "no"
    """
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Yaml) -> list[str]:
    if isinstance(value, str):
        return [_quoted(value)]
    if isinstance(value, Mapping):
        return [line for key, each in value.items() for line in _field(key, each)]
    if isinstance(value, Sequence):
        return [line for each in value for line in _item(each)]
    return [repr(value)]


def _field(key: str, value: Yaml) -> list[str]:
    lines = _lines(value)
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        return [f"{key}: {lines[0]}"]
    return [f"{key}:", *(f"  {line}" for line in lines)]


def _item(value: Yaml) -> list[str]:
    first, *others = _lines(value)
    return [f"- {first}", *(f"  {line}" for line in others)]


def _quoted(text: str) -> str:
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


UNKNOWN = "To be filled in"
TIER = 3  # how much an entry tells: all that is asked for


def registry_entry(release: Synopsis | Slices, *, name: str, sha256: str, published: str) -> str:
    """A release as an entry of the registry, in YAML.

    What only its publisher knows is left to be filled in.

    Parameters
    ----------
    release : Synopsis or Slices
        The release; a simulation is an error.
    name : str
        Of its file.
    sha256 : str
        Of its bytes.
    published : str
        The day, as ``YYYY-MM-DD``.
    """
    if release.simulation:
        msg = "a simulated synopsis is not a release; it belongs in no registry."
        raise ArgumentError(msg)
    facts, slices = facts_of(release), about_slices(release)
    deployment: dict[str, Yaml] = {
        "basic": _basic(facts, slices, name, published),
        "dp_variant": _variant(facts),
        "privacy_loss": _loss(facts),
        "deployment_model": _model(facts),
        "accounting": _accounting(release),
        "implementation": _implementation(facts, slices, sha256),
        "administrative": {"status": "Draft", "tier": TIER, "registry_authors": [UNKNOWN]},
    }
    slug = re.sub(r"[^a-z0-9]+", "-", f"{name.split('.')[0].lower()} {published[:4]}").strip("-")
    return yaml_text({"url_slug": slug, "deployment": deployment})


def _basic(facts: Facts, slices: str, name: str, published: str) -> dict[str, Yaml]:
    bounds = "intervals" if facts.covered else "ranges by noise alone"
    map_of_cells = f"A map of {facts.cells:,} cells with noisy counts of {facts.counted}, with {bounds}"
    divided = (f"It has {slices}.",) if slices else ()
    return {
        "name": name.split(".")[0],
        "data_curators": [{"data_curator_name": UNKNOWN, "data_curator_type": UNKNOWN}],
        "description": " ".join((f"{map_of_cells}, as one GeoParquet file.", *divided, *facts.caveats)),
        "intended_use": UNKNOWN,
        "data_product_type": "Summary statistics",
        "data_product_region": _region(facts),
        "data_product_sector": UNKNOWN,
        "publication_date": published,
    }


def _variant(facts: Facts) -> dict[str, Yaml]:
    whose = "" if facts.claim.unit == "record" else ", and the user it belongs to"
    return {
        "variant_name": "Pure DP",
        "data_domain": f"Tables of records, each with a place{whose}. Places outside a public rectangle are left out: "
        f"{_region(facts)}.",
        "unprotected_quantities": "None: every number that depends on the data has noise.",
    }


def _loss(facts: Facts) -> dict[str, Yaml]:
    return {
        "privacy_unit": f"{facts.claim.unit.capitalize()}-level",
        "privacy_unit_details": f"{facts.claim.sentence} Two tables are adjacent if one is the other plus one "
        f"{facts.protects.removeprefix('each ')}.",
        "privacy_parameters": {"epsilon": float(facts.claim.epsilon)},
        "privacy_parameters_details": f"Exactly {facts.claim.epsilon}, spent as follows. {facts.budget}.",
    }


def _model(facts: Facts) -> dict[str, Yaml]:
    mark = facts.ledger
    account = "no ledger was kept"
    if mark is not None:
        account = f"this is entry {mark.entry} of the ledger of the data set {mark.dataset!r}, head {mark.head}"
    return {
        "model_name": "Central",
        "actors": "The curator, who holds the records and is trusted, as is the machine that made the release. "
        "Everybody else sees the release alone, and may know anything else and compute without limit.",
        "release_type": "One release",
        "release_type_details": f"Releases of the same data add up; {account}.",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _accounting(release: Synopsis | Slices) -> dict[str, Yaml]:
    parts = [release] if isinstance(release, Synopsis) else [each for _, each in release.all_parts()]
    inferences = " and ".join(repr(name) for name in dict.fromkeys(each.inference for each in parts))
    disjoint = "disjoint cells" if isinstance(release, Synopsis) else "disjoint cells and slices"
    return {
        "post_processing": f"Counts and their bounds are computed from the noisy integers alone (inference "
        f"{inferences}); both are in the file, and `hushgrid verify` computes the counts again.",
        "composition": f"Sequential over measurements, parallel over {disjoint}, in exact fractions.",
    }


def _implementation(facts: Facts, slices: str, sha256: str) -> dict[str, Yaml]:
    given = f" ({', '.join(facts.parameters)})" if facts.parameters else ""
    return {
        "preprocessing_and_hyperparameter_tuning": f"Sized by {facts.sized_by}. The domain,"
        f"{' the slices,' if slices else ''} the method and its parameters are public arguments.",
        "mechanisms": f"{facts.made_with}, method {facts.method.name}{given}: discrete Laplace "
        "noise on integer counts, sampled exactly with a rational scale and no floating point. "
        f"SHA-256 of the release: {sha256}.",
        "justification": UNKNOWN,
    }


def _region(facts: Facts) -> str:
    return f"{facts.region} ({facts.domain.crs})"
