"""The page of a series, and what the server says of one."""
