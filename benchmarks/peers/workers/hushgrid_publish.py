"""hushgrid, the number of points private: `hushgrid_publish.py TASK METHOD calibrated|plain`."""

import sys

from worker import Task, work

import hushgrid as hg


def release(task: Task) -> hg.Synopsis:
    """Publish. The side of the task is not used, because a noisy size decides."""
    _, _, method, intervals = sys.argv
    domain = hg.Domain(west=task.west, south=task.south, east=task.east, north=task.north)
    calibrate = intervals == "calibrated"
    return hg.publish(task.points, domain=domain, epsilon=task.epsilon, method=method, calibrate=calibrate)


if __name__ == "__main__":
    work(release, version=hg.__version__, save=lambda path, synopsis: synopsis.save(path))
