"""Areas as a partition."""

import numpy as np
import pytest
import shapely

from hushgrid.answering.areas import area_partition
from hushgrid.errors import ArgumentError
from hushgrid.geometry import areas as module
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from tests.districts import SHAPES, districts
from tests.plain import UNIT_SQUARE

SQUARE = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]


def one_square(**changed):
    """An area of one ring, but for what is changed."""
    arrays = {"vertices": SQUARE, "ring_starts": [0, 5], "polygon_starts": [0, 1], "area_starts": [0, 1]}
    return AreaPartition(**{"domain": UNIT_SQUARE, "names": ("A",), **arrays, **changed})


def test_bounds_and_sizes_are_those_of_the_shapes():
    """Bounds and sizes of areas are those that shapely measures."""
    shapes = list(SHAPES.values())

    assert np.array_equal(districts().bounds(), shapely.bounds(shapes))
    assert np.array_equal(districts().bounds(1, 3), shapely.bounds(shapes)[1:3])
    assert districts().sizes == pytest.approx(shapely.area(shapes))


def test_small_areas_far_apart_are_measured_as_well():
    """A hundred metres at either end of the world."""
    world = Domain(west=-180, south=-90, east=180, north=90)
    shapes = [shapely.box(-179, -80, -178.999, -79.999), shapely.box(178, 80, 178.001, 80.001)]
    plain = [(box.bounds[2] - box.bounds[0]) * (box.bounds[3] - box.bounds[1]) for box in shapes]

    assert area_partition(shapes, ["A", "B"], world).sizes == pytest.approx(plain, rel=1e-9)


def test_segments_are_the_edges_of_each_area():
    """As long together as its outline, and none leads from one ring to another."""
    areas = districts()
    lengths = np.hypot(*(areas.segments[:, 2:] - areas.segments[:, :2]).T)

    assert np.add.reduceat(lengths, areas.segment_starts[:-1]) == pytest.approx(shapely.length(list(SHAPES.values())))
    assert areas.segment_starts[-1] == len(areas.segments)


def test_areas_are_equal_by_what_they_hold():
    """Names, domain and every vertex."""
    assert districts() == districts()
    assert one_square() != one_square(names=("B",))
    assert one_square() != one_square(domain=Domain(west=0, south=0, east=2, north=1))
    assert one_square() != one_square(vertices=[[0, 0], [1, 0], [1, 0.5], [0, 1], [0, 0]])


REFUSED = {
    "no area": (
        {"vertices": np.empty((0, 2)), "ring_starts": [0], "polygon_starts": [0], "area_starts": [0]},
        "made of",
    ),
    "a ring of three vertices": ({"vertices": SQUARE[:3], "ring_starts": [0, 3]}, "at least four vertices"),
    "a ring that is open": ({"vertices": [*SQUARE[:4], [0.0, 0.5]]}, "must be closed"),
    "starts beyond the end": ({"ring_starts": [0, 6]}, "made of"),
    "starts that go back": ({"ring_starts": [0, 5, 4, 5]}, "made of"),
    "flat numbers": ({"vertices": np.zeros(5)}, "made of"),
    "no name": ({"names": ()}, "0 names for 1 areas"),
    "a blank name": ({"names": (" ",)}, "printable"),
    "a name like a book": ({"names": ("x" * 201,)}, "1 to 200 printable"),
    "a name that commands a terminal": ({"names": ("\x1b[2J",)}, "printable"),
    "outside the domain": ({"vertices": np.array(SQUARE) + 0.5}, "reaches outside the domain"),
    "a vertex that is no number": ({"vertices": [[0, 0], [1, 0], [np.nan, 1], [0, 1], [0, 0]]}, "outside the domain"),
}


@pytest.mark.parametrize(("changed", "words"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_areas_is_refused(changed, words):
    """In words that say what would."""
    with pytest.raises(ArgumentError, match=words):
        one_square(**changed)


def test_two_areas_of_one_name_are_refused():
    """The message names the name that comes twice."""
    with pytest.raises(ArgumentError, match="two areas are called 'A'"):
        one_square(
            names=("A", "A"),
            vertices=SQUARE * 2,
            ring_starts=[0, 5, 10],
            polygon_starts=[0, 1, 2],
            area_starts=[0, 1, 2],
        )


def test_a_domain_that_would_do_is_named():
    """As an argument that can be passed; it holds what was asked for, too."""
    with pytest.raises(ArgumentError, match=r"reaches outside the domain.* Try domain=Domain\(west=-2\.0") as caught:
        one_square(domain=Domain(west=-2, south=0, east=0.5, north=1))

    assert caught.value.instead == {"domain": Domain(west=-2, south=0, east=1, north=1)}
    assert one_square(**caught.value.instead).cells == 1


@pytest.mark.parametrize("north", [91.0, np.nan])
def test_a_domain_that_cannot_be_is_not_offered(north):
    """For areas beyond the pole, or nowhere."""
    vertices = [[east, north if lat else 0.0] for east, lat in SQUARE]
    with pytest.raises(ArgumentError, match="reaches outside the domain") as caught:
        one_square(vertices=[*vertices[:4], vertices[0]])

    assert caught.value.instead == {}


def test_limits_are_named(monkeypatch):
    """Too many vertices are refused with both numbers and a way out."""
    monkeypatch.setattr(module, "VERTEX_LIMIT", 4)

    with pytest.raises(ArgumentError, match=r"5 vertices are over the limit .* Simplify"):
        one_square()
