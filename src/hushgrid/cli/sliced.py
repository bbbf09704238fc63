"""Questions to a release in slices: to each, to some or to all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hushgrid.cli.answers import WHAT_TO_ASK, Answers, ask, ask_areas, ask_polygons, said_of
from hushgrid.cli.files import refuse_slices
from hushgrid.cli.parameters import to_slices
from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hushgrid.cli.polygons import Features
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.answer import Answer
    from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """Slices that are asked, and whether they are added up.

    Parameters
    ----------
    shown : Synopsis
        What stands for them: the one release that is asked, or the guarantee and the domain of all.
    slices : Slices, optional
        Where more than one is asked.
    names : sequence of str, optional
        Slices to add up; by default each has an answer of its own.
    """

    shown: "Synopsis"
    slices: "Slices | None" = None
    names: Sequence[str] | None = None

    @classmethod
    def of(cls, found: "Synopsis | Slices", file: Path, text: str | None, *, each: bool, whole: bool) -> "Chosen":
        """What ``--slice`` and ``--each`` choose of a file; ``--whole`` takes one slice."""
        from hushgrid.slices.slices import Slices

        if not isinstance(found, Slices):
            refuse_slices(file, text, each=each)
            return cls(shown=found)
        names = found.named(to_slices(text, found.names) or found.names)
        if len(names) == 1 and not each:
            return cls(shown=found.shown(names[0]))
        if whole:
            msg = "--whole makes whole numbers of one slice. Name it with --slice, or leave out --whole."
            raise ArgumentError(msg, instead=None if each else {"slice": names[0]})
        if each:
            return cls(shown=found.shown(), slices=found)
        return cls(shown=found.shown(), slices=found, names=names)

    def ask(self, rects: "NDArray[np.float64]", *, confidence: float) -> Answers:
        """What the slices say about rectangles."""
        if self.slices is None:
            return ask(self.shown, rects, confidence=confidence)
        answer = self.slices.answer(rects, slices=self.names, confidence=confidence)
        return self._told(answer, Answers(places=rects, **said_of(self.shown, answer, confidence)))

    def ask_polygons(self, features: "Features", *, confidence: float, area_name: str | None, whole: bool) -> Answers:
        """What the slices say about polygons."""
        import numpy as np

        if self.slices is None:
            return ask_polygons(self.shown, features, confidence=confidence, area_name=area_name, whole=whole)
        names, numbers = features.called(area_name), np.arange(len(features.features))[:, None]
        answer = self.slices.answer_polygons(features, slices=self.names, confidence=confidence)
        said = said_of(self.shown, answer, confidence)
        return self._told(answer, Answers(places=numbers, columns=("feature",), names=names, **said))

    def ask_areas(self, *, level: str | None, whole: bool, confidence: float) -> Answers:
        """What the slices say about the areas that they were counted on."""
        import numpy as np

        if self.slices is None:
            return ask_areas(self.shown, level=level, whole=whole, confidence=confidence)
        if self.shown.partition.tiles:
            raise click.UsageError(WHAT_TO_ASK)
        names, answer = self.slices.areas(level, slices=self.names, confidence=confidence)
        said = said_of(self.shown, answer, confidence)
        return self._told(answer, Answers(places=np.empty((len(names), 0)), columns=(), names=names, **said))

    def _told(self, answer: "Answer", answers: Answers) -> Answers:
        """Answers with what they are about.

        That is the sum of some slices, or a row for each.
        """
        import numpy as np

        from hushgrid.slices.slices import few

        assert self.slices is not None
        if self.names is not None:
            about = f"Counts are of {len(self.names):,} slices together: {few(self.names)}."
            return replace(answers, caveats=(about, *answers.caveats))
        slices, size = self.slices.names, len(answers.places)
        return replace(
            answers,
            places=np.concatenate([answers.places] * len(slices)),
            values={name: np.ravel(values) for name, values in vars(answer).items()},
            names=None if answers.names is None else [*answers.names] * len(slices),
            slices=[name for name in slices for _ in range(size)],
        )
