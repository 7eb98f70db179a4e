"""Compiled functions and hashing."""
