"""Differentially private synopses of geospatial points."""

__version__ = "0.1.0"
