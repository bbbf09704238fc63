"""What a checker must refuse: each line that ends in a code is an error of that code. Never run; see test_api.py."""

import hushgrid as hg


def order(domain: hg.Domain) -> None:
    """Order is never a guess: bounds and options are given by name."""
    hg.Domain(0, 0, 1, 1)  # error: call-arg
    hg.Domain(west=0, south=0, east=1)  # error: call-arg
    hg.Domain(west="zero", south=0, east=1, north=1)  # error: arg-type
    hg.publish("trips.parquet", domain, 1.0)  # error: call-overload
    hg.UniformGrid(64)  # error: call-arg


def what_must_be_given(domain: hg.Domain) -> None:
    """The domain and the budget are public and must be given."""
    hg.publish("trips.parquet", epsilon=1.0)  # error: call-overload
    hg.publish("trips.parquet", domain=domain)  # error: call-overload
    hg.publish("trips.parquet", domain=(0, 0, 1, 1), epsilon=1.0)  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=None)  # error: call-overload


def what_there_is_none_of(domain: hg.Domain) -> None:
    """No seed and no weights."""
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, seed=1)  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, weights="fare")  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, rng=1)  # error: call-overload
    hg.simulation_rng("seed")  # error: arg-type


def spelling(domain: hg.Domain) -> None:
    """Options are spelt as they are, and of their kind."""
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, missing_user="keep")  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, size_from="file")  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, scale_to_total="public")  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, max_per_user="ten")  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, method=hg.UniformGrid)  # error: call-overload
    hg.publish("trips.parquet", domain=domain, epsilon=1.0, method=3)  # error: call-overload
    hg.AdaptiveGrid(beta=0.5)  # error: call-arg
    hg.UniformGrid(side=2.5)  # error: arg-type
    hg.Staq(inference="guess")  # error: arg-type


def released_values(domain: hg.Domain, synopsis: hg.Synopsis) -> None:
    """Released values do not change."""
    domain.west = 5  # error: misc
    synopsis.counts = synopsis.counts + 1  # error: misc
    hg.METHODS["mine"] = hg.UniformGrid  # error: index
    synopsis.total()  # error: operator


def questions(synopsis: hg.Synopsis) -> None:
    """Answers take rectangles, a confidence by name, and tell what they know."""
    synopsis.answer([0, 0, 1, 1], 0.9)  # error: call-arg
    synopsis.sample("many")  # error: arg-type
    len(synopsis.true_counts)  # error: attr-defined
    len(synopsis.answer([0, 0, 1, 1]).exact)  # error: attr-defined
    hg.read(3)  # error: arg-type
