"""Compiled inner loops: no policy, no validation, plain arrays in and out."""
