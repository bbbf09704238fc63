"""Whether a release contradicts itself, the width of its intervals included.

`hushgrid.files.verify` looks at everything that readers of a release can compute. How wide intervals are follows
from publishing made-up points, which takes the private side; so that check is here.
"""

from pathlib import Path

import numpy as np

from hushgrid.files.verify import FileCheck, Verification, check_release
from hushgrid.inference.inferences import INFERENCES
from hushgrid.methods import METHODS
from hushgrid.methods.areas import Areas
from hushgrid.release.calibrate import calibrated
from hushgrid.slices.files import SlicedFile, open_saved
from hushgrid.slices.slices import Slices
from hushgrid.slices.verify import check_sliced, together
from hushgrid.synopsis.answer import ONE_NOISE, UNCALIBRATED, Calibration
from hushgrid.synopsis.synopsis import Synopsis

TOLERANCE = 1e-6  # relative, of factors: on another processor a point in a billion may fall to the other side of a line
CALIBRATION = "calibration"
# Of trees that counted and stopped in another way, in builds of before 0.1.0.
EARLIER_PARAMETERS = {
    "quadtree": {"height", "c"},
    "kd": {"height", "median_share", "stop_below"},
    "kd-hybrid": {"first", "switch", "height", "median_share", "stop_below"},
    "balanced": {"height", "split_share", "stop_below"},
}


def verify(path: str | Path) -> Verification:
    """Recompute what follows from the rest of a release.

    That is done in every slice. Factors of intervals come last, and only if all else is right.

    A file too damaged to be read is an error, as it is for `hushgrid.read`.

    Examples
    --------
    >>> import hushgrid as hg, tempfile
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hg.publish([[0.5, 0.5]] * 1000, domain=domain, epsilon=1, method="ug").save(f"{folder}/a.dp.parquet")
    ...     verify(f"{folder}/a.dp.parquet").checks[-1].detail
    'follows from the release'
    """
    with open_saved(Path(path)) as file:
        found: Synopsis | Slices
        if isinstance(file, SlicedFile):
            found = file.slices()
            checks = check_sliced(file, found)
        else:
            found = file.synopsis()
            checks = check_release(file, found)
    wrong = {check.name for check in checks if not check.ok}
    if wrong - {"release"}:  # an experiment is not a release, and may still be right
        return Verification(checks=checks)
    if isinstance(found, Synopsis):
        return Verification(checks=(*checks, check_calibration(found)))
    calibrations = together({name: [check_calibration(each)] for name, each in found.all_parts()})
    return Verification(checks=(*checks, *calibrations))


def check_calibration(synopsis: Synopsis) -> FileCheck:
    """Whether a release has the factors it should have."""
    known = synopsis.calibration
    if known.version is None:
        return _without_version(synopsis)
    if synopsis.method.name not in METHODS:
        detail = f"cannot be recomputed: the method {synopsis.method.name[:40]!r} is not known to hushgrid"
        return FileCheck(name=CALIBRATION, ok=True, detail=detail)
    if set(synopsis.method.parameters) == EARLIER_PARAMETERS.get(synopsis.method.name):
        detail = "cannot be recomputed: the method was another one when this was released"
        return FileCheck(name=CALIBRATION, ok=True, detail=detail)
    try:
        found = calibrated(synopsis, version=known.version).calibration
    except (ArithmeticError, TypeError, ValueError):  # whatever a method does with parameters that it never had
        return FileCheck(name=CALIBRATION, ok=False, detail="cannot be found with the parameters of the method")
    ok = _alike(found, known)
    return FileCheck(name=CALIBRATION, ok=ok, detail=f"{'follows' if ok else 'does not follow'} from the release")


def _without_version(synopsis: Synopsis) -> FileCheck:
    """Check factors that name no version.

    Nobody looked for them, they follow from the law of the noise, or they are older than versions.
    """
    known = synopsis.calibration
    if known == UNCALIBRATED:
        return FileCheck(name=CALIBRATION, ok=True, detail="none: intervals are as wide as the variances say")
    if synopsis.method.name == Areas.name and _alike(known, ONE_NOISE):
        return FileCheck(name=CALIBRATION, ok=True, detail="as the law of the noise has it")
    if INFERENCES[synopsis.inference].versioned or synopsis.method.name == Areas.name:
        return FileCheck(name=CALIBRATION, ok=False, detail="names no version, and is not as the release would have it")
    return FileCheck(name=CALIBRATION, ok=True, detail="of an older version, which cannot be recomputed")


def _alike(one: Calibration, other: Calibration) -> bool:
    return np.allclose(one.factors, other.factors, rtol=TOLERANCE, atol=0)
