"""Illustration of the data sets (the paper's figure of them): needs their points, and no trial."""

from experiments.suites.suite import Suite

SUITE = Suite(title="Illustration of the data sets", full=(), quick=())
