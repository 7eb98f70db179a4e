"""Vectors of words learned from unlabeled notes, and clusters of them (paper 003, section 3.3)."""
