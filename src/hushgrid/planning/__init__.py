"""The planner: public figures in, expected errors out.

It rehearses releases of made-up people, and touches no data.
"""
