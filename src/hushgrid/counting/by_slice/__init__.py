"""Records divided by slice: which one each lies in, and copies.

Private: everything here sees records.
"""
