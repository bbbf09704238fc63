"""Counts points inside the engine that holds them.

Private side. Only the counts of cells travel; a database that cannot find areas also sends points to this process.
"""
