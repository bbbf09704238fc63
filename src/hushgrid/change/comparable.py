"""Which releases can be compared, and why others cannot."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hushgrid.errors import ArgumentError
from hushgrid.files.paths import is_same_file
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import exact_text
from hushgrid.synopsis.synopsis import Synopsis

NEVER = 1e-6  # how often equal counts are taken for one release, though they are two


def check_comparable(before: Synopsis, after: Synopsis) -> None:
    """Refuse two releases whose counts do not mean the same, and say why."""
    for complaint in map(_complain_by(before, after), (_same_release, _domain, _unit, _bound, _scale)):
        if complaint:
            msg = f"these releases cannot be compared: {complaint}"
            raise ArgumentError(msg)


def check_same_areas(before: Synopsis, after: Synopsis) -> None:
    """Refuse releases that were not counted on the same areas."""
    on_areas = [isinstance(each.partition, AreaPartition) for each in (before, after)]
    if not all(on_areas):
        what = "one was counted on areas, the other on cells" if any(on_areas) else "they were counted on cells"
        msg = f"these releases have no areas in common: {what}. Compare them on polygons, by answer_polygons(...) or "
        msg += "--polygons FILE, or on a grid."
        raise ArgumentError(msg)
    if before.partition != after.partition:
        msg = f"these releases were counted on different areas: {_other_areas(before, after)}. Compare them on "
        msg += "polygons that you give, by answer_polygons(...) or --polygons FILE."
        raise ArgumentError(msg)


def _other_areas(before: Synopsis, after: Synopsis) -> str:
    one, other = before.partition, after.partition
    assert isinstance(one, AreaPartition)
    assert isinstance(other, AreaPartition)
    if one.level_names != other.level_names:
        return f"of levels {', '.join(one.level_names)}, and of levels {', '.join(other.level_names)}"
    if set(one.names) != set(other.names):
        return "their names differ"
    return "their names are the same, but not their outlines or their order"


Complaint = Callable[[Synopsis, Synopsis], str]


def _complain_by(before: Synopsis, after: Synopsis) -> Callable[[Complaint], str]:
    return lambda complaint: complaint(before, after)


def _same_release(before: Synopsis, after: Synopsis) -> str:
    equal = before.partition == after.partition and np.array_equal(before.counts, after.counts)
    same = before is after or (equal and _chance_of_equal_noise(before) < NEVER)
    return "they are one and the same, noise included." if same else ""


def _chance_of_equal_noise(synopsis: Synopsis) -> float:
    """At most how often the same counts come out of new noise.

    Two discrete Laplace noises of variance v are equal with a probability of at most 1 / sqrt(1 + 4 v).
    """
    variances = synopsis.variances / synopsis.factor**2
    return math.exp(-np.log1p(4 * variances).sum() / 2)


def check_two_files(before: Path, after: Path) -> None:
    """Refuse one file under two names."""
    if is_same_file(before, after):
        msg = f"these releases cannot be compared: {before} and {after} are one and the same file."
        raise ArgumentError(msg)


def _domain(before: Synopsis, after: Synopsis) -> str:
    one, other = before.domain, after.domain
    if one.crs != other.crs and not (one.is_geographic and other.is_geographic):
        return f"their coordinates differ, {one.crs} and {other.crs}."
    if one.bounds != other.bounds:
        return f"their domains differ, {exact_text(one.bounds)} and {exact_text(other.bounds)}."
    return ""


def _unit(before: Synopsis, after: Synopsis) -> str:
    one, other = before.claim, after.claim
    if one.unit != other.unit:
        return f"the first protects each {one.unit}, the second each {other.unit}."
    if one.distinct != other.distinct:
        return f"the first counts {one.counted}, the second {other.counted}."
    return ""


def _bound(before: Synopsis, after: Synopsis) -> str:
    one, other = before.claim.max_per_unit, after.claim.max_per_unit
    what = "cells" if before.claim.distinct else "records"
    return f"the first kept at most {one:,} {what} of each user, the second {other:,}." if one != other else ""


def _scale(before: Synopsis, after: Synopsis) -> str:
    one, other = before.scale, after.scale
    if any(scale is not None and scale.all_records is not None for scale in (one, other)):
        return "counts of all records have errors that go together. Compare releases of kept records."
    if (one is None) != (other is None):
        kept, scaled = ("first", "second") if one is None else ("second", "first")
        return f"the {kept} has counts of kept records, those of the {scaled} are scaled to a total."
    if one is not None and other is not None and (one.source, one.cap) != (other.source, other.cap):
        return "their counts are scaled to totals of different kinds."
    return ""
