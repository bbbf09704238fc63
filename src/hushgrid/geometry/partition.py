"""What partitions offer, and those of releases beside it."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.geometry.domain import Domain

Layout = Mapping[str, NDArray[Any]]


class Partition(Protocol):
    """Disjoint leaf cells of a domain, in a public order."""

    @property
    def domain(self) -> Domain:
        """The rectangle the cells lie in."""

    @property
    def cells(self) -> int:
        """Number of leaf cells."""

    def bounds(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """Bounds of leaves `first` to `stop`, shape (leaves, 4)."""


class Structure(Partition, Protocol):
    """A partition that a release can have.

    Implemented by `Grid`, `NestedGrid`, `GroupedGrid` and `Tree`, which tile the domain with rectangles, and by
    `AreaPartition`, which need not. A file keeps the kind, the shape and the layout.
    """

    kind: ClassVar[str]
    tiles: ClassVar[bool]  # whether the leaves are rectangles that cover the domain
    layout_types: ClassVar[Mapping[str, type[np.generic]]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the leaves; empty if they have none."""

    @property
    def shape(self) -> dict[str, Any]:
        """Numbers of rows, columns, leaves and so on, by name."""

    @property
    def layout(self) -> Layout:
        """Columns that tell it from others of its shape."""

    @classmethod
    def from_layout(cls, domain: Domain, shape: Mapping[str, Any], layout: Layout) -> Self:
        """The partition of a shape and a layout.

        The shape need not say the number of leaves.
        """

    @property
    def details(self) -> dict[str, Any]:
        """Facts for readers, beside the number of leaves."""

    @property
    def words(self) -> str:
        """Its shape in words."""


def same_structure(one: Structure, other: object) -> bool:
    """Whether two partitions are of one kind, and equal."""
    if type(one) is not type(other):
        return False
    return (one.domain, one.shape) == (other.domain, other.shape) and all(
        map(np.array_equal, one.layout.values(), other.layout.values())
    )
