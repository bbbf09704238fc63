"""What is known of a density before anything is released.

A prior is public, or was released before, and is chosen without a look at the data. How far it is believed is learned
from the release that it sharpens, so it may be wrong.
"""

from typing import ClassVar, Protocol

from hushgrid.arrays import Floats, Indices
from hushgrid.inference.pooled import Trust


class Prior(Protocol):
    """A public density, opened for one domain.

    Only its shares matter, and how much evidence they rest on: half a place, or half a point, is one unit.
    """

    needs_proof: ClassVar[bool]  # whether it must explain what was measured before it is followed

    @property
    def trust(self) -> Trust:
        """How far it is believed before anything is learned."""

    @property
    def name(self) -> str:
        """What a release calls it, such as "GeoNames"."""

    @property
    def kind(self) -> str:
        """What kind of source it is, such as "places"."""

    @property
    def sha256(self) -> str:
        """Digest of its source, in hexadecimal."""

    @property
    def licence(self) -> str | None:
        """Licence that whoever passes on the release names, if any."""

    def evidence(self, levels: Indices, codes: Indices) -> Floats:
        """Evidence in quadtree cells of the domain, shape (n,).

        It is the prior's mass over its pseudo-count k, at least zero, and adds up over disjoint cells.

        Parameters
        ----------
        levels, codes : array of int, shape (n,)
            Of the cells, as `hushgrid.geometry.quadrants.Quadrants` has them.
        """
