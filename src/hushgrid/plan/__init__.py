"""The planner: public figures in, expected error out. It rehearses releases of made-up people, and touches no data."""
