"""Taggers that start from frequency dictionaries, and from no annotation (paper 003, 3.6)."""
