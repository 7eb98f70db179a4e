"""Taggers built from frequency dictionaries, without annotation (paper 003, section 3.6)."""
