"""Records divided by slice: which slice each lies in, and copies of the points by slice.

Private: everything here sees records.
"""
