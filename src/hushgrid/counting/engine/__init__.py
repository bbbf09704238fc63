"""Counts points inside the engine that holds them.

Private side. Only the counts of cells travel.
"""
