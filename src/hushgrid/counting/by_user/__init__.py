"""Rows of users: told apart, divided, and hashed.

Private side.
"""
