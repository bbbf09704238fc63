"""The public prior that a sharpened release holds."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.quadrants import Quadrants, finest_runs, quadrants_of
from hushgrid.geometry.tree import Tree
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.pooled import UNIT, Trust
from hushgrid.synopsis.claim import PriorRecord
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedPrior:
    """A prior known by its evidence in the leaves of a release.

    It is spread evenly inside leaves, in whole numbers, so that it is the same on every machine. A prior that was
    followed once needs no second proof.
    """

    needs_proof: ClassVar[bool] = False

    record: PriorRecord
    cells: Quadrants
    trust: Trust

    @classmethod
    def of(cls, synopsis: Synopsis) -> "RecordedPrior | None":
        """The prior of a release, if one was used."""
        trust = INFERENCES[synopsis.inference].trust
        if synopsis.prior is None or trust is None:
            return None
        assert isinstance(synopsis.partition, Tree)
        return cls(record=synopsis.prior, cells=quadrants_of(synopsis.partition), trust=trust)

    @property
    def name(self) -> str:
        """What the release calls it."""
        return self.record.name

    @property
    def kind(self) -> str:
        """What kind of source it is."""
        return self.record.kind

    @property
    def sha256(self) -> str:
        """Digest of its source."""
        return self.record.sha256

    @property
    def licence(self) -> str | None:
        """Licence of its source."""
        return self.record.licence

    @property
    def all_evidence(self) -> float:
        """Evidence in the whole domain."""
        assert self.record.leaves is not None
        return float(self.record.leaves.sum()) / UNIT

    def evidence(self, levels: Indices, codes: Indices) -> Floats:
        """Evidence in quadtree cells of the domain, shape (n,)."""
        first, stop = finest_runs(levels, codes)
        return (self._before(stop) - self._before(first)) / UNIT

    def _before(self, places: Indices) -> Floats:
        """Evidence before places on the curve of finest cells."""
        assert self.record.leaves is not None
        first, stop = self.cells.runs
        leaf = np.minimum(np.searchsorted(first, places, side="right") - 1, len(first) - 1)
        share = (places - first[leaf]) / (stop[leaf] - first[leaf])
        return np.asarray(self._whole[leaf] + np.floor(self.record.leaves[leaf] * share))

    @cached_property
    def _whole(self) -> Indices:
        """Evidence before each leaf."""
        assert self.record.leaves is not None
        return np.asarray(np.cumsum(self.record.leaves) - self.record.leaves)
