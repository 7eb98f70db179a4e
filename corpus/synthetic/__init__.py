"""Synthetic clinical notes in Spanish and Catalan, with gold spans: no real text is in them."""

from corpus.synthetic.notes import synthetic_notes

__all__ = ["synthetic_notes"]
