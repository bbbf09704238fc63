"""The tests; `tests.plain` holds the slow, obvious versions the fast ones are compared with."""
