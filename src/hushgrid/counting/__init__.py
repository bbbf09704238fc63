"""Exact counts of points on disjoint cells.

Private side: everything here can see points, and says nothing about them.
"""
